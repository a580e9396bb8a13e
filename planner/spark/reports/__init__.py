"""
Reports on a fleet: plans, changes, trends and the overview.

Imports `output`, `per_snapshot`, `common` and `io`.
"""
