"""
Waves of a plan as files and documents, with their throttles.

Imports `planner.kafka_files`, `planner.options` and `planner.text`.
"""
