"""
Decomposition by node: an integer program and an exchange search for each node.

Imports `core.exact.linear`, `core.exact.milp` and `core.exact.cp_sat`.
"""
