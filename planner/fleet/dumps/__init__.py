"""
Raw dumps of clusters: discovery, detection of file kinds, reading, and rejects.

Imports `planner.fleet` and `planner.snapshot.importers`.
"""
