"""
Inner loops of the local search: plain arrays in and out, compiled for large problems.

Imports `core.model` and `core.search.tables`. Every module here is part of the stamp
that invalidates cached compiled code.
"""
