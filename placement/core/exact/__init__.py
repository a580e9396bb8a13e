"""
Exact methods: linear relaxations, MILP, CP-SAT and decomposition by node.

Scaling, work limits and separable levels, which all of them share, belong here. Imports
`core.model`, `core.verify` and `core.bounds`; of its folders `improvement` may import
`decomposition`, that `cp_sat`, that `milp`.
"""
