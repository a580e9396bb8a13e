"""
Inner loops of the local search: plain arrays in and out, compiled for large problems.

Imports `core.model` and `core.search.tables`; every module here is part of the stamp
by which compiled code goes stale.
"""
