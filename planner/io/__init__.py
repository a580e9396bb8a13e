"""
Files, JSON text, TOML records, deferred interrupts, problems of inputs.

Imports `planner.errors` and `planner.text`.
"""
