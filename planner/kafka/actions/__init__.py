"""
Requests that change a running cluster: topics and partitions made, leaders elected.

Imports `client` and `read`.
"""
