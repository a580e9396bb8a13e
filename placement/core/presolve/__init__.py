"""
Reductions of a problem before it is solved: symmetry, aggregation, fixing, bin parts.

Imports `core.model` and `core.bounds`.
"""
