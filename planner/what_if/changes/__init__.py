"""
Changes of a scenario: their records, names and effects on the model.

Imports `planner.keys`, `planner.options`, `planner.text` and `planner.snapshot.tables`.
"""
