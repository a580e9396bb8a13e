"""Replica lists that are being shortened, several of a partition side by side."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.model.cluster import ABSENT, ClusterState
from placement.model.columns import rows_of_starts, starts_of
from placement.model.load import first_true


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShorterLists:
    """
    Replica lists of which some replicas are dropped.

    There are ``K`` lists with ``N`` replicas, by partition; a partition has a list for
    each set of replicas that it may drop.

    Parameters
    ----------
    partition
        ``(K,)`` partition of each list.
    start
        ``(K + 1,)`` start of each list.
    row
        ``(N,)`` replicas, as rows of the cluster.
    is_dropped
        ``(N,)`` true for dropped replicas.
    surplus
        ``(K,)`` number of replicas that remain to be dropped.
    """

    partition: RowArray
    start: RowArray
    row: RowArray
    is_dropped: BoolArray
    surplus: RowArray

    def __len__(self) -> int:
        return len(self.partition)

    @property
    def list_idx(self) -> RowArray:
        """``(N,)`` list of each replica."""
        return rows_of_starts(self.start).astype(np.int64)

    def first(self, chosen: BoolArray) -> RowArray:
        """Return ``(K,)`` row of the first chosen replica of each list, or `ABSENT`."""
        found = first_true(chosen, self.start)
        return np.where(found == ABSENT, ABSENT, self.row[found])

    def any_of(self, chosen: BoolArray) -> BoolArray:
        """Return ``(K,)`` true for the lists with a chosen replica."""
        found: BoolArray = first_true(chosen, self.start) != ABSENT
        return found

    def take(self, lists: RowArray) -> "ShorterLists":
        """Return some of the lists, in the given order."""
        start = starts_of(np.diff(self.start)[lists])
        shift = np.repeat(self.start[lists] - start[:-1], np.diff(start))
        at = np.arange(start[-1]) + shift
        return ShorterLists(
            partition=self.partition[lists],
            start=start,
            row=self.row[at],
            is_dropped=self.is_dropped[at],
            surplus=self.surplus[lists],
        )

    def without_one(self, at: RowArray) -> "ShorterLists":
        """
        Return the lists with one replica less, one list for each replica to drop.

        Lists without such a replica stay, unless another one of the same partition has
        fewer left to drop. Equal lists occur once.

        Parameters
        ----------
        at
            Places of the replicas to drop, the preferred one of each list first.
        """
        of = self.list_idx[at]
        whole = np.nonzero(np.bincount(of, minlength=len(self)) == 0)[0]
        origin = np.concatenate([of, whole])
        gone = np.append(at, np.full(len(whole), ABSENT))
        order = np.argsort(origin, kind="stable")
        origin, gone = origin[order], gone[order]
        grown, is_less = self.take(origin), gone != ABSENT
        place = (gone - self.start[origin] + grown.start[:-1])[is_less]
        grown.is_dropped[place] = True
        grown.surplus[is_less] -= 1
        has_several = (self.partition[1:] == self.partition[:-1]).any()
        return grown.distinct() if has_several else grown

    def distinct(self) -> "ShorterLists":
        """Return the shortest lists of each partition, equal ones once."""
        least = np.full(self.partition.max(initial=-1) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, self.partition, self.surplus)
        width = int(np.diff(self.start).max(initial=0))
        key = np.zeros((len(self), 1 + width), dtype=np.int64)
        key[:, 0] = self.partition
        of = self.list_idx
        key[of, 1 + np.arange(len(of)) - self.start[of]] = self.is_dropped
        _, first = np.unique(key, axis=0, return_index=True)
        shortest = self.surplus[first] == least[self.partition[first]]
        return self.take(np.sort(first[shortest]))


def whole_lists(state: ClusterState, surplus: RowArray) -> ShorterLists:
    """
    Return the lists of the partitions that have too many replicas.

    Parameters
    ----------
    state
        The cluster.
    surplus
        ``(P,)`` number of replicas to drop.
    """
    count, num_partitions = len(state.replicas), state.num_partitions
    every = ShorterLists(
        partition=np.arange(num_partitions),
        start=state.replicas.start.astype(np.int64),
        row=np.arange(count),
        is_dropped=np.zeros(count, dtype=np.bool_),
        surplus=surplus.astype(np.int64),
    )
    return every.take(np.nonzero(surplus > 0)[0])
