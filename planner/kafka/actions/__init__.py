"""
Requests that change a running cluster: topics, partitions and leader elections.

Imports `client`, `read` and `planner.kafka_files`.
"""
