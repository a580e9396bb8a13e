"""Shortfalls of replicas that stay in log dirs to be emptied."""

from collections.abc import Iterator

import numpy as np

from placement.array_types import IntArray
from placement.core.model.problem import Movability
from placement.core.model.solution import Shortfall
from placement.log_dirs.dir_problem import LOG_DIR, Tables
from placement.model.cluster import ClusterState, LogDirState

FAILED_LOG_DIR = "failed-log-dir"
MOST_LISTED = 20
"""Maximum number of replicas listed one by one."""


def kept_in(table: Tables, place: IntArray) -> Iterator[Shortfall]:
    """Yield shortfalls of log dirs not emptied: one per replica, or per failed dir."""
    emptied, dirs = np.append(table.is_emptied, False), table.state.log_dirs
    failed = np.append(np.equal(dirs.state, LogDirState.OFFLINE), False)
    stays = emptied[place] & np.equal(table.movability, Movability.NEVER)
    for d in np.unique(place[stays & failed[place]]).tolist():
        yield _failed(table.state, d, int((stays & np.equal(place, d)).sum()))
    for row in np.nonzero(stays & ~failed[place])[0][:MOST_LISTED]:
        yield Shortfall(
            what="bins",
            have=0,
            need=1,
            item=int(row),
            bin=int(place[row]),
            node=int(table.state.replicas.broker_idx[row]),
            level=LOG_DIR,
        )


def _failed(state: ClusterState, log_dir: int, count: int) -> Shortfall:
    """Return the shortfall of an unreadable failed log dir, with the remedy."""
    broker = int(state.log_dirs.broker_idx[log_dir])
    broker_id, path = int(state.brokers.ids[broker]), state.log_dirs.paths[log_dir]
    noun = "replica" if count == 1 else "replicas"
    return Shortfall(
        what=FAILED_LOG_DIR,
        have=0,
        need=count,
        bin=log_dir,
        node=broker,
        level=LOG_DIR,
        is_proven=True,
        message=f"Log dir {path} of broker {broker_id} failed: the {count:,} {noun} in "
        "it cannot be read, and so not moved inside the broker. Restart broker "
        f"{broker_id} without the directory: Kafka then re-creates them in the others; "
        "or copy them to other brokers with plan fix",
    )
