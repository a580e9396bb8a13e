"""
Reassignment and election files, as Kafka's own tools read and print them.

Imports `planner.errors` and `planner.snapshot.tables.snapshot_problems`.
"""
