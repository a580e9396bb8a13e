"""
Quantities, ages and suggestions in words, units, and numbers of documents.

Imports nothing of `planner`.
"""
