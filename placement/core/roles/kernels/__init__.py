"""
Compiled inner loops of the role assignment.

Imports `core.search.kernels.jit` alone.
"""
