"""
Foreign bytes as text, CSV, JSON and YAML, and the contents of one source.

Imports `planner.pasted_text`, `snapshot.tables` and `snapshot.formats`.
"""
