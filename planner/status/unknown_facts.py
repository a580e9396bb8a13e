"""Facts on the health of a cluster that are missing in a snapshot."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from placement.model.cluster import ClusterState
from planner.snapshot.snapshot_document import Snapshot
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.snapshot.tables.table_facts import MIN_ISR, config_values
from planner.snapshot.tables.table_rows import as_array
from planner.status.controller_quorum import quorum_of
from planner.status.unproven_min_isr import unproven_min_isr
from planner.text.format import brokers_text, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A fact that is missing in a snapshot: one word, and a sentence."""

    what: str
    message: str


def find_unknown(snapshot: Snapshot, state: ClusterState) -> Iterator[Unknown]:
    """
    Find the facts that are missing in a snapshot.

    Parameters
    ----------
    snapshot
        The snapshot.
    state
        Columns of the snapshot.
    """
    yield from _of_brokers(snapshot, state)
    yield from _of_partitions(snapshot)
    for message in unproven_min_isr(snapshot, state):
        yield Unknown(what="kafka-version", message=message)
    yield from _of_throttles(snapshot, state)
    quorum = quorum_of(snapshot, state)
    if quorum is None or not quorum.has_fetch_ages:
        what = "controllers' quorum" if quorum is None else "last sign of each voter"
        yield Unknown(
            what="quorum",
            message=f"{what}: not in the snapshot; how many more controllers may fail "
            "is unknown",
        )


def _missing(table: ArrowTable, name: str) -> npt.NDArray[np.bool_]:
    column = as_array(table.column(name))
    missing: npt.NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return missing


def _brokers_text(ids: npt.NDArray[np.integer]) -> str:
    return brokers_text(ids.tolist())


def _of_brokers(snapshot: Snapshot, state: ClusterState) -> Iterator[Unknown]:
    is_silent = _missing(snapshot.brokers, "state")
    ids = state.brokers.ids
    if is_silent.any():
        yield Unknown(
            what="broker-state",
            message=f"state of {_brokers_text(ids[is_silent])}: not in the snapshot; "
            "taken as live",
        )
    racks = [state.brokers.racks[row] for row in state.brokers.rack_idx.tolist()]
    is_nowhere = np.array([rack is None for rack in racks], bool)
    if is_nowhere.any() and not is_nowhere.all():
        yield Unknown(
            what="racks",
            message=f"rack of {_brokers_text(ids[is_nowhere])}: not in the snapshot; "
            "whether their copies share a rack with others is unknown",
        )
    num_dirs = np.bincount(state.log_dirs.broker_idx, minlength=len(ids))
    without = state.brokers.is_live & (num_dirs == 0)
    if without.any():
        yield Unknown(
            what="log-dirs",
            message=f"log dirs of {_brokers_text(ids[without])}: not in the snapshot; "
            "whether one has failed is unknown",
        )


def _of_partitions(snapshot: Snapshot) -> Iterator[Unknown]:
    texts = {
        "isr": "in-sync replicas of {}: not in the snapshot; every live replica is "
        "taken as in sync",
        "leader": "leader of {}: not in the snapshot; taken as the first live replica "
        "in sync",
        "adding_replicas": "reassignment of {}: not in the snapshot; whether one runs "
        "is unknown",
    }
    for name, text in texts.items():
        count = int(_missing(snapshot.partitions, name).sum())
        if count:
            what = name.removesuffix("_replicas").replace("adding", "reassignments")
            yield Unknown(what=what, message=text.format(plural(count, "partition")))
    rows, _ = config_values(snapshot.topics.column("configs"), MIN_ISR)
    lacking = snapshot.topics.num_rows - len(rows)
    if lacking and MIN_ISR not in snapshot.configs:
        yield Unknown(
            what="min-isr",
            message=f"{MIN_ISR} of {plural(lacking, 'topic')}: not in the snapshot; "
            "taken as 1",
        )


def _of_throttles(snapshot: Snapshot, state: ClusterState) -> Iterator[Unknown]:
    of_brokers = _missing(snapshot.brokers, "configs")
    if of_brokers.any():
        also = " and of the cluster default" if of_brokers.all() else ""
        is_down = not state.brokers.is_live[of_brokers].any()
        why = "; a broker that is down cannot be asked" if is_down else ""
        yield Unknown(
            what="throttles",
            message=f"throttles of {_brokers_text(state.brokers.ids[of_brokers])}"
            f"{also}: not in the snapshot{why}",
        )
    of_topics = pc.sum(as_array(snapshot.topics.column("configs")).is_null()).as_py()
    if of_topics:
        yield Unknown(
            what="throttles",
            message=f"throttles of {plural(of_topics, 'topic')}: not in the snapshot",
        )
