"""
Reduce side: scores and problems of a snapshot from all its partial sums.

Imports `scoring.map_side` and what that imports.
"""
