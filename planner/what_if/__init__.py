"""
Scenarios from a file: planned, measured and compared with today.

Imports `planner.plan`, `planner.options`, `planner.snapshot` and `placement.scenarios`.
"""
