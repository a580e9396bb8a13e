"""
Cruise Control's files and the answers of its REST interface.

Imports `importers.inputs`.
"""
