"""
Seeded clusters for tests, examples and benchmarks.

Imports `model`, `draft`, `operations` and `planning`.
"""

from placement.synthetic.cluster_sizes import SIZES, Size
from placement.synthetic.drawn_partitions import most_of_a_share
from placement.synthetic.instances import FAMILIES, Instance, make_instance

__all__ = [
    "FAMILIES",
    "SIZES",
    "Instance",
    "Size",
    "make_instance",
    "most_of_a_share",
]
