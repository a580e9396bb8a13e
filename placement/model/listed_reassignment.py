"""Reassignment from the target lists of some partitions, as a file has them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from placement.array_types import RowArray
from placement.model.cluster import ABSENT, ClusterState
from placement.model.reassignment import Reassignment


def reassignment_to(
    before: ClusterState,
    lists: Mapping[int, Sequence[int]],
    log_dirs: Mapping[int, Sequence[int]] | None = None,
) -> Reassignment:
    """
    Return the reassignment to the given lists; other partitions keep theirs.

    Each new replica is paired with a removed one, in the order of the lists. The last
    new replicas of a list that grows replace none.

    Parameters
    ----------
    before
        The present cluster.
    lists
        Broker rows by partition row, preferred leader first; none is empty.
    log_dirs
        Log dir rows by partition row, one per broker of its list; `ABSENT` for any, or
        the present one. `None`: no list names a log dir.
    """
    replicas, rows = before.replicas, sorted(lists)
    # A list that is being changed has more replicas than its factor.
    counts = np.diff(replicas.start)
    counts[rows] = [len(lists[row]) for row in rows]
    stays = np.nonzero(~np.isin(replicas.partition_idx, rows))[0]
    of = np.concatenate([replicas.partition_idx[stays], np.repeat(rows, counts[rows])])
    order = np.argsort(of, kind="stable")

    def joined(kept: RowArray, given: Iterator[int]) -> RowArray:
        values = np.fromiter(given, dtype=np.int64)
        column: RowArray = np.concatenate([kept, values])[order]
        return column

    kept = replicas.broker_idx[stays].astype(np.int64)
    brokers = joined(kept, chain(*(lists[row] for row in rows)))
    origin = joined(stays, chain(*(_origins(before, p, lists[p]) for p in rows)))
    named = None
    if log_dirs is not None:
        anywhere = np.full(len(stays), ABSENT, dtype=np.int64)
        named = joined(anywhere, chain(*(log_dirs[row] for row in rows)))
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Reassignment(
        before=before,
        broker_idx=brokers.astype(np.int32),
        origin=origin,
        target_start=None if np.array_equal(start, replicas.start) else start,
        log_dir_idx=None if named is None else named.astype(np.int32),
    )


def _origins(
    before: ClusterState, partition: int, target: Sequence[int]
) -> Iterator[int]:
    """Yield the replica row that each place of a list keeps or replaces."""
    start, stop = before.replicas.start[partition : partition + 2].tolist()
    brokers = before.replicas.broker_idx[start:stop].tolist()
    row_of = dict(zip(brokers, range(start, stop), strict=True))
    going = iter([row for broker, row in row_of.items() if broker not in target])
    for broker in target:
        row = row_of.get(broker)
        yield next(going, ABSENT) if row is None else row
