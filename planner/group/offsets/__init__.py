"""
Offsets of a group: requested, computed, tabulated and exported.

Imports `planner.group`.
"""
