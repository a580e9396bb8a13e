"""
Plans of new topics and of more partitions.

Imports `planning`, `planning.infeasibility`, `placers` and `cluster_changes`.
"""
