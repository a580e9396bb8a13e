"""
Snapshots made of others: anonymised, with a plan applied or started, summed up.

Imports all of `planner.snapshot` but `importers`.
"""
