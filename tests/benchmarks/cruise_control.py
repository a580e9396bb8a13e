"""
Instances that Cruise Control's analyzer planned offline, and its plans for them.

The files in tests/data/cruise-control say MB and KB/s, in powers of ten.
"""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    Brokers,
    BrokerState,
    ClusterState,
    LogDirs,
    Partitions,
    Replicas,
    Storage,
    Topics,
)

FOLDER = Path(__file__).parents[1] / "data" / "cruise-control"
NAMES = ("S_a", "S_c", "S_d", "M_a", "M_c", "M_d")
BAND = 0.09
"""Cruise Control's own band at its default thresholds."""
MB, KB = 10**6, 10**3


@dataclass(frozen=True, slots=True, eq=False)
class TheirPlan:
    """
    What Cruise Control's plan does, and what was published of it.

    Parameters
    ----------
    moves, copied_bytes
        Replicas copied and their bytes, counted from its plan.
    after
        The cluster after its plan.
    published
        Its row of results.json.
    """

    moves: int
    copied_bytes: int
    after: ClusterState
    published: dict[str, Any]

    @property
    def price_per_move(self) -> int:
        """Bytes that make both halves of its plan weigh the same."""
        return self.copied_bytes // self.moves


@cache
def read_cluster(name: str) -> ClusterState:
    """Read one instance as it was before any plan."""
    brokers = _brokers(_rows(FOLDER / f"{name}.brokers.csv"))
    # Kafka's order of topics is that of their names.
    rows = sorted(_partition_rows(name), key=lambda row: row[0])
    names = sorted({topic for (topic, _), _ in rows})
    topic_of = {topic: t for t, topic in enumerate(names)}
    first = [replicas[0] for _, replicas in rows]
    in_rate = np.array([float(leader["nwin"]) * KB for leader in first])
    served = np.array([float(leader["nwout"]) * KB for leader in first])
    followers = np.array([len(replicas) - 1 for _, replicas in rows])
    broker_ids = np.array([int(r["broker"]) for _, rs in rows for r in rs])
    broker_idx = brokers.rows_of(broker_ids)
    start = np.concatenate([[0], np.cumsum(followers + 1)]).astype(np.int64)
    return ClusterState(
        cluster_id=name,
        brokers=brokers,
        log_dirs=_no_log_dirs(),
        topics=_topics(names),
        partitions=Partitions(
            topic_idx=np.array([topic_of[t] for (t, _), _ in rows], dtype=np.int32),
            partition=np.array([number for (_, number), _ in rows], dtype=np.int32),
            leader_idx=broker_idx[start[:-1]],
            size_bytes=np.array(
                [round(float(leader["disk"]) * MB) for leader in first], dtype=np.int64
            ),
            remote_bytes=np.full(len(rows), UNKNOWN, dtype=np.int64),
            in_bytes_per_s=in_rate,
            # Theirs has replication in it.
            out_bytes_per_s=np.maximum(served - followers * in_rate, 0.0),
            leader_cpu_cores=np.array([float(leader["cpu"]) for leader in first]),
            follower_cpu_cores=np.array(
                [float(replicas[-1]["cpu"]) for _, replicas in rows]
            ),
        ),
        replicas=_replicas(start, broker_idx),
    )


def read_plan(name: str) -> TheirPlan:
    """Read Cruise Control's plan for one instance."""
    before = read_cluster(name)
    row_of = {before.name_of(p): p for p in range(before.num_partitions)}
    broker_idx = before.replicas.broker_idx.copy()
    moves = copied = 0
    for (topic, number), (old, new) in read_lists(FOLDER / f"{name}.plan.csv.gz"):
        p = row_of[f"{topic}-{number}"]
        added = len(set(new) - set(old))
        moves += added
        copied += added * int(before.partitions.size_bytes[p])
        rows = slice(*before.replicas.start[p : p + 2])
        broker_idx[rows] = before.brokers.rows_of(np.array(new))
    return TheirPlan(moves, copied, with_lists(before, broker_idx), _published(name))


