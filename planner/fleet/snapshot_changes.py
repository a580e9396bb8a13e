"""
Changes between two snapshots of a cluster, and the progress of plans between them.

The module works without Spark.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import BoolArray, IntArray
from planner.errors import BadInputError
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.snapshot.tables.table_rows import Rows

Tables = Mapping[str, ArrowTable]
_KEY = ("topic", "partition")
_NAMES = ("topic", "topic_id")
_IDS = pa.list_(pa.int32())
COUNTS = (
    "copies",
    "bytes",
    "dropped_replicas",
    "changed_partitions",
    "leader_changes",
    "first_replica_changes",
    "log_dir_moves",
    "log_dir_bytes",
    "new_partitions",
    "gone_partitions",
    "new_brokers",
    "gone_brokers",
)
SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", pa.timestamp("us", tz="UTC")),
        ("before", pa.timestamp("us", tz="UTC")),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("from_brokers", _IDS),
        ("to_brokers", _IDS),
        *((name, pa.int64()) for name in COUNTS),
        ("reason", pa.string()),
    ]
)
"""
Columns of a table of changes: a row per changed partition, and one without a topic for
the totals. `reason` is set if a snapshot could not be read.
"""
DRIFT_SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", pa.timestamp("us", tz="UTC")),
        ("planned_at", pa.timestamp("us", tz="UTC")),
        ("request", pa.string()),
        ("status", pa.string()),
        ("completed", pa.int64()),
        ("in_progress", pa.int64()),
        ("not_started", pa.int64()),
        ("superseded", pa.int64()),
        ("differs", pa.int64()),
        ("num_findings", pa.int64()),
        ("loads", pa.string()),
        ("plan_fingerprint", pa.string()),
        ("reason", pa.string()),
        ("request_hash", pa.string()),
    ]
)
"""Columns of a table of plans compared with later snapshots."""


def change_table(before: Tables, after: Tables, *, taken_before: int) -> ArrowTable:
    """
    Return the changes from one snapshot of a cluster to the next.

    A copy is a replica on a broker that had no replica of the partition. Its bytes are
    the size of the partition before, or else after; 0 if the topic has shared storage.
    A topic that was recreated, with another id, counts as gone and as new. An unknown
    leader counts as the first replica.

    Parameters
    ----------
    before, after
        Tables of the two snapshots by name.
    taken_before
        Time of the first snapshot in microseconds since 1970.

    Returns
    -------
    The columns of `SCHEMA`, without `cluster_id` and `taken_at`.
    """
    pairs = _Pairs(before, after)
    columns = pairs.columns()
    counts = {name: int(columns[name].sum()) for name in columns if name in COUNTS}
    gone, new = _set_sizes(before["brokers"], after["brokers"])
    whole = counts | {
        "changed_partitions": int(pairs.is_changed.sum()),
        "new_partitions": len(after["partitions"]) - len(pairs.new_row),
        "gone_partitions": len(before["partitions"]) - len(pairs.old_row),
        "new_brokers": new,
        "gone_brokers": gone,
    }
    detail = pairs.detail(columns)
    moment = pa.scalar(taken_before, pa.int64()).cast(SCHEMA.field("before").type)
    total = pa.Table.from_pylist([whole], schema=_without(SCHEMA, "before", "reason"))
    rows = pa.concat_tables([total, detail.cast(total.schema)])
    no_reason = pa.nulls(len(rows), pa.string())
    return rows.append_column("before", pa.repeat(moment, len(rows))).append_column(
        "reason", no_reason
    )


def unreadable_change(taken_before: int, reason: str) -> ArrowTable:
    """
    Return the row of two snapshots with a file that cannot be read.

    Parameters
    ----------
    taken_before
        Time of the first snapshot in microseconds since 1970.
    reason
        Name of the file, and the error.
    """
    row = {"before": _moment(taken_before), "reason": reason}
    return pa.Table.from_pylist([row], schema=_without(SCHEMA))


def _moment(micros: int) -> Any:  # noqa: ANN401 - a datetime
    return pa.scalar(micros, pa.int64()).cast(SCHEMA.field("before").type).as_py()


def _without(schema: Any, *names: str) -> Any:  # noqa: ANN401 - Arrow schemas
    left_out = {"cluster_id", "taken_at", *names}
    return pa.schema([field for field in schema if field.name not in left_out])


def _set_sizes(before: ArrowTable, after: ArrowTable) -> tuple[int, int]:
    """Return the number of brokers that are gone, and of new ones."""
    old, new = (set(table.column("id").to_pylist()) for table in (before, after))
    return len(old - new), len(new - old)


class _Pairs:
    """Partitions that both snapshots have, as pairs of rows."""

    def __init__(self, before: Tables, after: Tables) -> None:
        self.old, self.new = before["partitions"], after["partitions"]
        self.shared = _shared_topics(after["topics"])
        self.old_row, self.new_row = _matched(self.old, self.new)
        same = _is_same_topic(before["topics"], after["topics"], self._topics())
        self.old_row, self.new_row = self.old_row[same], self.new_row[same]
        old_ids, self.old_pair = self._replicas(self.old, self.old_row)
        new_ids, self.new_pair = self._replicas(self.new, self.new_row)
        self.old_key = self.old_pair << 32 | old_ids
        self.new_key = self.new_pair << 32 | new_ids
        self.is_copied = ~np.isin(self.new_key, self.old_key)
        self.is_dropped = ~np.isin(self.old_key, self.new_key)
        self.is_changed = np.zeros(len(self.new_row), dtype=bool)

    def _topics(self) -> ArrowTable:
        return self.new.column("topic").take(pa.array(self.new_row))

    def _replicas(self, table: ArrowTable, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the broker and the pair of each replica."""
        listed = Rows.of_ids(table.column("replicas").take(pa.array(rows)))
        return listed.values.astype(np.int64), listed.row_idx

    def _counted(self, pair: IntArray, flags: BoolArray) -> IntArray:
        counted: IntArray = np.bincount(pair[flags], minlength=len(self.new_row))
        return counted

    def columns(self) -> dict[str, IntArray]:
        """Return the counts of changes, each a column over pairs."""
        copies = self._counted(self.new_pair, self.is_copied)
        dropped = self._counted(self.old_pair, self.is_dropped)
        size = self._sizes()
        moves = self._log_dir_moves()
        firsts = _firsts(self.old, self.old_row), _firsts(self.new, self.new_row)
        leaders = _leaders(self.old, self.old_row), _leaders(self.new, self.new_row)
        columns = {
            "copies": copies,
            "bytes": copies * size,
            "dropped_replicas": dropped,
            "leader_changes": np.not_equal(*leaders).astype(np.int64),
            "first_replica_changes": np.not_equal(*firsts).astype(np.int64),
            "log_dir_moves": moves,
            "log_dir_bytes": moves * size,
        }
        for column in columns.values():
            self.is_changed |= column > 0
        return columns

    def _sizes(self) -> IntArray:
        sizes = [
            table.column("size_bytes").take(pa.array(rows))
            for table, rows in ((self.old, self.old_row), (self.new, self.new_row))
        ]
        known = pc.fill_null(pc.coalesce(*sizes), 0).to_numpy()
        shared = pc.is_in(self._topics(), value_set=self.shared)
        size: IntArray = np.where(shared.to_numpy(), 0, known)
        return size

    def _log_dir_moves(self) -> IntArray:
        """Count, per pair, replicas in another log dir of the same broker."""
        old, new = (
            self._paths(table, rows, key)
            for table, rows, key in (
                (self.old, self.old_row, self.old_key),
                (self.new, self.new_row, self.new_key),
            )
        )
        stays = np.isin(self.new_key, self.old_key)
        order = np.argsort(self.old_key, kind="stable")
        at = order[np.searchsorted(self.old_key, self.new_key[stays], sorter=order)]
        here = pa.array(new).take(pa.array(np.nonzero(stays)[0]))
        differs = pc.fill_null(
            pc.not_equal(pa.array(old).take(pa.array(at)), here), False
        )
        flags = np.zeros(len(stays), dtype=bool)
        flags[stays] = differs.to_numpy(zero_copy_only=False)
        return self._counted(self.new_pair, flags)

    def _paths(self, table: ArrowTable, rows: IntArray, key: IntArray) -> Any:  # noqa: ANN401 - Arrow strings
        """Return the log dir of each replica; null if unknown."""
        listed = Rows.from_arrow(table.column("log_dirs").take(pa.array(rows)))
        ids = Rows.of_ids(table.column("replicas").take(pa.array(rows)))
        slot = np.arange(len(key)) - ids.start[:-1][ids.row_idx]
        at = listed.start[:-1][ids.row_idx] + slot
        is_known = slot < listed.lengths[ids.row_idx]
        return listed.values.take(pa.array(at, pa.int64(), mask=~is_known))

    def detail(self, columns: Mapping[str, IntArray]) -> ArrowTable:
        """Return a row per changed partition."""
        rows = np.nonzero(self.is_changed)[0]
        named = {
            "topic": self._topics().take(pa.array(rows)),
            "partition": self.new.column("partition").take(
                pa.array(self.new_row[rows])
            ),
            "from_brokers": _lists(self.old_key, self.old_pair, self.is_dropped, rows),
            "to_brokers": _lists(self.new_key, self.new_pair, self.is_copied, rows),
        }
        arrays = []
        for each in _without(SCHEMA, "before", "reason"):
            if each.name in named:
                arrays.append(named[each.name])
            elif each.name in columns:
                arrays.append(pa.array(columns[each.name][rows], each.type))
            else:
                arrays.append(pa.nulls(len(rows), each.type))
        return pa.Table.from_arrays(arrays, schema=_without(SCHEMA, "before", "reason"))


