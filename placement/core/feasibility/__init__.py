"""
Feasibility of the hard rules alone: least excess, caps on moves, infeasible subsystem.

Stands on `core.solve`, `core.presolve` and `core.exact`.
"""
