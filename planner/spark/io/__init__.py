"""
Tables of a fleet: opened from files or a catalog, pinned, selected, and read.

Imports `common`.
"""
