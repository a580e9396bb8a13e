"""
Reasons for each move of a plan, in sentences: the command `explain`.

Imports `planner.plan.folder`, `planner.kafka_files` and `placement.explain`.
"""
