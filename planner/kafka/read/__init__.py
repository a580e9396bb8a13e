"""
A running cluster as a snapshot: metadata, log dirs, produce rates, authorization gaps.

Imports `client`, and the document of `planner.snapshot`.
"""
