"""
Infeasible plans: an irreducible set of hard rules, and remedies.

Imports `planning` and `scenarios.changes`.
"""
