"""
Outcomes of scenarios: plans for a changed cluster, and their figures.

Imports `scenarios.changes`, `planning`, `failures`, `score` and `sizing.demand`.
"""
