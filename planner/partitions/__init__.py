"""
Partition counts: how many partitions a topic needs, and which topics have a bad count.

Imports `placement.partition_counts`, `planner.score`, `planner.snapshot` and
`planner.text`.
"""
