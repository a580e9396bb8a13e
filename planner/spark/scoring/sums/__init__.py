"""
Partial sums of the partitions of one snapshot: by place, by topic, by problem.

Imports `scoring.kernels` and `common`; nothing of Spark.
"""
