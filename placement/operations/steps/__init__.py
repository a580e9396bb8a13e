"""
Steps of several operations: emptied brokers, broker successors, replication factors.

Imports `model`, `draft`, `rules` and core types.
"""
