"""
Runs of plans: requests to a cluster, their journal, throttles, and what is watched.

Imports `planner.execution` and `planner.kafka`; knows no screen and no command line.
"""
