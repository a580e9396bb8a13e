"""
Hard rules of the checker, each written again in its own way.

Imports `check.case` and `model.cluster`.
"""
