"""Tables of one snapshot from the merged contents of several files."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from planner.errors import InputProblem
from planner.snapshot.checks.record_checks import findings
from planner.snapshot.importers.inputs.input_text import harmless
from planner.snapshot.importers.merging.joined_replicas import ReplicaDirs
from planner.snapshot.importers.merging.ledger import (
    Origin,
    PartitionLedger,
    RecordLedger,
)
from planner.snapshot.tables.snapshot_columns import (
    BROKERS,
    LOG_DIRS,
    PARTITIONS,
    TOPICS,
    ArrowTable,
    TableColumns,
)
from planner.snapshot.tables.snapshot_problems import Finding
from planner.snapshot.tables.table_facts import Facts

Tables = Mapping[str, ArrowTable]


def tables_of(
    brokers: Mapping[int, Mapping[str, Any]],
    log_dirs: RecordLedger,
    topics: RecordLedger,
    partitions: PartitionLedger,
    dirs: ReplicaDirs,
) -> Tables:
    """
    Build the tables of a snapshot, with rows in the order of the files.

    Parameters
    ----------
    brokers
        Records by id.
    log_dirs, topics, partitions
        Ledgers of the files' contents.
    dirs
        Log dirs of the replicas.
    """
    names: dict[str, dict[str, Any]] = {topic: {} for topic in partitions.topics}
    # With `--allow-partial`, settings of topics that no file lists are ignored.
    names |= {name: one for name, one in topics.values.items() if name in names}
    keys = list(log_dirs.values)
    return {
        "brokers": _table(BROKERS, {"id": list(brokers)}, list(brokers.values())),
        "log_dirs": _table(
            LOG_DIRS,
            {"broker_id": [b for b, _ in keys], "path": [path for _, path in keys]},
            list(log_dirs.values.values()),
        ),
        "topics": _table(TOPICS, {"topic": list(names)}, list(names.values())),
        "partitions": _partition_table(partitions, dirs),
    }


def _table(
    columns: TableColumns,
    keys: Mapping[str, list[Any]],
    records: list[Mapping[str, Any]],
) -> ArrowTable:
    arrays = []
    for column in columns.columns:
        values = keys.get(column.name) or [r.get(column.name) for r in records]
        if pa.types.is_map(column.type):
            values = [v if v is None else sorted(v.items()) for v in values]
        arrays.append(pa.array(values, column.type))
    return pa.Table.from_arrays(arrays, schema=columns.schema)


def _partition_table(partitions: PartitionLedger, dirs: ReplicaDirs) -> ArrowTable:
    sizes, own = dirs.sizes()
    listed_sizes = partitions.column("size_bytes")
    values: dict[str, list[Any]] = {
        "topic": partitions.topics,
        "partition": partitions.partitions,
        "log_dirs": dirs.path_lists(dirs.paths),
        "future_log_dirs": dirs.path_lists(dirs.future_paths),
        "size_bytes": [
            t if s is None else s for s, t in zip(sizes, listed_sizes, strict=True)
        ],
        "replica_bytes": own,
    }
    arrays = [
        pa.array(values.get(column.name) or partitions.column(column.name), column.type)
        for column in PARTITIONS.columns
    ]
    return pa.Table.from_arrays(arrays, schema=PARTITIONS.schema)


class SourcePlaces:
    """
    Origins of the rows of tables: file and place.

    Parameters
    ----------
    tables
        Result of `tables_of`.
    brokers, log_dirs, topics, partitions
        Ledgers of the files' contents.
    """

    def __init__(
        self,
        tables: Tables,
        brokers: RecordLedger,
        log_dirs: RecordLedger,
        topics: RecordLedger,
        partitions: PartitionLedger,
    ) -> None:
        self.tables = tables
        self.ledgers = {"brokers": brokers, "log_dirs": log_dirs, "topics": topics}
        self.partitions = partitions

    def origin(self, finding: Finding) -> Origin:
        """Return the file and place of the value that a finding concerns."""
        column = finding.column.partition(".")[0]
        if finding.table == "partitions":
            return self.partitions.origin(finding.row, column)
        ledger = self.ledgers.get(finding.table)
        if ledger is None:
            return Origin("all files", finding.column)
        key = self._key(finding)
        if key not in ledger.values:
            return Origin("all files", str(key))
        return ledger.origin(key, column)

    def _key(self, finding: Finding) -> Any:  # noqa: ANN401 - id, name or pair
        table = self.tables[finding.table]
        if finding.table == "log_dirs":
            names = ("broker_id", "path")
            return tuple(table.column(name)[finding.row].as_py() for name in names)
        name = "id" if finding.table == "brokers" else "topic"
        return table.column(name)[finding.row].as_py()

    def subject(self, finding: Finding) -> str:
        """Return the subject of a finding as text."""
        if finding.table == "partitions":
            return f"{finding.column} of {self.partitions.name_of(finding.row)}"
        if finding.table == "brokers":
            return f"{finding.column} of broker {self._key(finding)}"
        return finding.column


def problems_of(
    header: Mapping[str, Any], tables: Tables, places: SourcePlaces
) -> Iterator[InputProblem]:
    """Yield the inconsistencies of the merged contents, each with file and place."""
    controllers = tuple(header.get("controllers", ()))
    facts = Facts(header.get("configs", {}), controllers, tables)
    for finding in findings(facts):
        origin = places.origin(finding)
        subject = places.subject(finding)
        yield InputProblem(
            file=origin.file,
            place=f"{origin.place}, {subject}" if origin.place else subject,
            value=harmless(finding.value),
            rule=finding.rule,
            remedy=finding.remedy,
        )