def read_lists(
    path: Path,
) -> Iterator[tuple[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Yield the partitions of a recorded plan with their lists before and after."""
    for row in _rows(path):
        old, new = (
            tuple(int(broker) for broker in row[key].split("|"))
            for key in ("oldReplicas", "newReplicas")
        )
        yield (row["topic"], int(row["partition"])), (old, new)


def with_lists(state: ClusterState, broker_idx: Any) -> ClusterState:
    """Return a cluster with other brokers in its replica lists; the first one leads."""
    leader_idx = broker_idx[state.replicas.start[:-1]]
    return replace(
        state,
        replicas=replace(state.replicas, broker_idx=broker_idx),
        partitions=replace(state.partitions, leader_idx=leader_idx),
    )


def _published(name: str) -> dict[str, Any]:
    results = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    (row,) = (r for r in results if r["name"] == name and r["who"] != "before")
    return dict(row)


def _rows(path: Path) -> list[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _partition_rows(
    name: str,
) -> Iterator[tuple[tuple[str, int], list[dict[str, str]]]]:
    rows = _rows(FOLDER / f"{name}.replicas.csv.gz")
    for key, group in groupby(rows, key=lambda r: (r["topic"], int(r["partition"]))):
        replicas = list(group)
        assert [r["isLeader"] for r in replicas] == ["1"] + ["0"] * (len(replicas) - 1)
        yield key, replicas


def _brokers(rows: list[dict[str, str]]) -> Brokers:
    rows = sorted(rows, key=lambda row: int(row["id"]))
    count = len(rows)
    racks = sorted({row["rack"] for row in rows})
    states = {"0": BrokerState.ALIVE, "1": BrokerState.NEW}
    return Brokers(
        ids=np.array([int(row["id"]) for row in rows], dtype=np.int32),
        rack_idx=np.array([racks.index(row["rack"]) for row in rows], dtype=np.int32),
        racks=tuple(racks),
        host_idx=np.arange(count, dtype=np.int32),
        hosts=tuple(f"host-{int(row['id']):03d}" for row in rows),
        broker_set_idx=np.full(count, ABSENT, dtype=np.int32),
        broker_sets=(),
        state=np.array([states[row["new"]] for row in rows], dtype=np.int8),
        disk_bytes=np.array([round(float(row["cap_disk"]) * MB) for row in rows]),
        in_bytes_per_s=np.array([float(row["cap_nwin"]) * KB for row in rows]),
        out_bytes_per_s=np.array([float(row["cap_nwout"]) * KB for row in rows]),
        cpu_cores=np.array([float(row["cap_cpu"]) for row in rows]),
        max_replicas=np.full(count, UNKNOWN, dtype=np.int64),
    )


def _no_log_dirs() -> LogDirs:
    none = np.zeros(0, dtype=np.int64)
    return LogDirs(
        broker_idx=none.astype(np.int32),
        paths=(),
        size_bytes=none,
        usable_bytes=none,
        state=none.astype(np.int8),
    )


def _topics(names: list[str]) -> Topics:
    return Topics(
        names=tuple(names),
        topic_ids=(None,) * len(names),
        storage=np.full(len(names), Storage.LOCAL, dtype=np.int8),
        min_insync_replicas=np.ones(len(names), dtype=np.int32),
        configs=({},) * len(names),
    )


def _replicas(start: Any, broker_idx: Any) -> Replicas:
    count = len(broker_idx)
    absent = np.full(count, ABSENT, dtype=np.int32)
    return Replicas(
        start=start,
        broker_idx=broker_idx,
        is_in_sync=np.ones(count, dtype=np.bool_),
        is_adding=np.zeros(count, dtype=np.bool_),
        is_removing=np.zeros(count, dtype=np.bool_),
        is_eligible=np.zeros(count, dtype=np.bool_),
        is_last_known_eligible=np.zeros(count, dtype=np.bool_),
        is_failed=np.zeros(count, dtype=np.bool_),
        log_dir_idx=absent,
        future_log_dir_idx=absent.copy(),
        own_bytes=np.full(count, UNKNOWN, dtype=np.int64),
    )
