"""
Skew of keys over billions of rows: one aggregate by key, then sums per partition.

Imports `planner.keys`, whose figures it computes, and Spark's readers.
"""
