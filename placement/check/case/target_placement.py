"""Target placement of a plan, as columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np

from placement.array_types import IntArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Target:
    """
    Replica lists of a plan, with the plan's own names.

    There are ``N`` entries with ``M`` replicas together. Names are not resolved: an
    entry may name a topic, partition, broker or log dir that does not exist.

    Parameters
    ----------
    topics
        Topic of each entry.
    partitions
        ``(N,)`` Kafka's partition number of each entry.
    start
        ``(N + 1,)`` first replica of each entry: ``start[e]:start[e + 1]`` are the
        rows of entry ``e``.
    broker_ids
        ``(M,)`` Kafka's broker ids, preferred leader first.
    log_dirs
        ``M`` paths, each `None` for any log dir; `None` where no entry names one.
    """

    topics: tuple[str, ...]
    partitions: IntArray
    start: IntArray
    broker_ids: IntArray
    log_dirs: tuple[str | None, ...] | None = None

    def __post_init__(self) -> None:
        for column in (self.partitions, self.start, self.broker_ids):
            column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.topics)

    @classmethod
    def from_lists(
        cls,
        topics: Sequence[str],
        partitions: Sequence[int],
        replicas: Sequence[Sequence[int]],
        log_dirs: Sequence[Sequence[str | None] | None] | None = None,
    ) -> Self:
        """
        Build the columns from one list per entry.

        Examples
        --------
        >>> Target.from_lists(["a", "a"], [0, 1], [[1, 2], [2]]).start.tolist()
        [0, 2, 3]
        """
        counts = np.fromiter(map(len, replicas), np.int64, len(replicas))
        start = np.zeros(len(replicas) + 1, dtype=np.int64)
        np.cumsum(counts, out=start[1:])
        flat = np.fromiter(chain.from_iterable(replicas), np.int64, int(start[-1]))
        return cls(
            topics=tuple(topics),
            partitions=np.array(partitions, dtype=np.int64),
            start=start,
            broker_ids=flat,
            log_dirs=_flat_dirs(replicas, log_dirs),
        )


def _flat_dirs(
    replicas: Sequence[Sequence[int]],
    log_dirs: Sequence[Sequence[str | None] | None] | None,
) -> tuple[str | None, ...] | None:
    if log_dirs is None or not any(any(row) for row in log_dirs if row):
        return None
    return tuple(
        chain.from_iterable(
            [None] * len(row) if paths is None else paths
            for row, paths in zip(replicas, log_dirs, strict=True)
        )
    )
