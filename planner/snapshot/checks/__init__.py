"""
Consistency of a snapshot: brokers, partitions, and both together.

Imports `snapshot.tables`.
"""
