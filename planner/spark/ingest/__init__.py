"""
Ingestion of raw dumps into a fleet, as files or as tables of a catalog.

Imports `output`, `scoring`, `common` and `io`.
"""
