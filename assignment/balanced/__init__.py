"""
The balanced assignor: as even as can be, then with as few moves as can be.

Imports `assignment`'s group, outcome and certificate, and `placement.core`.
"""
