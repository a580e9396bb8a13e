"""
Choice of role holders at fixed places: counts, shares, loads and their bounds.

Imports `core.model`, `core.verify`, `core.flow` and the compiler of
`core.search.kernels`.
"""
