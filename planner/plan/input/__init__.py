"""
Plans read back: a plan folder, its waves, and the rules for checking them.

Imports `documents`, `waves`, `planner.io`, `planner.kafka_files` and `planner.options`.
"""
