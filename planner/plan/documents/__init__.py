"""
The documents of a plan: plan.json, its parts and records, fingerprints and figures.

Imports `waves`, `planner.kafka_files` and `planner.text`.
"""
