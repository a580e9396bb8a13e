"""
Partial sums of the partitions of snapshots: by place, by topic, by problem.

Imports `scoring.kernels` and `common`; nothing of Spark.
"""
