"""
Java's hash codes and random numbers, bit for bit, as Kafka's placement uses them.

Imports nothing.
"""
