"""
Tables of a snapshot: columns, rows, records, and places of problems.

Imports `planner.errors` and `planner.io` alone.
"""
