"""
Reasons of each move of a plan, in words: the command `explain`.

Imports `planner.plan.folder`, `plan.kafka_files` and `placement.explain`.
"""
