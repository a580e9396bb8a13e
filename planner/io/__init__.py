"""
Input and output: JSON, TOML records, problems of inputs, deferred interrupts.

Imports `planner.errors` and `planner.text`.
"""
