"""
Local search in stages, its minimax stage, and the choice of compiled kernels.

Imports `core.model` and `core.bounds`.
"""
