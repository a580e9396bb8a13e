"""
Keys of a topic's records: samples, skew over partitions, and what growing moves.

Imports `assignment.partitioners`, and files through `planner.io`.
"""
