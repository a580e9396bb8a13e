"""
Hard goals of the checker: bands of brokers and of log dirs.

Imports `check.case`, `check.rules` and `model.cluster`.
"""
