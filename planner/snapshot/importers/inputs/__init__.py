"""
Foreign bytes as text, CSV, JSON and YAML, and what one source says.

Imports `planner.pasted_text`, `snapshot.tables` and `snapshot.formats`.
"""
