"""
Clusters as a run sees them: the protocol, the real one, and a simulated one.

Imports `planner.kafka` and `planner.snapshot`.
"""
