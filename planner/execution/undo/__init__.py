"""
Ways back from a run: what is under way is cancelled, what was moved comes back.

Imports `planner.execution.run`; knows no screen and no command line.
"""
