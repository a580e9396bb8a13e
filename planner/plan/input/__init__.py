"""
Plans read back: a plan folder, its waves, and the rules it is held to.

Imports `documents`, `waves`, `kafka_files` and `planner.options`.
"""
