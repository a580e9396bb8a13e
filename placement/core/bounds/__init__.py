"""
Lower bounds from covers and from sets of bins, and proofs of infeasibility.

Imports `core.model` and `core.verify`.
"""
