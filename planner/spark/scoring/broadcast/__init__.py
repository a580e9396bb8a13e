"""
Tables that every task must know, broadcast: brokers, log dirs and topic settings.

Imports `scoring.shuffle`, `per_snapshot`, `common` and `io`.
"""
