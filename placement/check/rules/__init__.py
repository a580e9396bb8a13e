"""
Hard rules of the checker, each implemented a second time.

Imports `check.case` and `model.cluster`.
"""
