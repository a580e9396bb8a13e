"""
Scans of Iceberg tables whose rows are exactly those of their Parquet files.

A scan of Iceberg lists its files itself, and for each of them deleted rows, the filter
that its rows still have to pass, and encryption. Columns are found in a file by their
ids, so that renamed and added columns are read as Iceberg reads them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from planner.spark.common.java_plans import class_of, members_of

MOST_PARTS = 1_000
"""Most parts of files: each is looked at by eight calls of Java, 1 ms."""
_SCAN = "org.apache.spark.sql.execution.datasources.v2.BatchScanExec"
_OF_ICEBERG = "org.apache.iceberg.spark.source.SparkBatchQueryScan"
_NAME_MAPPING = "schema.name-mapping.default"
"""Property of tables that have files without ids of columns, written elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergFiles:
    """
    Files of a scan.

    Parameters
    ----------
    paths
        The files, as Iceberg names them.
    ids
        Ids of the columns and of the fields inside them, by their names in the table,
        like ``rates.source``.
    """

    paths: tuple[str, ...]
    ids: Mapping[str, int]


def is_of_iceberg(scan: Any) -> bool:  # noqa: ANN401 - a physical plan
    """Return whether a plan reads an Iceberg table at one of its snapshots."""
    return class_of(scan) == _SCAN and class_of(scan.scan()) == _OF_ICEBERG


def iceberg_files(scan: Any) -> IcebergFiles | None:  # noqa: ANN401 - a physical plan
    """
    Return the files of a scan, or `None` if its rows are not exactly theirs.

    Parameters
    ----------
    scan
        A plan of which `is_of_iceberg` is true.
    """
    table = scan.table().table()
    if (
        not scan.runtimeFilters().isEmpty()
        or table.properties().get(_NAME_MAPPING) is not None
        or _has_constants(table)
    ):
        return None
    parts = [*islice(_parts_of(scan), MOST_PARTS + 1)]
    if not 0 < len(parts) <= MOST_PARTS or not all(map(_is_plain, parts)):
        return None
    places = [(str(part.file().location()), int(part.start())) for part in parts]
    schema = parts[0].schema()
    ids = {str(each.getValue()): int(each.getKey()) for each in _names_in(schema)}
    fields = (schema.findField(number) for number in ids.values())
    has_defaults = any(each.initialDefault() is not None for each in fields)
    if len({*places}) < len(places) or has_defaults:
        # A file that is listed twice has each of its rows twice.
        return None
    return IcebergFiles(paths=tuple(dict.fromkeys(path for path, _ in places)), ids=ids)


def _names_in(schema: Any) -> Iterator[Any]:  # noqa: ANN401 - a schema of Iceberg
    """Yield the id and the name of every column and field."""
    return members_of(schema.idToName().entrySet())


def _has_constants(table: Any) -> bool:  # noqa: ANN401 - a table of Iceberg
    """Return whether a column is a partition's value, which its files may lack."""
    specs = table.specs().values()
    return any(not spec.identitySourceIds().isEmpty() for spec in specs)


def _parts_of(scan: Any) -> Iterator[Any]:  # noqa: ANN401 - a physical plan
    for partition in scan.batch().planInputPartitions():
        yield from members_of(partition.taskGroup().tasks())


def _is_plain(part: Any) -> bool:  # noqa: ANN401 - a task of Iceberg
    """Return whether all rows of a part of a file count, and Arrow can read them."""
    file = part.file()
    return (
        part.isFileScanTask()
        and part.deletes().isEmpty()
        and part.residual().op().name() == "TRUE"
        and file.format().name() == "PARQUET"
        and file.keyMetadata() is None
    )
