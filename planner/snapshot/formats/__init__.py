"""
Formats of snapshot files, cast to the columns of the tables.

Imports `snapshot.tables` and `planner.io`.
"""
