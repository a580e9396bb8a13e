"""
Partitioners of Kafka's producers and of other clients, a module per family.

A partitioner decides the partition of a record that names none: by its key if it has
one, else by a rule for records without keys. Imports `placement.array_types` and the
compiler of `placement.core.search.kernels`.
"""

from assignment.partitioners.partitioner import Partitioner, place_records
from assignment.partitioners.registry import NAMES, find_partitioner

__all__ = ["NAMES", "Partitioner", "find_partitioner", "place_records"]
