"""
Several sources as one snapshot: joined, judged, and refused where they disagree.

Imports `importers.inputs`.
"""
