"""Snapshots that break one check each, as tables whose integers are wide."""

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from planner.errors import BadInputError
from planner.fleet.arrow_tables import snapshot_tables
from planner.snapshot import Snapshot
from planner.snapshot.tables.snapshot_columns import TABLES
from planner.spark.common.snapshot_headers import header_of
from support.spark import snapshot

TIME = "2026-11-21T08:00:00Z"
Rows = dict[str, list[dict[str, Any]]]
Change = Callable[[Rows], None]
TABLE_NAMES = ("clusters", *(each.name for each in TABLES))


def _set(table: str, **values: Any) -> Change:
    """Change the first row of a table."""

    def change(rows: Rows) -> None:
        rows[table][0].update(values)

    return change


def _again(table: str) -> Change:
    """Repeat the first row of a table."""

    def change(rows: Rows) -> None:
        rows[table].append(dict(rows[table][0]))

    return change


def _configured(table: str, value: str) -> Change:
    return _set(table, configs=[("min.insync.replicas", value)])


WRONG: dict[str, Change] = {
    "controller-twice": _set("clusters", controllers=[{"id": 1}, {"id": 1}]),
    "min-isr-of-cluster": _configured("clusters", "two"),
    "feature-below-0": _set("clusters", features=[("metadata.version", -1)]),
    "broker-twice": _again("brokers"),
    "broker-id-below-0": _set("brokers", id=-7),
    "broker-id-beyond-32-bits": _set("brokers", id=2**32 + 1),
    "broker-without-id": _set("brokers", id=None),
    "state-of-no-broker": _set("brokers", state="asleep"),
    "disk-below-0": _set("brokers", disk_bytes=-1),
    "disk-of-other-size": _set("brokers", disk_bytes=999),
    "cores-not-a-number": _set("brokers", cpu_cores=float("nan")),
    "rate-of-broker-infinite": _set("brokers", in_bytes_per_s=float("inf")),
    "brokers-too-much": _set("brokers", max_replicas=2**62),
    "log-dir-of-nobody": _set("log_dirs", broker_id=77),
    "log-dir-twice": _again("log_dirs"),
    "log-dir-without-path": _set("log_dirs", path=""),
    "log-dir-path-null": _set("log_dirs", path=None),
    "more-usable-than-size": _set("log_dirs", usable_bytes=601),
    "topic-name": _set("topics", topic="two words"),
    "topic-named-by-partition": _set("partitions", topic="two words"),
    "topic-twice": _again("topics"),
    "min-isr-of-topic": _configured("topics", "0"),
    "storage-of-no-kind": _set("topics", storage="tape"),
    "partition-twice": _again("partitions"),
    "partition-below-0": _set("partitions", partition=-1),
    "partition-beyond-32-bits": _set("partitions", partition=2**32),
    "partition-without-topic": _set("partitions", topic=None),
    "no-replicas": _set("partitions", replicas=[], log_dirs=None, isr=[], leader=None),
    "replicas-null": _set("partitions", replicas=None, log_dirs=None, isr=None),
    "replica-null": _set("partitions", replicas=[1, None]),
    "replica-beyond-32-bits": _set("partitions", replicas=[1, 2**32 + 2]),
    "replica-twice": _set("partitions", replicas=[1, 1], isr=[1]),
    "replica-on-no-broker": _set("partitions", replicas=[1, 77], isr=[1]),
    "leader-elsewhere": _set("partitions", leader=3),
    "leader-on-no-broker": _set("partitions", leader=77),
    "leader-below-none": _set("partitions", leader=-2),
    "isr-elsewhere": _set("partitions", isr=[1, 3]),
    "isr-on-no-broker": _set("partitions", isr=[1, 77]),
    "isr-twice": _set("partitions", isr=[2, 2]),
    "elr-twice": _set("partitions", elr=[2, 2]),
    "last-known-elr-twice": _set("partitions", last_known_elr=[3, 3]),
    "adding-elsewhere": _set("partitions", adding_replicas=[3]),
    "removing-twice": _set("partitions", removing_replicas=[2, 2]),
    "offline-elsewhere": _set("partitions", offline_replicas=[3]),
    "all-adding": _set("partitions", adding_replicas=[1, 2]),
    "log-dirs-too-few": _set("partitions", log_dirs=["/d1"]),
    "future-log-dirs-too-many": _set("partitions", future_log_dirs=["/d1"] * 3),
    "sizes-too-few": _set("partitions", replica_bytes=[1]),
    "log-dir-not-listed": _set("partitions", log_dirs=["/d1", "/d3"]),
    "future-log-dir-not-listed": _set("partitions", future_log_dirs=[None, "/d3"]),
    "log-dir-empty": _set("partitions", log_dirs=["/d1", ""]),
    "size-below-0": _set("partitions", size_bytes=-1),
    "own-size-below-0": _set("partitions", replica_bytes=[1, -1]),
    "remote-size-below-0": _set("partitions", remote_bytes=-1),
    "rate-below-0": _set("partitions", in_bytes_per_s=-0.5),
    "rate-not-a-number": _set("partitions", out_bytes_per_s=float("nan")),
    "rate-infinite": _set("partitions", in_bytes_per_s=float("inf")),
    "rate-too-high": _set("partitions", in_bytes_per_s=1e19),
    "cores-below-0": _set("partitions", leader_cpu_cores=-1.0),
    "sizes-too-much": _set("partitions", replica_bytes=[2**61, 2**61]),
    "remote-too-much": _set("partitions", remote_bytes=2**62),
}
"""Changes that break a check, by the name of the cluster."""


