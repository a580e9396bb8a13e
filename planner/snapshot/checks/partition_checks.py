"""Consistency checks of partitions, their lists and the brokers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import BoolArray
from placement.model.cluster import ABSENT, twice_on_a_broker
from planner.snapshot.checks.broker_checks import overflow_findings, total_of
from planner.snapshot.tables.snapshot_columns import MAX_INT32, ArrowArray
from planner.snapshot.tables.snapshot_problems import Finding
from planner.snapshot.tables.table_facts import Facts, codes_of, repeated_rows
from planner.snapshot.tables.table_rows import Rows, find_in_rows

PARTITION_ONCE = "a topic must list a partition once"
_REPLICA_COLUMNS = ("isr", "adding_replicas", "removing_replicas", "offline_replicas")
"""Lists of replicas of a partition."""
_ELIGIBLE_COLUMNS = ("elr", "last_known_elr")
"""
Lists that may name former replicas: the controller adds the ISR to them and does not
look at the replicas that a reassignment has removed.
"""


def _duplicate_partitions(facts: Facts) -> Iterator[Finding]:
    number = facts.numbers("partitions", "partition").astype(np.int64)
    topic = codes_of(facts.column("partitions", "topic"))
    key = topic * (MAX_INT32 + 1) + number
    if np.all(key[1:] > key[:-1]):
        return
    for row in repeated_rows(key):
        yield Finding(
            table="partitions",
            row=row,
            column="partition",
            value=int(number[row]),
            rule=PARTITION_ONCE,
            remedy="remove or merge the second record",
        )


def _empty_replicas(facts: Facts) -> Iterator[Finding]:
    for row in np.flatnonzero(facts.replicas.lengths == 0).tolist():
        yield Finding(
            table="partitions",
            row=row,
            column="replicas",
            value="[]",
            rule="a partition must have at least one replica",
            remedy="list the brokers of its replicas, or remove the partition",
        )


def unknown_broker_rule(broker: int) -> str:
    """Return the rule that a replica on a broker outside the snapshot violates."""
    return f"a replica must be on a broker of the snapshot; it lacks {broker}"


def _unknown_brokers(facts: Facts) -> Iterator[Finding]:
    rows = facts.replicas
    is_unknown = ~np.isin(rows.values, facts.broker_ids)
    at = np.flatnonzero(is_unknown)
    for row, broker in zip(
        rows.row_idx[at].tolist(), rows.values[at].tolist(), strict=True
    ):
        yield Finding(
            table="partitions",
            row=row,
            column="replicas",
            value=broker,
            rule=unknown_broker_rule(broker),
            remedy="add the broker, with state dead if it is gone",
        )


def _duplicate_members(facts: Facts) -> Iterator[Finding]:
    for name in ("replicas", *_REPLICA_COLUMNS, *_ELIGIBLE_COLUMNS):
        rows = facts.members(name)
        for row, broker in twice_on_a_broker(rows.values, rows.start):
            yield Finding(
                table="partitions",
                row=row,
                column=name,
                value=broker,
                rule=f"{name} must list a broker once; it lists {broker} twice",
                remedy="remove the second one",
            )


def _leaders(facts: Facts) -> Iterator[Finding]:
    leader = facts.numbers("partitions", "leader")
    has_leader = np.greater_equal(leader, 0)
    start = np.zeros(len(leader) + 1, dtype=np.int64)
    np.cumsum(has_leader, out=start[1:])
    wanted = Rows(start, leader[has_leader], ~has_leader)
    is_unlisted = find_in_rows(wanted, facts.replicas) == ABSENT
    for row in np.flatnonzero(has_leader)[is_unlisted].tolist():
        yield Finding(
            table="partitions",
            row=row,
            column="leader",
            value=int(leader[row]),
            rule="the leader must be one of the replicas",
            remedy="write null if there is no leader",
        )


def _members(facts: Facts) -> Iterator[Finding]:
    for name in _REPLICA_COLUMNS:
        rows = facts.members(name)
        at = np.flatnonzero(find_in_rows(rows, facts.replicas) == ABSENT)
        for row, broker in zip(
            rows.row_idx[at].tolist(), rows.values[at].tolist(), strict=True
        ):
            yield Finding(
                table="partitions",
                row=row,
                column=name,
                value=broker,
                rule=f"{name} must be among the replicas; {broker} is not",
                remedy=f"remove it from {name}, or add it to replicas",
            )


def _all_adding(facts: Facts) -> Iterator[Finding]:
    adding = facts.members("adding_replicas").lengths
    replicas = facts.replicas.lengths
    for row in np.flatnonzero((adding >= replicas) & (replicas > 0)).tolist():
        yield Finding(
            table="partitions",
            row=row,
            column="adding_replicas",
            value=int(adding[row]),
            rule="at least one replica must not be adding, as it holds the data",
            remedy="list the target replicas first, then the replicas being removed",
        )


def _lengths(facts: Facts) -> Iterator[Finding]:
    for name in ("log_dirs", "future_log_dirs", "replica_bytes"):
        rows = Rows.from_arrow(facts.column("partitions", name))
        is_other = rows.lengths != facts.replicas.lengths
        for row in np.flatnonzero(is_other & ~rows.is_absent).tolist():
            yield Finding(
                table="partitions",
                row=row,
                column=name,
                value=int(rows.lengths[row]),
                rule=f"{name} must have an element for each of the "
                f"{facts.replicas.lengths[row]} replicas",
                remedy="write null if it is unknown",
            )


def _named_log_dirs(facts: Facts) -> Iterator[Finding]:
    for name in ("log_dirs", "future_log_dirs"):
        rows = Rows.from_arrow(facts.column("partitions", name))
        row, broker, path = _named(rows, facts.replicas)
        is_unlisted = _is_unlisted(facts, broker, path)
        for at in np.flatnonzero(is_unlisted).tolist():
            yield Finding(
                table="partitions",
                row=int(row[at]),
                column=name,
                value=path[at].as_py() or '""',
                rule=f"broker {broker[at]} must list the log dir",
                remedy="add it to the log_dirs of the broker, or write null",
            )


def _named(
    rows: Rows, replicas: Rows
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], ArrowArray]:
    """Return partition, broker and path of each log dir of a replica."""
    is_aligned = rows.lengths == replicas.lengths
    row = rows.row_idx
    is_named = rows.values.is_valid().to_numpy(zero_copy_only=False)
    at = np.flatnonzero(is_named & is_aligned[row])
    row = row[at]
    broker = replicas.values[at - rows.start[row] + replicas.start[row]]
    return row, broker, rows.values.take(pa.array(at))


def _is_unlisted(
    facts: Facts,
    broker: npt.NDArray[Any],
    path: ArrowArray,
) -> BoolArray:
    """Return true for empty paths, and those that a broker with log dirs lacks."""
    owner = facts.numbers("log_dirs", "broker_id").astype(np.int64)
    encoded = path.dictionary_encode()
    paths = encoded.dictionary
    width = len(paths) + 1
    listed = pc.index_in(facts.column("log_dirs", "path"), value_set=paths)
    listed_code = listed.fill_null(len(paths)).to_numpy(zero_copy_only=False)
    code = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    # Many replicas share few (broker, path) pairs: look up each pair once.
    pairs, back = _distinct(broker.astype(np.int64) * width + code)
    is_known = np.isin(pairs, owner * width + listed_code)
    has_dirs = np.isin(pairs // width, owner)
    is_empty = pc.equal(paths, "").to_numpy(zero_copy_only=False)
    is_unlisted = (has_dirs & ~is_known) | is_empty[pairs % width]
    return is_unlisted[back]  # type: ignore[no-any-return]


def _distinct(
    keys: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return `numpy.unique` with its inverse, by hashing instead of sorting."""
    encoded = pa.array(keys).dictionary_encode()
    return (
        encoded.dictionary.to_numpy(zero_copy_only=False),
        encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64),
    )


def _totals(facts: Facts) -> Iterator[Finding]:
    size = facts.numbers("partitions", "size_bytes").astype(np.float64).clip(min=0)
    own = Rows.from_arrow(facts.column("partitions", "replica_bytes")).values
    totals = {
        "size_bytes": float((size * facts.replicas.lengths).sum()),
        "replica_bytes": total_of(own),
        "remote_bytes": total_of(facts.column("partitions", "remote_bytes")),
    }
    for name, total in totals.items():
        yield from overflow_findings("partitions", name, total)


PARTITION_CHECKS = (
    _empty_replicas,
    _duplicate_members,
    _leaders,
    _members,
    _all_adding,
    _lengths,
)
"""Checks of each partition by itself."""
PLACE_CHECKS = (_unknown_brokers, _named_log_dirs)
"""Checks of the places of replicas, which need the brokers and their log dirs."""
ALL_PARTITION_CHECKS = (_duplicate_partitions, _totals)
"""Checks of all partitions at once."""
