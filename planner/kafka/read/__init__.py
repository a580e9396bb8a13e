"""
Snapshot of a running cluster: metadata, log dirs, produce rates, authorization gaps.

Imports `client`, and the document of `planner.snapshot`.
"""
