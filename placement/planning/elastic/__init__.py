"""
Soft rules and hard goals: plans that come as near as can be, or are refused.

Imports `model`, `draft`, `rules`, `log_dirs` and `leadership`.
"""
