"""
Plans: run, written to folders, read back and shown.

Imports `planner.options`, `planner.text` and `planner.snapshot`; each folder says more.
"""
