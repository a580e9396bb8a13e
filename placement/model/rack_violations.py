"""Violations of the rack rule, and compact lists of broker ids."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IntArray
from placement.model.cluster import ClusterState
from placement.model.targets import rack_limit

MOST_COUNTED = 20_000_000
"""Maximum number of cells, partitions times racks, that are counted at once."""


def rack_broken(state: ClusterState, holds: BoolArray) -> BoolArray:
    """
    Return ``(P,)`` true for partitions that break the rack rule.

    A partition being reassigned is judged by its target list.

    Parameters
    ----------
    state
        The cluster.
    holds
        ``(B,)`` brokers that count; replicas on other brokers are ignored.
    """
    racks, num_racks = state.brokers.rack_idx, state.num_racks
    in_rack = np.bincount(racks[holds], minlength=num_racks)
    limit = rack_limit(state.target_factor, in_rack)
    replicas = state.replicas
    counted = holds[replicas.broker_idx] & ~replicas.is_removing
    key = replicas.partition_idx.astype(np.int64) * max(num_racks, 1)
    key = key[counted] + racks[replicas.broker_idx[counted]]
    keys, counts = np.unique(key, return_counts=True)
    of = keys // max(num_racks, 1)
    broken = np.zeros(state.num_partitions, dtype=np.bool_)
    broken[of[counts > limit[of]]] = True
    # With κ = 1 no rack can hold two more than another; only fuller racks need a check.
    fullest = np.zeros(state.num_partitions, dtype=np.int64)
    np.maximum.at(fullest, of, counts)
    for p in np.nonzero((fullest > 1) & ~broken)[0]:
        held = np.zeros(num_racks, dtype=np.int64)
        low, high = np.searchsorted(keys, [p * num_racks, (p + 1) * num_racks])
        held[keys[low:high] - p * num_racks] = counts[low:high]
        free = held < in_rack
        broken[p] = bool(free.any() and held.max() - held[free].min() > 1)
    return broken


@dataclass(frozen=True, slots=True, eq=False)
class Crowding:
    """
    Distance of partitions from the rack rule.

    Parameters
    ----------
    excess
        ``(n,)`` replicas above the limit of a rack, summed over all racks.
    unevenness
        ``(n,)`` difference of replicas between racks beyond the one allowed.
    """

    excess: IntArray
    unevenness: IntArray

    @classmethod
    def of(
        cls,
        held: IntArray,
        used: IntArray,
        in_rack: IntArray,
        limit: IntArray,
        *,
        is_even: bool,
    ) -> Self:
        """
        Measure replicas per rack.

        Parameters
        ----------
        held, used
            ``(n, K)`` replicas of each partition per rack, and those of them on brokers
            that count.
        in_rack
            ``(K,)`` number of brokers that count.
        limit
            ``(n,)`` replicas that a rack may hold.
        is_even
            Whether racks may differ by only one replica.
        """
        excess = np.maximum(held - limit[:, None], 0).sum(axis=1)
        if not is_even:
            return cls(excess, np.zeros_like(excess))
        most = held.max(axis=1, initial=0)
        # Without any free broker there is nothing to be uneven with.
        held = np.column_stack([np.where(used < in_rack, held, most[:, None]), most])
        least = held.min(axis=1)
        return cls(excess, np.maximum(most - least - 1, 0))

    @property
    def is_broken(self) -> BoolArray:
        """``(n,)`` true if the rule is broken."""
        broken: BoolArray = (self.excess > 0) | (self.unevenness > 0)
        return broken

    def is_worse_than(self, other: "Crowding") -> BoolArray:
        """Return ``(n,)`` true if either part of the rule is broken by more."""
        worse: BoolArray = (self.excess > other.excess) | (
            self.unevenness > other.unevenness
        )
        return worse


def crowding(
    state: ClusterState, holds: BoolArray, rows: IntArray, *, is_strict: bool = False
) -> Crowding:
    """
    Return the distance of some partitions from the rack rule.

    Replicas count on any broker, free places only on brokers that stay.

    Parameters
    ----------
    state
        The cluster.
    holds
        ``(B,)`` brokers that stay.
    rows
        Rows of the partitions, ascending.
    is_strict
        Whether a rack may hold at most one replica.
    """
    in_rack = np.bincount(state.brokers.rack_idx[holds], minlength=state.num_racks)
    step = max(MOST_COUNTED // max(state.num_racks, 1), 1)
    parts = []
    for first in range(0, max(len(rows), 1), step):
        part = rows[first : first + step]
        limit = rack_limit(state.num_replicas[part], in_rack)
        parts.append(
            Crowding.of(
                replicas_in_racks(state, part),
                replicas_in_racks(state, part, holds[state.replicas.broker_idx]),
                in_rack,
                np.minimum(limit, 1) if is_strict else limit,
                is_even=not is_strict,
            )
        )
    return Crowding(
        np.concatenate([part.excess for part in parts]),
        np.concatenate([part.unevenness for part in parts]),
    )


def replicas_in_racks(
    state: ClusterState, rows: IntArray, counted: BoolArray | None = None
) -> IntArray:
    """
    Return ``(n, K)`` replicas of some partitions per rack.

    Parameters
    ----------
    state
        The cluster.
    rows
        Rows of the partitions.
    counted
        ``(R,)`` replicas that count; `None` for all.
    """
    replicas, num_racks = state.replicas, state.num_racks
    place = np.full(state.num_partitions, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    at = place[replicas.partition_idx]
    chosen = at >= 0 if counted is None else (at >= 0) & counted
    key = at[chosen] * num_racks + state.brokers.rack_idx[replicas.broker_idx[chosen]]
    count = np.bincount(key, minlength=len(rows) * num_racks)
    found: IntArray = count.reshape(len(rows), num_racks)
    return found


def broker_ranges(ids: npt.NDArray[np.integer]) -> str:
    """
    Return broker ids as ranges.

    Examples
    --------
    >>> broker_ranges(np.array([1, 2, 3, 7, 9, 10]))
    '1-3,7,9-10'
    """
    runs = np.split(ids, np.nonzero(np.diff(ids) != 1)[0] + 1) if len(ids) else []
    ends = [(int(run[0]), int(run[-1])) for run in runs]
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ends)
