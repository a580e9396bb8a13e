"""
Reassignment and election files, as Kafka's own tools read and print them.

Imports `placement.model`, `planner.io`, `planner.text` and `planner.errors`.
"""
