"""
The documents of a plan: plan.json, its parts and records, fingerprints and figures.

Imports `waves`, `kafka_files` and `planner.text`.
"""
