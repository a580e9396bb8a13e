"""
Demand of a load on any brokers that carry it, and its growth.

Imports `model`, `failures` and `score`.
"""
