"""
The plan folder: files for Kafka's tools, moves.csv and the runbook.

Imports `documents`, `waves` and `planner.kafka_files`.
"""
