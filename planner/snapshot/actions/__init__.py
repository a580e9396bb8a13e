"""
Snapshots made from others: anonymised, with a plan applied or started, summarised.

Imports all of `planner.snapshot` but `importers`.
"""
