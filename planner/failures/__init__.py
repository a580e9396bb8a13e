"""
Failures of a snapshot: one scenario in stages, or all of them at once.

Imports `planner.snapshot`, `planner.options`, `planner.status` and `planner.text`.
"""
