"""
Feasibility of the hard rules alone: least excess, caps on moves, infeasible subsystem.

Imports `core.solve`, `core.solve_hard_rules`, `core.presolve`, `core.bounds` and
`core.exact`.
"""
