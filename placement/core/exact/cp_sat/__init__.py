"""
Constraint models of hard rules, bands and roles (OR-Tools CP-SAT).

Imports `core.model`, `core.bounds`, `core.exact` and `core.exact.milp`.
"""
