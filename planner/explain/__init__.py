"""
Reasons of each move of a plan, in words: the command `explain`.

Imports `planner.plan.folder`, `planner.kafka_files` and `placement.explain`.
"""
