"""
Planning of one operation on one cluster, or of new partitions, and its check.

Imports all of `planner.plan` but `screen`.
"""
