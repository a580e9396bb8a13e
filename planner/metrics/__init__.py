"""
Metrics for Prometheus: one list of them, their samples, and their text.

Imports `planner.io`. The list reads the documents of `score` and the rows of
`fleet overview`, and computes no figure of its own.
"""
