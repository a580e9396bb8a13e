"""
Transport problems and equitable flows, solved exactly as min-cost flows.

Imports `core.model`, `core.verify`, `core.bounds` and `core.presolve`.
"""
