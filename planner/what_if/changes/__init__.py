"""
Changes of a scenario: their records, names and effects on the model.

Imports `placement.scenarios.changes`, `planner.text` and `planner.snapshot`.
"""
