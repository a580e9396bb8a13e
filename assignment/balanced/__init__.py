"""
Balanced assignor, which minimises the imbalance and then the number of moves.

Imports `assignment`'s group, outcome and certificate, and `placement.core`.
"""
