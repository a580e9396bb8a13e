"""
Verifiers of witnesses in exact integers, one module per kind of witness.

Imports `core.model.problem` alone and no code that finds bounds.
"""
