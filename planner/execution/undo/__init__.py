"""
Ways back from a run: what is under way is cancelled, what was moved comes back.

Imports `planner.execution`, `planner.plan` and `placement.waves`; knows no
screen and no command line.
"""
