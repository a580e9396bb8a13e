"""
Input and output: JSON text, TOML records, deferred interrupts, folded problems.

Imports `planner.errors` and the problems of `planner.snapshot.tables`.
"""
