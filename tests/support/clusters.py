"""Tiny clusters read at a glance, and any small cluster for hypothesis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    Brokers,
    BrokerState,
    ClusterState,
    LogDirs,
    LogDirState,
    Partitions,
    Replicas,
    Storage,
    Topics,
)

Placement = Sequence[Sequence[int]] | Mapping[str, Sequence[Sequence[int]]]
Racks = str | Sequence[str | None]


@dataclass(frozen=True)
class Dir:
    """A log dir of one broker, for `make_state(log_dirs={1: [Dir("/d1")]})`."""

    path: str
    size_bytes: int = UNKNOWN
    usable_bytes: int = UNKNOWN
    state: LogDirState = LogDirState.ONLINE


def make_state(
    replicas: Placement,
    *,
    racks: Racks | None = None,
    ids: Sequence[int] | None = None,
    states: Mapping[int, BrokerState] | None = None,
    broker_sets: Mapping[int, str] | None = None,
    hosts: Mapping[int, str] | None = None,
    disk_bytes: Any = UNKNOWN,
    broker_in: Any = np.nan,
    broker_out: Any = np.nan,
    broker_cpu: Any = np.nan,
    max_replicas: Any = UNKNOWN,
    log_dirs: Mapping[int, Sequence[Dir]] | None = None,
    size_bytes: Any = UNKNOWN,
    remote_bytes: Any = UNKNOWN,
    in_rate: Any = np.nan,
    out_rate: Any = np.nan,
    leader_cpu: Any = np.nan,
    follower_cpu: Any = np.nan,
    partitions: Sequence[int] | None = None,
    leaders: Sequence[int | None] | None = None,
    isr: Sequence[Sequence[int]] | None = None,
    elr: Sequence[Sequence[int]] | None = None,
    last_known_elr: Sequence[Sequence[int]] | None = None,
    adding: Sequence[Sequence[int]] | None = None,
    removing: Sequence[Sequence[int]] | None = None,
    failed: Sequence[Sequence[int]] | None = None,
    dirs: Sequence[Sequence[str | None]] | None = None,
    future_dirs: Sequence[Sequence[str | None]] | None = None,
    own_bytes: Sequence[Sequence[int | None]] | None = None,
    min_isr: Any = 1,
    caps_min_isr: bool = False,
    storage: Any = Storage.LOCAL,
    topic_ids: Sequence[str | None] | None = None,
    configs: Sequence[Mapping[str, str]] | None = None,
    cluster_id: str | None = "test",
) -> ClusterState:
    """
    Build a small cluster: ``make_state([[0, 2], [1, 2]], racks="aab")``.

    `replicas` lists broker ids per partition of topic ``t``, or per topic as
    ``{"a": [[0, 1]], "b": [[2]]}`` (names ascending). Everything per broker, partition
    or topic is one value for all, or a sequence in that order (brokers by id). Brokers
    are ``0..n-1`` unless `ids` names them; without racks each has one of its own. The
    live replicas are in sync, and the first of them leads, unless said otherwise.
    """
    lists = replicas if isinstance(replicas, Mapping) else {"t": replicas}
    if sorted(lists) != list(lists):
        msg = f"topics must be in order of their names, got {list(lists)}"
        raise ValueError(msg)
    rows = [list(row) for per_topic in lists.values() for row in per_topic]
    broker_ids = _broker_ids(rows, racks, ids)
    brokers = Brokers(
        ids=np.array(broker_ids, dtype=np.int32),
        **_grouped("rack", _racks_of(broker_ids, racks)),
        **_grouped("host", [(hosts or {}).get(b) for b in broker_ids]),
        **_broker_sets(broker_ids, broker_sets or {}),
        state=np.array(
            [(states or {}).get(b, BrokerState.ALIVE) for b in broker_ids], np.int8
        ),
        disk_bytes=_column(disk_bytes, len(broker_ids), np.int64),
        in_bytes_per_s=_column(broker_in, len(broker_ids), np.float64),
        out_bytes_per_s=_column(broker_out, len(broker_ids), np.float64),
        cpu_cores=_column(broker_cpu, len(broker_ids), np.float64),
        max_replicas=_column(max_replicas, len(broker_ids), np.int64),
    )
    dir_columns = _log_dirs(broker_ids, log_dirs or {})
    in_sync = isr if isr is not None else _live(rows, brokers)
    per_topic = [len(per_topic) for per_topic in lists.values()]
    numbers = [n for count in per_topic for n in range(count)]
    return ClusterState(
        cluster_id=cluster_id,
        caps_min_isr=caps_min_isr,
        brokers=brokers,
        log_dirs=dir_columns,
        topics=Topics(
            names=tuple(lists),
            topic_ids=tuple(topic_ids or [None] * len(lists)),
            storage=_column(storage, len(lists), np.int8),
            min_insync_replicas=_column(min_isr, len(lists), np.int32),
            configs=tuple(configs or [{}] * len(lists)),
        ),
        partitions=Partitions(
            topic_idx=np.repeat(np.arange(len(lists), dtype=np.int32), per_topic),
            partition=np.array(numbers if partitions is None else partitions, np.int32),
            leader_idx=_leaders(rows, brokers, leaders, in_sync),
            size_bytes=_column(size_bytes, len(rows), np.int64),
            remote_bytes=_column(remote_bytes, len(rows), np.int64),
            in_bytes_per_s=_column(in_rate, len(rows), np.float64),
            out_bytes_per_s=_column(out_rate, len(rows), np.float64),
            leader_cpu_cores=_column(leader_cpu, len(rows), np.float64),
            follower_cpu_cores=_column(follower_cpu, len(rows), np.float64),
        ),
        replicas=Replicas(
            start=np.cumsum([0, *map(len, rows)], dtype=np.int64),
            broker_idx=brokers.rows_of([b for row in rows for b in row]),
            is_in_sync=_members(rows, in_sync),
            is_adding=_members(rows, adding),
            is_removing=_members(rows, removing),
            is_eligible=_members(rows, elr),
            is_last_known_eligible=_members(rows, last_known_elr),
            is_failed=_members(rows, failed),
            log_dir_idx=_dir_rows(rows, brokers, dir_columns, dirs),
            future_log_dir_idx=_dir_rows(rows, brokers, dir_columns, future_dirs),
            own_bytes=_own_bytes(rows, own_bytes),
        ),
    )


def _broker_ids(
    rows: list[list[int]], racks: Racks | None, ids: Sequence[int] | None
) -> list[int]:
    if ids is not None:
        return sorted(ids)
    if racks is not None:
        return list(range(len(racks)))
    return list(range(max((b for row in rows for b in row), default=-1) + 1))


def _racks_of(broker_ids: list[int], racks: Racks | None) -> list[str | None]:
    if racks is None:
        return [None] * len(broker_ids)
    # A dash in "aa-" is a broker whose rack nobody told.
    return [None if rack in {None, "-"} else rack for rack in racks]


def _grouped(name: str, of_broker: list[str | None]) -> dict[str, Any]:
    names = sorted({value for value in of_broker if value is not None})
    row_of = {value: row for row, value in enumerate(names)}
    idx, num_own = [], 0
    for value in of_broker:
        idx.append(len(names) + num_own if value is None else row_of[value])
        num_own += value is None
    return {
        f"{name}_idx": np.array(idx, dtype=np.int32),
        f"{name}s": (*names, *[None] * num_own),
    }


def _broker_sets(broker_ids: list[int], sets: Mapping[int, str]) -> dict[str, Any]:
    names = sorted(set(sets.values()))
    idx = [names.index(sets[b]) if b in sets else ABSENT for b in broker_ids]
    return {
        "broker_set_idx": np.array(idx, dtype=np.int32),
        "broker_sets": tuple(names),
    }


def _column(value: Any, length: int, dtype: Any) -> Any:
    if np.ndim(value) == 0:
        return np.full(length, value, dtype=dtype)
    if len(value) != length:
        msg = f"{length} values needed, got {value!r}"
        raise ValueError(msg)
    return np.array(value, dtype=dtype)


def _log_dirs(broker_ids: list[int], log_dirs: Mapping[int, Sequence[Dir]]) -> LogDirs:
    rows = [
        (row, log_dir)
        for row, broker in enumerate(broker_ids)
        for log_dir in sorted(log_dirs.get(broker, ()), key=lambda d: d.path)
    ]
    return LogDirs(
        broker_idx=np.array([row for row, _ in rows], dtype=np.int32),
        paths=tuple(d.path for _, d in rows),
        size_bytes=np.array([d.size_bytes for _, d in rows], dtype=np.int64),
        usable_bytes=np.array([d.usable_bytes for _, d in rows], dtype=np.int64),
        state=np.array([d.state for _, d in rows], dtype=np.int8),
    )


def _live(rows: list[list[int]], brokers: Brokers) -> list[list[int]]:
    live = set(brokers.ids[brokers.is_live].tolist())
    return [[b for b in row if b in live] for row in rows]


def _leaders(
    rows: list[list[int]],
    brokers: Brokers,
    leaders: Sequence[int | None] | None,
    in_sync: Sequence[Sequence[int]],
) -> Any:
    if leaders is None:
        live = _live(rows, brokers)
        leaders = [
            next((b for b in row if b in members), None)
            for row, members in zip(live, in_sync, strict=True)
        ]
    return brokers.rows_of([ABSENT if b is None else b for b in leaders])


def _members(rows: list[list[int]], members: Sequence[Sequence[int]] | None) -> Any:
    of_row = members if members is not None else [()] * len(rows)
    flags = [b in of for row, of in zip(rows, of_row, strict=True) for b in row]
    return np.array(flags, dtype=np.bool_)


def _dir_rows(
    rows: list[list[int]],
    brokers: Brokers,
    log_dirs: LogDirs,
    paths: Sequence[Sequence[str | None]] | None,
) -> Any:
    owners = brokers.ids[log_dirs.broker_idx].tolist()
    row_of = {key: d for d, key in enumerate(zip(owners, log_dirs.paths, strict=True))}
    of_row = paths if paths is not None else [[None] * len(row) for row in rows]
    found = [
        ABSENT if path is None else row_of[b, path]
        for row, of in zip(rows, of_row, strict=True)
        for b, path in zip(row, of, strict=True)
    ]
    return np.array(found, dtype=np.int32)


def _own_bytes(
    rows: list[list[int]], own: Sequence[Sequence[int | None]] | None
) -> Any:
    of_row = own if own is not None else [[None] * len(row) for row in rows]
    flat = [UNKNOWN if value is None else value for row in of_row for value in row]
    return np.array(flat, dtype=np.int64)


def _maybe(draw: Any, strategy: Any, absent: Any, *, is_known: bool) -> Any:
    return draw(strategy if is_known else st.one_of(st.just(absent), strategy))


@st.composite
def clusters(
    draw: Any,
    *,
    min_brokers: int = 1,
    max_brokers: int = 6,
    max_topics: int = 3,
    max_partitions: int = 4,
    max_replicas: int = 4,
    all_live: bool = False,
    all_known: bool = False,
    reassigning: bool = False,
) -> ClusterState:
    """
    Draw any small cluster.

    Broker ids have gaps, racks may be missing, sizes and rates unknown; rates are whole
    numbers so that sums are exact in any order. `all_live`: every broker is alive, new
    or demoted, and every log dir online. `all_known`: nothing measured is missing.
    `reassigning`: partitions may have replicas being added and removed.
    """
    ids = sorted(
        draw(st.sets(st.integers(0, 40), min_size=min_brokers, max_size=max_brokers))
    )
    num_topics = draw(st.integers(0, max_topics))
    counts = [draw(st.integers(1, max_partitions)) for _ in range(num_topics)]
    most = min(len(ids), max_replicas)
    names = [f"t{n}" for n in range(num_topics)]
    lists = {
        name: [
            draw(st.permutations(ids))[: draw(st.integers(1, most))]
            for _ in range(count)
        ]
        for name, count in zip(names, counts, strict=True)
    }
    rows = [row for per_topic in lists.values() for row in per_topic]
    log_dirs = _draw_log_dirs(draw, ids, all_live=all_live, all_known=all_known)
    columns = _draw_loads(draw, rows, all_known=all_known)
    if reassigning:
        columns |= _draw_reassignments(draw, rows)
    return make_state(
        lists,
        ids=ids,
        racks=[draw(st.sampled_from(["a", "b", "c", None])) for _ in ids],
        states=_draw_states(draw, ids, all_live=all_live),
        log_dirs=log_dirs,
        dirs=_draw_dirs(draw, rows, log_dirs),
        isr=[[b for b in row if draw(st.booleans())] for row in rows],
        leaders=[draw(st.sampled_from([*row, None])) for row in rows],
        min_isr=[draw(st.integers(1, 3)) for _ in names],
        storage=[draw(st.sampled_from(Storage)) for _ in names],
        topic_ids=[draw(st.sampled_from([None, f"id-{name}"])) for name in names],
        **_draw_capacities(draw, ids, all_known=all_known),
        **columns,
    )


def _draw_states(
    draw: Any, ids: list[int], *, all_live: bool
) -> dict[int, BrokerState]:
    live = [s for s in BrokerState if s <= BrokerState.DEMOTED]
    choices = live if all_live else [*[BrokerState.ALIVE] * 4, *BrokerState]
    return {b: draw(st.sampled_from(choices)) for b in ids}


def _draw_log_dirs(
    draw: Any, ids: list[int], *, all_live: bool, all_known: bool
) -> dict[int, list[Dir]]:
    states = [LogDirState.ONLINE] if all_live else list(LogDirState)
    chosen: dict[int, list[Dir]] = {}
    for broker in ids:
        paths = draw(st.sets(st.sampled_from(["/d1", "/d2", "/d3"]), max_size=2))
        for path in sorted(paths):
            size = _maybe(draw, st.integers(0, 500), UNKNOWN, is_known=all_known)
            usable = draw(st.integers(0, size)) if size >= 0 else UNKNOWN
            state = draw(st.sampled_from(states))
            chosen.setdefault(broker, []).append(Dir(path, size, usable, state))
    return chosen


def _draw_dirs(
    draw: Any, rows: list[list[int]], log_dirs: dict[int, list[Dir]]
) -> list[list[str | None]]:
    return [
        [
            draw(st.sampled_from([None, *[d.path for d in log_dirs.get(broker, ())]]))
            for broker in row
        ]
        for row in rows
    ]


def _draw_capacities(draw: Any, ids: list[int], *, all_known: bool) -> dict[str, Any]:
    def each(strategy: Any, absent: Any) -> list[Any]:
        return [_maybe(draw, strategy, absent, is_known=all_known) for _ in ids]

    rates = st.integers(1, 500).map(float)
    return {
        "disk_bytes": each(st.integers(1, 1000), UNKNOWN),
        "broker_in": each(rates, np.nan),
        "broker_out": each(rates, np.nan),
        "broker_cpu": each(rates, np.nan),
        "max_replicas": each(st.integers(1, 20), UNKNOWN),
    }


def _draw_loads(draw: Any, rows: list[list[int]], *, all_known: bool) -> dict[str, Any]:
    def each(strategy: Any, absent: Any) -> list[Any]:
        return [_maybe(draw, strategy, absent, is_known=all_known) for _ in rows]

    rates = st.integers(0, 100).map(float)
    own = st.one_of(st.none(), st.integers(0, 120))
    return {
        "size_bytes": each(st.integers(0, 100), UNKNOWN),
        "in_rate": each(rates, np.nan),
        "out_rate": each(rates, np.nan),
        "leader_cpu": each(rates, np.nan),
        "follower_cpu": each(rates, np.nan),
        "own_bytes": [[draw(own) for _ in row] for row in rows],
    }


def _draw_reassignments(draw: Any, rows: list[list[int]]) -> dict[str, Any]:
    """Cut each list into the target, part of it adding, and those removed last."""
    adding, removing = [], []
    for row in rows:
        cuts = sorted(draw(st.tuples(*[st.integers(0, len(row))] * 2)))
        parts = [row[a:b] for a, b in pairwise([0, *cuts, len(row)])]
        is_moving = bool(parts[0]) and draw(st.booleans())
        adding.append(parts[1] if is_moving else [])
        removing.append(parts[2] if is_moving else [])
    return {"adding": adding, "removing": removing}
