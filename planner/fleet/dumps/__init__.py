"""
Raw dumps of clusters: found, told apart, read, and what is refused of them.

Imports `planner.fleet` and `planner.snapshot.importers`.
"""
