"""
Skew and growth of keys from Python.

Imports `planner.keys`, charts, and the tables and errors of `planner.api`; for a live
topic `planner.kafka.samples`, with a session of Spark `planner.spark.keys`.
"""

from planner.api.keys.key_results import KeysResult, keys_grow, keys_skew
from planner.api.keys.sample_sources import AnySample

__all__ = ["AnySample", "KeysResult", "keys_grow", "keys_skew"]
