"""
Admin client: addresses, connections, time limits, retries and reasons of failures.

Imports `auth` and `planner.io`.
"""
