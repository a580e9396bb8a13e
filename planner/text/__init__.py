"""
Quantities, ages and suggestions in words, units, and numbers of documents.

Imports `placement` and `planner.errors` alone.
"""
