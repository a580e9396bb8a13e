"""
Groups of a running cluster: members, offsets and lags.

Imports `client`, `read` and `consumer`, and the documents of `planner.group`.
"""
