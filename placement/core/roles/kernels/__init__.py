"""
Compiled inner loops of the choice of role holders.

Imports `core.search.kernels.jit` alone.
"""
