"""Partitions from which no replica can be copied."""

from collections.abc import Iterator

import numpy as np

from placement.model.cluster import ClusterState
from planner.failures.failure_records import NoSourceRecord, NoSourcesRecord
from planner.text.format import ids_text, plural

MOST_SHOWN = 5
MOST_NAMED = 1000
"""Largest number of partitions that are named; all are counted."""


def no_source(state: ClusterState) -> NoSourcesRecord:
    """
    Return the partitions without a source, with the brokers of their last copies.

    No replica in sync or eligible to lead is online: the partition cannot be rebuilt
    until one of the brokers in `last_copies` is back with its log dir.
    """
    rows = np.nonzero(~state.has_source)[0]
    return NoSourcesRecord(
        count=len(rows),
        partitions=[_named(state, int(p)) for p in rows[:MOST_NAMED]],
    )


def _named(state: ClusterState, p: int) -> NoSourceRecord:
    start, stop = state.replicas.start[p : p + 2].tolist()
    replicas = state.replicas
    in_sync = replicas.is_in_sync[start:stop]
    eligible = replicas.is_eligible[start:stop]
    last = replicas.is_last_known_eligible[start:stop]
    # The only replica has the last copy even where no list names it.
    alone = np.full(stop - start, stop - start == 1)
    known = (each for each in (in_sync, eligible, last) if each.any())
    held = next(known, alone)
    ids = state.brokers.ids[replicas.broker_idx[start:stop]]
    return NoSourceRecord(**state.place_of(p), last_copies=[int(b) for b in ids[held]])


def no_source_lines(state: ClusterState) -> Iterator[tuple[str, str]]:
    """Yield label and text on partitions without a source, the first ones by name."""
    found = no_source(state)
    count, shown = found.count, found.partitions[:MOST_SHOWN]
    if not count:
        return
    names = [
        f"{one.topic}-{one.partition} (last on {_holders_text(one)})" for one in shown
    ]
    more = f" and {count - len(shown):,} more" if count > len(shown) else ""
    verb = "has" if count == 1 else "have"
    yield (
        "No source",
        f"{plural(count, 'partition')} {verb} no online replica to copy from: "
        f"{', '.join(names)}{more}. Not in what is rebuilt; start the brokers that "
        "hold the last copies, with their log dirs",
    )


def _holders_text(one: NoSourceRecord) -> str:
    ids = sorted(one.last_copies)
    return f"broker {ids_text(ids)}" if ids else "unknown brokers"
