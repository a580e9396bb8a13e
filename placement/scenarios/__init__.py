"""
Outcomes of scenarios: a changed cluster planned and compared with the present one.

Imports `scenarios.changes`, `planning`, `failures`, `score` and `sizing.demand`.
"""
