"""
Current troubles of a cluster, as sentences and as a document, with commands that help.

Imports `planner.snapshot`, `planner.kafka_files`, `planner.text`, `placement.status`.
"""
