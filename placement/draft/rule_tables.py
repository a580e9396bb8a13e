"""Tables that rules pass to the core: eligible brokers, and columns of their own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray, RateArray
from placement.model.cluster import ClusterState
from placement.model.load import WeightArray, add_to

MOST_CELLS = 20_000_000
"""Maximum number of cells, classes of partitions times brokers, of such a table."""


@dataclass(frozen=True, slots=True, eq=False)
class Eligibility:
    """
    Eligible brokers of each partition.

    Parameters
    ----------
    partition_class
        ``(P,)`` row of `allowed`.
    allowed
        ``(C, B)`` true for brokers that may receive partitions of the class.
    name
        Name of the rule, for the explanation of moves; empty if it explains none.
    """

    partition_class: IntArray
    allowed: BoolArray
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SoftColumn:
    """
    A load besides the six resources, with a band of its own.

    Parameters
    ----------
    name
        Name of the column, for messages.
    weight, role_weight
        ``(P,)`` load of each replica on its broker, and additional load of the leader.
    lower, upper
        ``(B,)`` ends of the band. Soft.
    unit
        ``(B,)`` unit of distances from the band; 0 for brokers without a band.
    capacity
        ``(B,)`` hard limit of the load; `None` if there is no limit.
    what
        The load in words that follow an amount, for messages on the limit.
    """

    name: str
    weight: WeightArray
    role_weight: WeightArray
    lower: WeightArray
    upper: WeightArray
    unit: RateArray
    capacity: WeightArray | None = None
    what: str = "of a rule on request"

    def loads(self, state: ClusterState) -> WeightArray:
        """Return the ``(B,)`` load of each broker."""
        replicas, leader = state.replicas, state.partitions.leader_idx
        load = np.zeros(state.num_brokers, dtype=np.int64)
        add_to(load, replicas.broker_idx, self.weight[replicas.partition_idx])
        led = leader >= 0
        add_to(load, leader[led], self.role_weight[led])
        return load

    def only(self, partitions: BoolArray) -> Self:
        """Return the same column of the ``(P,)`` chosen partitions alone."""
        return replace(
            self,
            weight=np.where(partitions, self.weight, 0),
            role_weight=np.where(partitions, self.role_weight, 0),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ClassTables:
    """Eligibility for the core: classes of groups and of bins, and their pairs."""

    group_class: IndexArray
    bin_class: IndexArray
    is_eligible: BoolArray


def class_tables(
    rules: Sequence[Eligibility], num_partitions: int, num_brokers: int
) -> ClassTables:
    """
    Join the eligibility tables of rules: a broker must be eligible in each of them.

    Parameters
    ----------
    rules
        Table of each rule.
    num_partitions, num_brokers
        Number of partitions and brokers of the cluster.
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
