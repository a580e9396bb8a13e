"""
Scores of a whole fleet: partial sums at the map side, scores at the reduce side.

Imports `common`, `io`, `per_snapshot` and the folders below.
"""
