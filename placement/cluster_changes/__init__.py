"""
Changes of a cluster before any plan: its hardware, load, topics and partitions.

Imports `model` and `failures`.
"""
