"""
Trouble of a cluster now, in words and as a document, and the commands that help.

Imports `planner.snapshot`, `planner.kafka_files`, `planner.text`, `placement.status`.
"""
