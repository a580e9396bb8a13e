"""
State and rules of a simulated cluster: partitions, brokers, configs and transfers.

Imports `placement.model`, `planner.snapshot` and the types of `planner.kafka`; knows no
requests and no faults.
"""