def _matched(old: ArrowTable, new: ArrowTable) -> tuple[IntArray, IntArray]:
    """Return the rows of partitions in both tables, in the order of the new table."""
    numbered = [
        table.select(list(_KEY)).append_column(name, pa.array(np.arange(len(table))))
        for table, name in ((old, "old"), (new, "new"))
    ]
    both = numbered[0].join(numbered[1], list(_KEY), join_type="inner").sort_by("new")
    return both.column("old").to_numpy(), both.column("new").to_numpy()


def _shared_topics(topics: ArrowTable) -> ArrowTable:
    is_shared = pc.fill_null(pc.equal(topics.column("storage"), "shared"), False)
    return topics.column("topic").filter(is_shared).combine_chunks()


def _is_same_topic(
    before: ArrowTable, after: ArrowTable, names: ArrowTable
) -> BoolArray:
    """Return true for partitions whose topic was not recreated in between."""
    old, new = (
        dict(zip(*(table.column(c).to_pylist() for c in _NAMES), strict=True))
        for table in (before, after)
    )
    recreated = [
        name
        for name, topic_id in new.items()
        if topic_id and old.get(name) and old[name] != topic_id
    ]
    found = pc.is_in(names, value_set=pa.array(recreated, pa.string()))
    same: BoolArray = ~found.to_numpy()
    return same


