"""Bytes of a score that failed log dirs hold no more."""

from collections.abc import Iterator

import numpy as np

from placement.draft.draft import Note
from placement.model.cluster import ClusterState
from planner.text.format import bytes_text, plural

WHAT = "failed-log-dirs"


def failed_dir_notes(state: ClusterState) -> Iterator[Note]:
    """
    Yield a note for each live broker whose load has replicas in failed log dirs.

    They count as its load, as in plans: they stay its replicas, and it creates them
    anew on the disk that replaces the failed one, or in its other log dirs. Capacities
    are those of the log dirs that are online.
    """
    replicas, live = state.replicas, state.brokers.is_live
    rows = np.flatnonzero(state.is_offline & live[replicas.broker_idx])
    on = replicas.broker_idx[rows]
    size = np.maximum(state.partitions.size_bytes[replicas.partition_idx[rows]], 0)
    lost = np.zeros(state.num_brokers, dtype=np.int64)
    np.add.at(lost, on, size)
    counts = np.bincount(on, minlength=state.num_brokers)
    for row in np.unique(on).tolist():
        broker, num = int(state.brokers.ids[row]), plural(int(counts[row]), "replica")
        yield Note(
            what=WHAT,
            message=f"the load of broker {broker} counts {num} in failed log dirs, "
            f"{bytes_text(lost[row])}: they take no room until the broker creates them "
            "anew; its capacity is that of the log dirs that are online",
            where={"broker": broker},
            have=float(lost[row]),
        )
