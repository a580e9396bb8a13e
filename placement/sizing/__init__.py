"""
Cluster size: how many brokers a load needs, and how long the present ones last.

Imports `sizing.demand`, `scenarios`, `planning` and `failures`.
"""
