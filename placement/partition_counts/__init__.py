"""
Partition counts: how many partitions a topic needs, and topics with a bad count.

Imports `placement.model` alone.
"""
