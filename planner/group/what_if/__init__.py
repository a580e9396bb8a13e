"""
Events played on a group: the file, the runs and their screen.

Imports `planner.group`.
"""
