"""Input arrays of the kernel, from columns of partitions of one or more snapshots."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.model.cluster import UNKNOWN, LogDirState
from placement.model.targets import rack_limit
from planner.snapshot.tables.snapshot_columns import ArrowArray, ArrowTable
from planner.snapshot.tables.table_rows import Rows, as_array
from planner.spark.scoring.kernels.tally import NOBODY_SAYS
from planner.spark.scoring.sums.failed_log_dirs import FailedReplicas
from planner.spark.scoring.sums.replica_lists import (
    BrokerRows,
    Spots,
    aligned,
    numbers_of,
    rows_of,
    snapshot_of_rows,
)
from planner.spark.scoring.sums.snapshot_grounds import Ground
from planner.spark.scoring.sums.sum_arrays import GroundArrays, Ints, RowArrays

NO_NAME = "\0"
"""Topic of partitions without a topic; no topic has this name."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RowTopics:
    """
    Topics of partitions, one snapshot after the other.

    Parameters
    ----------
    names
        ``(T,)`` names; those of different snapshots may be equal.
    of_rows
        ``(P,)`` index of the topic of each partition.
    first
        ``(S + 1,)`` first topic of each snapshot.
    """

    names: ArrowArray
    of_rows: Ints
    first: Ints


def topics_of(rows: ArrowTable, first_row: Ints) -> RowTopics:
    """
    Return the topics of partitions.

    Parameters
    ----------
    rows
        The partitions, one snapshot after the other.
    first_row
        ``(S + 1,)`` first row of each snapshot.
    """
    column = as_array(rows.column("topic"))
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    unnamed = pa.array([NO_NAME], pa.string())
    texts = pa.concat_arrays([column.dictionary.cast(pa.string()), unnamed])
    codes = numbers_of(column.indices, len(texts) - 1)
    if len(first_row) == 2:
        is_used = np.zeros(len(texts), dtype=np.bool_)
        is_used[codes] = True
        used = np.flatnonzero(is_used)
        place: Ints = np.cumsum(is_used, dtype=np.int32) - 1
        first = np.array([0, len(used)])
        return RowTopics(
            names=texts.take(pa.array(used)), of_rows=place[codes], first=first
        )
    of = snapshot_of_rows(first_row)
    keys, at, place = np.unique(
        of * len(texts) + codes, return_index=True, return_inverse=True
    )
    # In the order of their first rows, as in a dictionary of one snapshot.
    order = np.argsort(at, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return RowTopics(
        names=texts.take(pa.array(keys[order] % len(texts))),
        of_rows=rank[place],
        first=np.searchsorted(keys // len(texts), np.arange(len(first_row))),
    )


@dataclass(frozen=True, slots=True, eq=False)
class BrokerLists:
    """
    Numbers and rows of the brokers in lists of partitions.

    Parameters
    ----------
    first_row
        ``(S + 1,)`` first partition of each snapshot.
    brokers
        Rows of brokers by id and snapshot.
    """

    first_row: Ints
    brokers: BrokerRows

    def numbers(self, listed: Rows) -> Ints:
        """Return the number of the broker of each element."""
        ids = numbers_of(listed.values, UNKNOWN)
        return self.brokers.numbers(ids, listed.start[self.first_row])

    def rows(self, listed: Rows) -> Ints:
        """Return the row of the broker of each element."""
        ids = numbers_of(listed.values, UNKNOWN)
        return self.brokers.rows(ids, listed.start[self.first_row])

    def leaders(self, column: ArrowTable) -> Ints:
        """Return the number of each leader, `NOBODY_SAYS` where it is null."""
        leaders = self.brokers.numbers(numbers_of(column, UNKNOWN), self.first_row)
        if column.null_count:
            leaders = np.where(column.is_null().to_numpy(), NOBODY_SAYS, leaders)
        return leaders


def row_arrays(
    marked: FailedReplicas,
    topic_idx: Ints,
    listed: Rows,
    spots: Spots,
    lists: BrokerLists,
) -> RowArrays:
    """
    Return the columns of partitions for the kernel.

    Parameters
    ----------
    marked
        The partitions, and which of their replicas have failed.
    topic_idx
        ``(P,)`` row of the topic of each partition.
    listed, spots, lists
        Replicas of the partitions, their places, and their brokers.
    """
    rows = marked.rows
    members = ("isr", "adding_replicas", "removing_replicas")
    isr, adding, removing = (rows_of(rows.column(name)) for name in members)
    own, is_unlike = aligned(rows.column("replica_bytes"), listed)
    replicas, in_sync, added, removed = map(
        lists.numbers, (listed, isr, adding, removing)
    )
    return RowArrays(
        topic=topic_idx,
        number=numbers_of(rows.column("partition"), UNKNOWN),
        is_named=rows.column("topic").is_valid().to_numpy(),
        is_unlike=is_unlike | spots.is_unlike,
        start=listed.start,
        replicas=replicas,
        path=spots.path,
        future=spots.future,
        own=own,
        leader=lists.leaders(rows.column("leader")),
        isr_start=isr.start,
        isr=in_sync,
        tells_isr=~isr.is_absent,
        adding_start=adding.start,
        adding=added,
        failed=marked.is_failed,
        removing_start=removing.start,
        removing=removed,
        size=numbers_of(rows.column("size_bytes"), UNKNOWN),
        inbound=numbers_of(rows.column("in_bytes_per_s"), np.nan),
        outbound=numbers_of(rows.column("out_bytes_per_s"), np.nan),
        leader_cpu=numbers_of(rows.column("leader_cpu_cores"), np.nan),
        follower_cpu=numbers_of(rows.column("follower_cpu_cores"), np.nan),
        has_future=len(spots.future) > 0,
        has_own=len(own) > 0,
        has_adding=len(added) > 0,
        has_failed=len(marked.is_failed) > 0,
        has_removing=len(removed) > 0,
    )


def ground_arrays(
    ground: Ground,
    said: Sequence[ArrowTable],
    topics: RowTopics,
    spots: Spots,
    longest: int,
) -> GroundArrays:
    """
    Return the columns that partitions depend on for the kernel.

    Parameters
    ----------
    ground, said
        Brokers and log dirs of the snapshots, and settings of the topics of each.
    topics, spots
        Topics of the partitions, and places of their replicas.
    longest
        Largest number of replicas of a partition.
    """
    is_shared, min_isr = _settings(ground, said, topics)
    brokers = ground.state.brokers
    is_offline = ground.state.log_dirs.state == LogDirState.OFFLINE
    racks = pairwise(ground.first_rack.tolist())
    sizes = np.arange(longest + 1)
    limits = [rack_limit(sizes, ground.in_rack[low:high]) for low, high in racks]
    return GroundArrays(
        row_of=ground.broker_rows.row_of,
        is_live=brokers.is_live,
        rack=brokers.rack_idx,
        in_rack=ground.in_rack,
        first_rack=ground.first_rack,
        rack_limit=np.stack(limits),
        snapshot=snapshot_of_rows(topics.first),
        is_shared=is_shared,
        min_isr=min_isr,
        caps_min_isr=np.array(ground.caps_min_isr, dtype=np.bool_),
        is_offline=spots.flags(is_offline),
        has_offline=bool(is_offline.any()),
        stride=spots.stride,
    )


def _settings(
    ground: Ground, said: Sequence[ArrowTable], topics: RowTopics
) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Return whether each topic has shared storage, and its min ISR."""
    is_shared = np.zeros(len(topics.names), dtype=np.bool_)
    min_isr = np.array(ground.min_isr, dtype=np.int64)[snapshot_of_rows(topics.first)]
    for (low, high), own in zip(pairwise(topics.first.tolist()), said, strict=True):
        if len(own) and high > low:
            names = topics.names.slice(low, high - low)
            at = pc.index_in(names, value_set=as_array(own.column("topic")))
            shared = pc.fill_null(own.column("is_shared").take(at), fill_value=False)
            is_shared[low:high] = shared.to_numpy()
            least = own.column("min_isr").take(at)
            min_isr[low:high] = least.fill_null(int(min_isr[low])).to_numpy()
    return is_shared, min_isr
