"""
Text for people: quantities, units, ages and suggestions; numbers in documents.

Imports nothing of `planner`.
"""
