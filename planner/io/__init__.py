"""
Files: JSON text, TOML records, moments in which an interrupt waits, folded problems.

Imports `planner.errors` and the problems of `planner.snapshot.tables`.
"""
