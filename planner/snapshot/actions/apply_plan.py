"""Snapshot after a plan has run, for planning or scoring again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import RowArray
from placement.model.cluster import ClusterState
from placement.model.free_space import usable_after
from planner.errors import InputProblem
from planner.io.problems import problem, refuse_all
from planner.snapshot.actions.chosen_dirs import Dirs, with_chosen_dirs
from planner.snapshot.actions.serving_replicas import Serving, live_ids, serving_of
from planner.snapshot.formats.json_file import python_values
from planner.snapshot.snapshot_document import Snapshot
from planner.snapshot.tables.snapshot_columns import LOG_DIRS, PARTITIONS, ArrowTable
from planner.snapshot.tables.table_rows import Rows, as_array, find_in_rows
from planner.snapshot.to_state import first_in_rows

Key = tuple[str, int]
_CLEARED = ("adding_replicas", "removing_replicas", "elr", "last_known_elr")


class Targets(Protocol):
    """Entries of a reassignment file."""

    @property
    def topics(self) -> Sequence[str]:
        """Topic of each entry."""

    @property
    def partitions(self) -> Sequence[int]:
        """Partition number of each entry."""

    @property
    def replicas(self) -> Sequence[Sequence[int]]:
        """Broker ids of each entry, preferred leader first."""

    @property
    def log_dirs(self) -> Sequence[Sequence[str | None] | None]:
        """Path per replica of each entry, `None` for any; or `None` without paths."""


def apply_plan(snapshot: Snapshot, plan: Targets, *, file: str = "plan") -> Snapshot:
    """
    Return the snapshot after a plan has run and leaders were elected.

    In a partition of the plan, the replicas are those of the plan, the ISR is their
    live replicas, and no reassignment is under way. Replicas that stay keep their log
    dir and their bytes. A copy without a named log dir is in the log dir that its
    broker is certain to choose, else in an unknown one. Every partition is led by its
    first live replica in the ISR.

    Parameters
    ----------
    snapshot
        The cluster before.
    plan
        Target lists of some of its partitions.
    file
        Name of the file in problems.

    Raises
    ------
    BadInputError
        If the plan does not fit the snapshot, with every problem.
    """
    at = rows_of_plan(snapshot, plan, file)
    table = snapshot.partitions
    chosen = chosen_dirs(snapshot, plan)
    planned = _planned(table.take(pa.array(at)), plan, serving_of(snapshot, at), chosen)
    kept = _led_by_first(without_rows(table, at), live_ids(snapshot))
    applied = replace(snapshot, partitions=insert_rows(kept, planned, at))
    return _with_free_space(snapshot, applied)


def without_rows(table: ArrowTable, at: RowArray) -> ArrowTable:
    """Return the rows of a table except some."""
    is_kept = np.ones(len(table), dtype=np.bool_)
    is_kept[at] = False
    return table.filter(pa.array(is_kept))


def rows_of_plan(snapshot: Snapshot, plan: Targets, file: str) -> RowArray:
    """
    Return the row of the partition of each entry of a plan.

    Raises
    ------
    BadInputError
        If the plan does not fit the snapshot, with every problem.
    """
    rows = _rows_of(snapshot, plan)
    problems = list(_problems(snapshot, plan, rows, file))
    if problems:
        msg = "the plan does not fit the snapshot"
        raise refuse_all(msg, problems)
    return np.array([row for row in rows if row is not None], dtype=np.int64)


def insert_rows(kept: ArrowTable, changed: ArrowTable, at: RowArray) -> ArrowTable:
    """Return all rows in order, with changed rows inserted at their positions."""
    is_kept = np.ones(len(kept) + len(at), dtype=np.bool_)
    is_kept[at] = False
    order = np.argsort(np.concatenate([np.flatnonzero(is_kept), at]), kind="stable")
    together = pa.concat_tables([kept, changed]).take(pa.array(order))
    return together.combine_chunks()


def _with_free_space(before: Snapshot, after: Snapshot) -> Snapshot:
    """Update the free space of log dirs by the replicas that were added and removed."""
    column = before.log_dirs.column("usable_bytes")
    if column.null_count == len(column):
        return after
    state, state_after = _on_the_same_dirs(before, after)
    # A log dir that the plan overfills has no free space; files allow no negative.
    limit = np.maximum(state.log_dirs.size_bytes, state.log_dirs.usable_bytes)
    usable = np.clip(usable_after(state, state_after), 0, limit.clip(min=0))
    rows = _dir_rows(before, state)
    values = pa.array(usable[rows], pa.int64())
    filled = pc.if_else(column.is_valid(), values, None).cast(column.type)
    at = before.log_dirs.schema.get_field_index("usable_bytes")
    return replace(
        after, log_dirs=before.log_dirs.set_column(at, "usable_bytes", filled)
    )


def _on_the_same_dirs(
    before: Snapshot, after: Snapshot
) -> tuple[ClusterState, ClusterState]:
    """Return both snapshots as clusters with the same rows of log dirs."""
    states = before.to_state(), after.to_state()
    named = [set(_dir_keys(state)) for state in states]
    if named[0] == named[1]:
        return states
    listed = set(zip(*_columns(before.log_dirs, "broker_id", "path"), strict=True))
    extra = sorted((named[0] | named[1]) - listed)
    rest = [pa.nulls(len(extra), column.type) for column in LOG_DIRS.columns[2:]]
    owners, paths = (list(values) for values in zip(*extra, strict=True))
    arrays = [pa.array(owners, pa.int32()), pa.array(paths, pa.string()), *rest]
    added = pa.Table.from_arrays(arrays, schema=LOG_DIRS.schema)
    table = pa.concat_tables([before.log_dirs, added]).combine_chunks()
    both = [replace(each, log_dirs=table).to_state() for each in (before, after)]
    return both[0], both[1]


def _columns(table: ArrowTable, *names: str) -> list[list[Any]]:
    return [table.column(name).to_pylist() for name in names]


def _dir_keys(state: ClusterState) -> list[tuple[int, str]]:
    """Return broker id and path of each log dir."""
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    return list(zip(owners, state.log_dirs.paths, strict=True))


def _dir_rows(snapshot: Snapshot, state: ClusterState) -> list[int]:
    """Return the row in the state of each log dir of the snapshot."""
    row_of = {key: row for row, key in enumerate(_dir_keys(state))}
    listed = _columns(snapshot.log_dirs, "broker_id", "path")
    return [row_of[key] for key in zip(*listed, strict=True)]


def _rows_of(snapshot: Snapshot, plan: Targets) -> list[int | None]:
    """Return the row of each entry of a plan, `None` if there is none."""
    known = set(snapshot.topics.column("topic").to_pylist()).intersection(plan.topics)
    topics = as_array(snapshot.partitions.column("topic"))
    is_known_topic = pc.is_in(topics, value_set=pa.array(sorted(known), pa.string()))
    candidates = np.flatnonzero(is_known_topic.to_numpy(zero_copy_only=False))
    table = snapshot.partitions.select(["topic", "partition"]).take(
        pa.array(candidates)
    )
    names = zip(*(column.to_pylist() for column in table.columns), strict=True)
    row_of: Mapping[Key, int] = dict(zip(names, candidates.tolist(), strict=True))
    return [row_of.get(key) for key in zip(plan.topics, plan.partitions, strict=True)]


def _problems(
    snapshot: Snapshot, plan: Targets, rows: list[int | None], file: str
) -> Iterator[InputProblem]:
    known = frozenset(snapshot.brokers.column("id").to_pylist())
    dirs_of = _dirs_of(snapshot)
    seen: set[Key] = set()
    for index, key in enumerate(zip(plan.topics, plan.partitions, strict=True)):
        place = f"partitions[{index}] ({key[0]}-{key[1]})"
        if rows[index] is None:
            rule = "the partition must be in the snapshot"
            yield problem(
                file, place, f"{key[0]}-{key[1]}", rule, "take a new snapshot"
            )
        if key in seen:
            yield problem(file, place, None, "a partition must occur once")
        seen.add(key)
        for value, rule in _target_problems(
            plan.replicas[index], plan.log_dirs[index], known, dirs_of
        ):
            yield problem(file, place, value, rule, "correct the plan")


def _target_problems(
    replicas: Sequence[int],
    log_dirs: Sequence[str | None] | None,
    known: frozenset[int],
    dirs_of: Mapping[int, frozenset[str]],
) -> Iterator[tuple[object, str]]:
    if not replicas:
        yield "[]", "a partition must have at least one replica"
    for broker in sorted({b for b in replicas if b not in known}):
        yield broker, f"broker {broker} must be in the snapshot"
    for broker in sorted({b for b in replicas if replicas.count(b) > 1}):
        yield broker, f"broker {broker} must occur once in the replicas"
    if log_dirs is None:
        return
    if len(log_dirs) != len(replicas):
        yield len(log_dirs), f"must have {len(replicas)} log dirs, one per replica"
        return
    for broker, path in zip(replicas, log_dirs, strict=True):
        if path is not None and broker in dirs_of and path not in dirs_of[broker]:
            yield path, f"broker {broker} must list the log dir"


def _dirs_of(snapshot: Snapshot) -> dict[int, frozenset[str]]:
    found: dict[int, set[str]] = {}
    owners = snapshot.log_dirs.column("broker_id").to_pylist()
    paths = snapshot.log_dirs.column("path").to_pylist()
    for broker, path in zip(owners, paths, strict=True):
        found.setdefault(broker, set()).add(path)
    return {broker: frozenset(paths) for broker, paths in found.items()}


def chosen_dirs(snapshot: Snapshot, plan: Targets) -> list[Sequence[str | None] | None]:
    """Return the log dirs of a plan, and those that brokers are certain to choose."""
    if not len(snapshot.log_dirs):
        return list(plan.log_dirs)
    keys = list(zip(plan.topics, plan.partitions, strict=True))
    listed = frozenset(
        zip(*_columns(snapshot.log_dirs, "broker_id", "path"), strict=True)
    )
    state = snapshot.to_state()
    return with_chosen_dirs(state, keys, plan.replicas, plan.log_dirs, listed)


def _planned(
    table: ArrowTable,
    plan: Targets,
    serving: Serving,
    log_dirs: Sequence[Dirs],
) -> ArrowTable:
    """Return the rows of a plan's partitions after the plan, one per entry."""
    columns = {name: python_values(table.column(name)) for name in table.column_names}
    before, targets = columns["replicas"], [list(each) for each in plan.replicas]
    columns["replicas"] = targets
    columns["isr"] = [
        serving.in_sync(entry, target, columns["isr"][entry])
        for entry, target in enumerate(targets)
    ]
    columns["leader"] = [
        serving.leader(entry, isr) for entry, isr in enumerate(columns["isr"])
    ]
    columns["offline_replicas"] = [
        None if each is None else [broker for broker in each if broker in target]
        for each, target in zip(columns["offline_replicas"], targets, strict=True)
    ]
    for name in _CLEARED:
        columns[name] = [None if each is None else [] for each in columns[name]]
    columns["future_log_dirs"] = [
        None if each is None else [None] * len(target)
        for each, target in zip(columns["future_log_dirs"], targets, strict=True)
    ]
    columns["log_dirs"] = [
        dirs_after(*entry)
        for entry in zip(before, columns["log_dirs"], targets, log_dirs, strict=True)
    ]
    columns["replica_bytes"] = [
        bytes_after(*entry)
        for entry in zip(
            before,
            columns["replica_bytes"],
            targets,
            columns["size_bytes"],
            strict=True,
        )
    ]
    arrays = [pa.array(columns[column.name], column.type) for column in _COLUMNS]
    return pa.Table.from_arrays(arrays, schema=PARTITIONS.schema)


