"""
Map side: tasks that read partitions and add them up.

Imports `scoring.broadcast`, `scoring.shuffle`, `scoring.sums`, `common` and `io`.
"""
