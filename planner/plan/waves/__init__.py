"""
Waves of a plan as files and documents, with their throttles.

Imports `kafka_files` and `planner.text`.
"""
