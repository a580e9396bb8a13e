"""
Fleets: the tables of many snapshots in one folder; nothing here needs Spark.

Imports `planner.snapshot`, `planner.plan`, `planner.what_if` and `planner.score`.
"""