_COLUMNS = PARTITIONS.columns


def dirs_after(
    before: list[int],
    dirs: list[str | None] | None,
    target: list[int],
    wanted: Sequence[str | None] | None,
) -> list[str | None] | None:
    """Return the log dir of each replica: the wanted one, else the current one."""
    if dirs is None and wanted is None:
        return None
    kept = dict(zip(before, dirs or [None] * len(before), strict=True))
    named = wanted or [None] * len(target)
    return [
        path if path is not None else kept.get(broker)
        for broker, path in zip(target, named, strict=True)
    ]


def bytes_after(
    before: list[int],
    own: list[int | None] | None,
    target: list[int],
    size_bytes: int | None,
) -> list[int | None] | None:
    """Return the bytes of each replica; new replicas have the partition's size."""
    if own is None:
        return None
    kept = dict(zip(before, own, strict=True))
    return [kept.get(broker, size_bytes) for broker in target]


def _led_by_first(table: ArrowTable, live: frozenset[int]) -> ArrowTable:
    """Elect the preferred leaders; absent leaders already mean these."""
    rows, isr = (Rows.of_ids(table.column(name)) for name in ("replicas", "isr"))
    is_in_sync = np.repeat(isr.is_absent, rows.lengths)
    is_in_sync[find_in_rows(isr, rows)] = True
    is_live = np.isin(rows.values, np.array(sorted(live), dtype=np.int64))
    first = first_in_rows(is_in_sync & is_live, rows.start)
    leader = np.append(rows.values, -1)[first].astype(np.int32)
    was_absent = table.column("leader").is_null()
    column: Any = pc.if_else(was_absent, None, pa.array(leader, pa.int32()))
    at = PARTITIONS.schema.get_field_index("leader")
    return table.set_column(at, "leader", column.cast(pa.int32()))
