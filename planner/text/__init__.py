"""
Quantities in words and as numbers of documents.

Imports `placement` alone.
"""
