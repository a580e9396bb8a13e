"""
Tables broadcast to every task: brokers, log dirs and topic settings.

Imports `scoring.shuffle`, `per_snapshot`, `common` and `io`.
"""
