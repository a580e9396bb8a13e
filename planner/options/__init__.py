"""
Options of plans and rules, read one by one for one cluster, every problem kept.

Imports `planner.errors`, `planner.text`, `plan.kafka_files` and the limits of
`plan.waves`.
"""
