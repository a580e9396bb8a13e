"""
Rows that travel through a shuffle: partial sums and small tables packed in columns.

Imports `scoring.sums`, `common` and `io`.
"""