def _firsts(table: ArrowTable, rows: IntArray) -> IntArray:
    listed = Rows.of_ids(table.column("replicas").take(pa.array(rows)))
    firsts = np.full(len(rows), -1, dtype=np.int64)
    has = listed.lengths > 0
    firsts[has] = listed.values[listed.start[:-1][has]]
    return firsts


def _leaders(table: ArrowTable, rows: IntArray) -> IntArray:
    listed = table.column("leader").take(pa.array(rows))
    leaders: IntArray = pc.coalesce(
        listed.cast(pa.int64()), pa.array(_firsts(table, rows))
    ).to_numpy()
    return leaders


def _lists(
    key: IntArray, pair: IntArray, flags: BoolArray, rows: IntArray
) -> ArrowTable:
    """Return the brokers of flagged replicas as one list per chosen pair."""
    chosen = flags & np.isin(pair, rows)
    lengths = np.bincount(pair[chosen], minlength=int(pair.max(initial=-1)) + 1)[rows]
    start = np.zeros(len(rows) + 1, dtype=np.int32)
    np.cumsum(lengths, out=start[1:])
    brokers = pa.array((key[chosen] & 0xFFFFFFFF).astype(np.int32))
    return pa.ListArray.from_arrays(pa.array(start), brokers)


def drift_rows(
    plans: ArrowTable,
    tables: Tables,
    header: Mapping[str, Any],
    *,
    planned_at: int,
    flaw: str = "",
) -> Iterator[dict[str, Any]]:
    """
    Yield a row with the progress of each plan of a cluster by a later snapshot.

    Parameters
    ----------
    plans
        Rows of a table of plans: `request`, `request_hash`, `plan`, `files`,
        `fingerprint`.
    tables, header
        Tables and header of the later snapshot.
    planned_at
        Time of the planned snapshot in microseconds since 1970.
    flaw
        Reason why the later snapshot cannot be read; empty if it can.
    """
    state, reason = (None, flaw) if flaw else _state(tables, header)
    moment = _moment(planned_at)
    for plan in plans.to_pylist():
        if plan["plan"] is None:
            continue
        row = {
            "planned_at": moment,
            "request": plan["request"],
            "request_hash": plan.get("request_hash"),
            "plan_fingerprint": plan["fingerprint"],
        }
        if state is None:
            yield row | {"status": "unknown", "reason": reason}
        else:
            yield row | _drift(state, plan)


def _state(tables: Tables, header: Mapping[str, Any]) -> tuple[Any, str]:
    """Return a cluster and an empty reason; or `None` and the reason."""
    from planner.snapshot import Snapshot

    try:
        return Snapshot.from_tables(tables, header).to_state(), ""
    except BadInputError as error:
        return None, "; ".join([error.message, *map(str, error.problems[:5])])


def _drift(state: Any, plan: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - ClusterState
    from planner.kafka_files.reassignment_file import parse_reassignment
    from planner.plan.input.plan_input import lists_before
    from planner.verify import verify
    from planner.verify.predicted_loads import compare_loads

    targets, before = (
        parse_reassignment(json.loads(text), file=name)
        for name, text in plan["files"]
        if name in {"reassignment.json", "rollback.json"}
    )
    document = json.loads(plan["plan"])
    known = lists_before(before, document, place="plan.json, not_in_rollback")
    found = verify(state, targets, rollback=known)
    compared = compare_loads(state, document["after"])
    return {
        "status": found.overall.value,
        **found.counts,
        "num_findings": sum(finding.count for finding in found.findings),
        "loads": json.dumps([each.model_dump() for each in compared]),
    }
