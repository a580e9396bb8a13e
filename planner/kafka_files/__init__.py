"""
Reassignment and election files of Kafka's own tools, and requests for partitions.

Imports `placement.model`, `planner.io`, `planner.text` and `planner.errors`.
"""
