"""
Cluster size: the brokers that a load needs, and the days that present ones last.

Imports `demand`, `cluster_changes`, `scenarios`, `planning` and `failures`.
"""
