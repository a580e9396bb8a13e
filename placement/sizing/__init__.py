"""
Cluster size: the brokers that a load needs, and the days that present ones last.

Imports `sizing.demand`, `scenarios`, `planning` and `failures`.
"""
