"""
The cluster as columns: loads, targets, fair shares, copies and reassignments.

Imports `placement.errors` alone.
"""
