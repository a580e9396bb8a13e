"""
What-if: scenarios from a file, planned and weighed side by side.

Imports `planner.plan`, `planner.options`, `planner.snapshot` and `placement.scenarios`.
"""
