"""
Checks of waves: capacity, networks, log dirs and throttles while they run.

Imports `check.case`, `check.rules` and `model.cluster`.
"""
