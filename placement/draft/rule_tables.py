"""Tables that rules hand to the core: who may go where, and columns of their own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.model.cluster import BoolArray, IndexArray, RateArray
from placement.model.load import WeightArray

ClassArray = npt.NDArray[np.int64]
MOST_CELLS = 20_000_000
"""Classes of partitions times brokers up to which a table says who may go where."""


@dataclass(frozen=True, slots=True, eq=False)
class Eligibility:
    """
    Which brokers may get replicas of which partitions.

    Parameters
    ----------
    partition_class
        ``(P,)`` row of `allowed`.
    allowed
        ``(C, B)`` brokers that partitions of the class may go to.
    name
        Of the rule, where moves are explained by it.
    """

    partition_class: ClassArray
    allowed: BoolArray
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SoftColumn:
    """
    A load besides the six resources, with a band of its own.

    Parameters
    ----------
    name
        For messages.
    weight, role_weight
        ``(P,)`` what each replica adds to its broker, and the leader besides.
    lower, upper
        ``(B,)`` the band. Soft.
    unit
        ``(B,)`` in which distances from it are measured; 0: no band.
    capacity
        ``(B,)`` hard; `None`: none.
    """

    name: str
    weight: WeightArray
    role_weight: WeightArray
    lower: WeightArray
    upper: WeightArray
    unit: RateArray
    capacity: WeightArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ClassTables:
    """The same for the core: classes of groups and of bins, and who may go where."""

    group_class: IndexArray
    bin_class: IndexArray
    is_eligible: BoolArray


def class_tables(
    rules: Sequence[Eligibility], num_partitions: int, num_brokers: int
) -> ClassTables:
    """
    Join what several rules allow: a broker must be allowed by each of them.

    Parameters
    ----------
    rules
        Of each rule.
    num_partitions, num_brokers
        Of the cluster.
    """
    if not rules:
        return ClassTables(
            group_class=np.zeros(num_partitions, dtype=np.int32),
            bin_class=np.zeros(num_brokers, dtype=np.int32),
            is_eligible=np.ones((1, 1), dtype=np.bool_),
        )
    keys = np.stack([rule.partition_class for rule in rules], axis=1)
    kinds, group_class = np.unique(keys, axis=0, return_inverse=True)
    allowed = np.ones((max(len(kinds), 1), num_brokers), dtype=np.bool_)
    for position, rule in enumerate(rules):
        if len(kinds):
            allowed &= rule.allowed[kinds[:, position]]
    columns, bin_class = np.unique(allowed, axis=1, return_inverse=True)
    return ClassTables(
        group_class=group_class.reshape(-1).astype(np.int32),
        bin_class=bin_class.reshape(-1).astype(np.int32),
        is_eligible=np.ascontiguousarray(columns),
    )
