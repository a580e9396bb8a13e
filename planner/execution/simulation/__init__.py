"""
A simulated cluster on virtual time: requests, faults, and Kafka's rules.

Imports `planner.execution.cluster`, `placement.model`, `planner.kafka` and
`planner.snapshot`; knows no plan and no run.
"""
