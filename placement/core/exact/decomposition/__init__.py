"""
Decomposition by node: one integer program and one exchange search per node.

Imports `core.exact.linear`, `core.exact.milp` and `core.exact.cp_sat`.
"""
