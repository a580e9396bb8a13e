"""
Compiled inner loops of the count flows.

Imports `core.search.kernels.jit` and the array type of `core.search.kernels.state`.
"""
