"""Snapshot during the copies of a plan, to determine the effect of failures."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from planner.snapshot.actions.apply_plan import (
    Targets,
    bytes_after,
    chosen_dirs,
    dirs_after,
    insert_rows,
    rows_of_plan,
    without_rows,
)
from planner.snapshot.actions.chosen_dirs import Dirs
from planner.snapshot.actions.serving_replicas import Serving, serving_of
from planner.snapshot.formats.json_file import python_values
from planner.snapshot.snapshot_document import Snapshot
from planner.snapshot.tables.snapshot_columns import PARTITIONS, ArrowTable


def start_plan(snapshot: Snapshot, plan: Targets, *, file: str = "plan") -> Snapshot:
    """
    Return the snapshot after a plan was submitted, before anything is copied.

    As in Kafka, the replicas of a partition are those of the plan, then those that are
    removed. New replicas are being added and not in sync; leaders and ISR stay. An
    earlier reassignment is superseded.

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
    started = _started(table.take(pa.array(at)), plan, serving_of(snapshot, at), chosen)
    together = insert_rows(without_rows(table, at), started, at)
    return replace(snapshot, partitions=together)


@dataclass(frozen=True, slots=True)
class _Change:
    """Replicas of one partition that stay, are added and are removed."""

    before: list[int]
    base: list[int]
    target: list[int]

    @property
    def replicas(self) -> list[int]:
        return self.target + self.removing

    @property
    def adding(self) -> list[int]:
        return [broker for broker in self.target if broker not in self.base]

    @property
    def removing(self) -> list[int]:
        return [broker for broker in self.base if broker not in self.target]


def _started(
    table: ArrowTable, plan: Targets, serving: Serving, log_dirs: Sequence[Dirs]
) -> ArrowTable:
    columns = {name: python_values(table.column(name)) for name in table.column_names}
    added = [set(each or ()) for each in columns["adding_replicas"]]
    changes = [
        _Change(list(before), [b for b in before if b not in new], list(target))
        for before, new, target in zip(
            columns["replicas"], added, plan.replicas, strict=True
        )
    ]
    rows = range(len(changes))
    columns["isr"] = [
        serving.online(n, changes[n].base)
        if isr is None
        else [b for b in isr if b in changes[n].replicas]
        for n, isr in enumerate(columns["isr"])
    ]
    columns["leader"] = [
        leader if leader in (-1, *change.replicas) else _first(serving, n, change, isr)
        for n, (change, leader, isr) in enumerate(
            zip(changes, columns["leader"], columns["isr"], strict=True)
        )
    ]
    for name in ("elr", "last_known_elr", "offline_replicas"):
        columns[name] = [
            None if each is None else [b for b in each if b in changes[n].replicas]
            for n, each in enumerate(columns[name])
        ]
    columns["log_dirs"] = [
        dirs_after(
            changes[n].before,
            columns["log_dirs"][n],
            changes[n].replicas,
            _dirs_of_new(changes[n], log_dirs[n]),
        )
        for n in rows
    ]
    columns["future_log_dirs"] = [
        None if each is None else [None] * len(changes[n].replicas)
        for n, each in enumerate(columns["future_log_dirs"])
    ]
    columns["replica_bytes"] = [
        bytes_after(
            changes[n].before,
            columns["replica_bytes"][n],
            changes[n].replicas,
            columns["size_bytes"][n],
        )
        for n in rows
    ]
    columns["replicas"] = [change.replicas for change in changes]
    columns["adding_replicas"] = [change.adding for change in changes]
    columns["removing_replicas"] = [change.removing for change in changes]
    arrays = [pa.array(columns[each.name], each.type) for each in PARTITIONS.columns]
    return pa.Table.from_arrays(arrays, schema=PARTITIONS.schema)


def _first(serving: Serving, entry: int, change: _Change, isr: Sequence[int]) -> int:
    """Return the leader if none is given: the first live replica in the ISR."""
    return next((b for b in serving.online(entry, change.base) if b in isr), -1)


def _dirs_of_new(
    change: _Change, wanted: Sequence[str | None] | None
) -> list[Any] | None:
    """Return the log dirs that the plan names for added replicas."""
    if wanted is None:
        return None
    named = dict(zip(change.target, wanted, strict=True))
    return [named.get(b) if b in change.adding else None for b in change.replicas]
