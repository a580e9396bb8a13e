"""
Map side: tasks that read partitions and sum them.

Imports `scoring.broadcast`, `scoring.shuffle`, `scoring.sums`, `common` and `io`.
"""
