"""
Cells, problem rows, task packing and worker processes that every job on Spark shares.

Imports nothing else of `planner.spark`.
"""
