"""
Plan one operation on one cluster, or new partitions, and check the result.

Imports all of `planner.plan` but `screen`.
"""
