"""
Properties of a Java client: their syntax, SASL, TLS and key stores.

Imports nothing else of `planner.kafka`.
"""
