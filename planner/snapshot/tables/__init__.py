"""
Tables of a snapshot: columns, rows, records, and where a problem is.

Imports `planner.errors` alone.
"""
