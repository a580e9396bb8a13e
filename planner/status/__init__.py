"""
Current troubles of a cluster, as sentences and as a document, with commands that help.

Imports `planner.snapshot`, `plan.kafka_files`, `planner.text` and `placement.status`.
"""
