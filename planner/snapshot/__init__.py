"""The snapshot format: JSON, gzip JSON or a folder of Parquet, and the model from it."""
