"""
Skew and growth of keys from Python.

Imports `planner.keys`, charts, and the tables and errors of `planner.api`.
"""

from planner.api.keys.key_results import AnySample, KeysResult, keys_grow, keys_skew

__all__ = ["AnySample", "KeysResult", "keys_grow", "keys_skew"]
