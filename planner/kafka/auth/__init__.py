"""
Properties of a Java client: syntax, SASL, TLS and key stores.

Imports nothing else of `planner.kafka`.
"""
