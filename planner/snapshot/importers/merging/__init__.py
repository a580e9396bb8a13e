"""
Several sources merged into one snapshot, and rejected if they disagree.

Imports `importers.inputs`.
"""
