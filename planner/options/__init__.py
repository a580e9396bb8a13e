"""
Options of plans and rules, parsed one by one for a cluster; every problem is kept.

Imports `planner.errors`, `planner.text`, `planner.kafka_files` and the limits of
`plan.waves`.
"""
