"""
Failures of a snapshot: one scenario in stages, or every single and paired failure.

Imports `planner.snapshot`, `planner.options`, `planner.status` and `planner.text`.
"""
