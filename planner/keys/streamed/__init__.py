"""
Skew of samples whose keys do not fit into memory: sums, and sketches of bounded size.

Imports `planner.keys`, whose figures it computes.
"""
