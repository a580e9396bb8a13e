"""
Sizing: the number of brokers that a cluster needs, and the time until they are full.

Imports `planner.what_if`, `planner.snapshot`, `planner.kafka_files` and
`placement.sizing`.
"""
