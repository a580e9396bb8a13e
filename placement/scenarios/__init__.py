"""
Outcomes of scenarios: plans for a changed cluster, and their figures.

Imports `cluster_changes`, `planning`, `failures`, `score` and `demand`.
"""
