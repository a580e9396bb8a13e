"""
Steps shared by operations: evacuation, broker successors, replication factors.

Imports `model`, `draft`, `rules` and core types.
"""
