"""
Infeasible plans: irreducible sets of conflicting hard rules, and remedies.

Imports `planning` and `cluster_changes`.
"""
