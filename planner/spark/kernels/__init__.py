"""Partitions added up in one pass, as plain Python or as machine code."""