def _no_rows(*tables: str) -> Change:
    def change(rows: Rows) -> None:
        for table in tables:
            rows[table] = []

    return change


def _topic_to_come(rows: Rows) -> None:
    rows["topics"].append({"topic": "to-come"})


LOADING: dict[str, Change] = {
    "numbers-missing": _set("partitions", partition=4),
    "topic-without-partitions": _topic_to_come,
    "topics-without-any": _no_rows("partitions"),
    "neither-topics-nor-partitions": _no_rows("topics", "partitions"),
}
"""Changes that leave a table as if it were still being loaded, likewise."""

SOUND: dict[str, Change | None] = {
    "good": None,
    "elr-of-former-replica": _set("partitions", elr=[3]),
    "last-known-elr-of-former-replica": _set("partitions", last_known_elr=[3, 77]),
}
"""Changes that break no check, likewise."""


def wide(kind: pa.DataType) -> pa.DataType:
    """Return a type whose integers are of 64 bits, so that none is cut on the way."""
    if pa.types.is_list(kind):
        return pa.list_(wide(kind.value_type))
    return pa.int64() if kind == pa.int32() else kind


def tables_of(name: str, change: Change | None = None) -> dict[str, pa.Table]:
    """Return the tables of a small snapshot, changed."""
    plain = snapshot_tables(snapshot(name, TIME), name=name)
    rows: Rows = {table: plain[table].to_pylist() for table in TABLE_NAMES}
    key = {column: rows["clusters"][0][column] for column in ("cluster_id", "taken_at")}
    if change is not None:
        change(rows)
    tables = {}
    for table in TABLE_NAMES:
        fields = [(f.name, wide(f.type)) for f in plain[table].schema]
        keyed = [row | key for row in rows[table]]
        tables[table] = pa.Table.from_pylist(keyed, schema=pa.schema(fields))
    return tables


def together(cases: Iterable[dict[str, pa.Table]]) -> dict[str, pa.Table]:
    """Return the tables of several snapshots."""
    every = list(cases)
    return {
        table: pa.concat_tables([each[table] for each in every]).combine_chunks()
        for table in TABLE_NAMES
    }


def wrong_fleet() -> dict[str, pa.Table]:
    """Return every snapshot that is wrong, every one to come, and every sound one."""
    cases = {**SOUND, **WRONG, **LOADING}
    return together(tables_of(name, change) for name, change in cases.items())


def read_as_file(tables: dict[str, pa.Table]) -> Snapshot:
    """
    Return the tables of one snapshot as reading its file does.

    Raises
    ------
    BadInputError
        If a check is broken.
    """
    (row,) = tables["clusters"].to_pylist()
    header = header_of(row, row["cluster_id"], 1)
    own = {
        name: table.drop_columns(["cluster_id", "taken_at"])
        for name, table in tables.items()
        if name != "clusters"
    }
    return Snapshot.from_tables(own, header)


def rules_of_file(tables: dict[str, pa.Table]) -> set[str]:
    """Return the rules that reading the file of a snapshot says are broken."""
    try:
        read_as_file(tables)
    except BadInputError as error:
        return {problem.rule for problem in error.problems}
    return set()
