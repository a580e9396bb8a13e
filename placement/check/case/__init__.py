"""
The plan under check: target, settings, replicas and loads, computed from the formulas.

Imports `model.cluster` alone.
"""
