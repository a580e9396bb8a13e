"""
Decomposition by node: each node is solved alone, then roles are assigned to all.

Imports `core.exact.one_node` and `core.exact.cp_sat`.
"""
