"""
Soft rules, relaxed if necessary, and hard goals, which every plan has to meet.

Imports `model`, `draft`, `rules`, `log_dirs` and `leadership`.
"""
