"""
Changes of a cluster in a scenario, before any plan.

Imports `model` and `failures`.
"""
