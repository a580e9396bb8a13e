"""
Java's hash codes and random numbers, bit for bit, as Kafka's placement depends on them.

Imports nothing.
"""
