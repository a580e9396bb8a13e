"""
Proven lower bounds by covering and by sets of bins, and proofs of infeasibility.

Imports `core.model` and `core.verify`.
"""
