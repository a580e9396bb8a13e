"""
Log dirs inside brokers: the problem of one broker, its plan, its soft and hard rules.

Imports `model`, `draft`, `rules` and the core.
"""
