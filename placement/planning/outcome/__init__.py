"""
Outcome of planning: the planned placement, its notes and the violations it found.

Imports `model`, `draft`, `rules`, `log_dirs` and `leadership`.
"""
