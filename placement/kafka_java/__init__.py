"""
Java's hash codes, orders and random numbers, bit for bit, as Kafka depends on them.

Imports nothing.
"""
