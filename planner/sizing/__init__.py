"""
Sizing: how many brokers a cluster needs, and how long the present ones last.

Imports `planner.what_if`, `planner.snapshot`, `planner.kafka_files` and
`placement.sizing`.
"""
