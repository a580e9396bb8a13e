"""
Reductions of a problem before the solve: symmetry, aggregation, fixing, bin parts.

Imports `core.model` and `core.bounds`.
"""
