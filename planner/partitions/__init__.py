"""
Partition counts: how many partitions a topic needs, and which topics have a bad count.

Imports `placement.partition_counts`, `planner.snapshot`, `planner.what_if` and
`planner.text`.
"""
