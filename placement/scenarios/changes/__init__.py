"""
Changes that a scenario makes to a cluster before any plan.

Imports `model` and `failures`.
"""
