"""
Result tables: destinations, merged rows, and rows of earlier runs that are kept.

Imports `scoring`, `per_snapshot`, `common` and `io`.
"""
