"""
Search for the cheapest places in one node: exchanges, enumeration, branch and cut.

`node_search` applies the methods in turn. Imports `core.exact.linear`,
`core.exact.milp` and `core.exact.cp_sat`.
"""
