"""
Work on whole snapshots: one task for each, the largest first.

Imports `common`, `io` and `scoring.shuffle`.
"""
