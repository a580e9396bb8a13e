"""
Linear relaxations: columns, Lagrangian prices, MIR cuts, branch and bound, rounding.

Imports `core.model`, `core.bounds` and `core.verify`.
"""
