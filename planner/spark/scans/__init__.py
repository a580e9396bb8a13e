"""
Tables that are plain scans of Parquet files, and their files, decoded without Spark.

Imports `common` and `io`.
"""
