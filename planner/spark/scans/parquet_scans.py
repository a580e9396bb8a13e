"""
Tables of Spark that are plain scans of Parquet files.

Reading such files without Spark takes a third of the time that Spark takes to decode
the rows and hand them over, and small tables need no job. A scan is plain if the
physical plan reads whole files of Spark's own Parquet format, of a Delta table that any
reader of Parquet can read, or of an Iceberg table without deleted rows, and at most
selects, renames and adds constants: no filter, no partition column, no other table
format, no extension that replaces the scan. Any other table is left to Spark.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from planner.spark.common.java_plans import class_of
from planner.spark.io.fleet_files import KEY
from planner.spark.io.picked_columns import is_case_sensitive
from planner.spark.scans.iceberg_scans import iceberg_files, is_of_iceberg
from planner.spark.scans.plan_columns import PlanColumn, columns_of, plan_of

MOST_FILES = 10_000
MOST_TASK_BYTES = 1 << 28
"""Largest setting of the bytes of a task: all its files may be in one batch."""
_SCAN = "org.apache.spark.sql.execution.FileSourceScanExec"
_PROJECT = "org.apache.spark.sql.execution.ProjectExec"
_PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_COLUMN = "org.apache.spark.sql.catalyst.expressions.AttributeReference"
_CONSTANT = "org.apache.spark.sql.catalyst.expressions.Literal"
_TEXTS = ("string", "array<string>")
_NO_TYPE = "void"
"""Type of a column that the table lacks."""
_INDEXES = {
    "org.apache.spark.sql.execution.datasources.InMemoryFileIndex",
    "org.apache.spark.sql.execution.datasources.CatalogFileIndex",
}
_DELTA = "org.apache.spark.sql.delta.DeltaParquetFileFormat"
_DELTA_INDEX = "org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex"
_DELTA_FEATURES = {"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
"""Features of Delta's protocol for readers that do not concern the rows of a file."""
_OPTIONS = {"path", "paths", "basepath", "mergeschema", "serialization.format"}
"""Options of a scan that do not affect the rows of the files that it lists."""
_TURNED_OFF = (
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.files.ignoreMissingFiles",
    "spark.sql.parquet.int96TimestampConversion",
)
_ENCRYPTION = "parquet.crypto.factory.class"
_METADATA = ("EXISTS_DEFAULT", "parquet.field.id")
"""
Metadata of columns whose value in older files is not null, or that files have under
another name.
"""
_SPECIAL = frozenset("%{}[]*?\\^")
"""Characters of a path that URIs encode, or that Spark expands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetScan:
    """
    Plain scan of Parquet files.

    Parameters
    ----------
    paths
        The files, as Spark names them.
    columns
        Names of the columns in the files, by name in the table; without columns of
        Spark's null type.
    texts
        Columns of `columns` that are texts, or lists of texts.
    constants
        Values of the columns of `KEY` that are constants: text, and microseconds.
    is_case_sensitive
        Whether column names of the files are case-sensitive.
    ids
        Ids of the columns in the files, by name in the table, and of the fields inside
        them, by names like ``rates.source``, if files may name them differently;
        `None`: columns are found by `columns`.
    """

    paths: tuple[str, ...]
    columns: Mapping[str, str]
    texts: frozenset[str]
    constants: Mapping[str, Any]
    is_case_sensitive: bool
    ids: Mapping[str, int] | None = None


def plain_scan(table: DataFrame) -> ParquetScan | None:
    """
    Return the scan that a table is, or `None` if it is more than a plain scan.

    Parameters
    ----------
    table
        A table with the columns `KEY`. Its plan is made, and nothing of it is run.
    """
    try:
        plan = plan_of(table)
        return None if plan is None else scan_of(table.sparkSession, plan)
    except Exception:
        # A Spark whose plans look different. The class of its errors is one of py4j,
        # which a client of Spark Connect lacks.
        return None


def scan_of(spark: SparkSession, plan: Any) -> ParquetScan | None:  # noqa: ANN401 - a physical plan
    """
    Return the scan that a plan is, or `None` if it is more than a plain scan.

    Raises
    ------
    Exception
        An error of any kind, if plans of this version of Spark look different.
    """
    project = plan if class_of(plan) == _PROJECT else None
    scan = plan if project is None else project.child()
    if not (is_of_iceberg(scan) or _is_plain(scan)) or not _may_read(spark):
        return None
    found = _columns_in(scan, project)
    if found is None:
        return None
    columns, constants = found
    own = {name: field.name for name, field in columns.items()}
    files = _files_of(scan, own)
    if files is None:
        return None
    paths, ids = files
    kinds = {name: field.kind for name, field in columns.items()}
    if not _are_readable(paths) or not _has_key(kinds, constants):
        return None
    return ParquetScan(
        paths=paths,
        columns=own,
        texts=frozenset(name for name, kind in kinds.items() if kind in _TEXTS),
        constants=constants,
        is_case_sensitive=is_case_sensitive(spark),
        ids=ids,
    )


def _columns_in(
    scan: Any,  # noqa: ANN401 - a physical plan
    project: Any,  # noqa: ANN401 - a physical plan
) -> tuple[dict[str, PlanColumn], dict[str, Any]] | None:
    """
    Return the columns of a scan and the constants of `KEY`, by their selected names.

    `None` if anything else is selected.
    """
    read = columns_of(scan, scan.output())
    if not all(each.is_attribute for each in read):
        return None
    if project is None:
        return {each.name: each for each in read}, {}
    fields = {each.attribute[1]: each for each in read if each.attribute}
    columns: dict[str, PlanColumn] = {}
    constants: dict[str, Any] = {}
    for place, given in enumerate(columns_of(project, project.projectList())):
        field = _field_of(given, fields)
        if field is not None and _is_column(project, place, given):
            columns[given.name] = field
        elif given.name in KEY:
            literal = project.projectList().apply(place).child()
            constants[given.name] = _constant(literal, given.kind)
        elif (given.kind, given.named) != (_NO_TYPE, "null"):
            return None
    return columns, constants


def _field_of(given: PlanColumn, fields: Mapping[int, PlanColumn]) -> PlanColumn | None:
    """Return the column of a scan that a selected column is; `None`: another value."""
    name, number = given.attribute or ("", -1)
    field = fields.get(number)
    # A query may write a name in another case than the table.
    is_it = field is not None and name.lower() == field.name.lower()
    return field if is_it else None


def _is_column(project: Any, place: int, given: PlanColumn) -> bool:  # noqa: ANN401
    """Return whether an expression with the text of a column is one."""
    if given.is_attribute or given.kind != "string":
        return True
    # Only a constant text can look like a column.
    return class_of(project.projectList().apply(place).child()) == _COLUMN


def _files_of(
    scan: Any,  # noqa: ANN401 - a physical plan
    columns: Mapping[str, str],
) -> tuple[tuple[str, ...], Mapping[str, int] | None] | None:
    """
    Return the paths of a scan's files, and the ids of columns if files have ids.

    `None` if a column is not in the files.
    """
    if not is_of_iceberg(scan):
        if not _in_files(scan.relation(), {*columns.values()}):
            return None
        return tuple(scan.relation().location().inputFiles()), None
    files = iceberg_files(scan)
    if files is None:
        return None
    ids = {
        f"{name}{place.removeprefix(own)}": number
        for name, own in columns.items()
        for place, number in files.ids.items()
        if place == own or place.startswith(f"{own}.")
    }
    return files.paths, ids


def _is_plain(scan: Any) -> bool:  # noqa: ANN401 - a physical plan
    if class_of(scan) != _SCAN:
        return False
    relation = scan.relation()
    options = relation.options().keys().mkString("\n").lower().split("\n")
    return (
        (_is_of_spark(relation) or _is_of_delta(relation))
        and scan.dataFilters().isEmpty()
        and scan.partitionFilters().isEmpty()
        and {*filter(None, options)} <= _OPTIONS
    )


def _in_files(relation: Any, columns: Collection[str]) -> bool:  # noqa: ANN401 - of Java
    """
    Return whether all columns are in the files, under their own names.

    Partition columns are not.
    """
    schema = str(relation.dataSchema().json())
    in_files = _names_in(schema) - _names_in(relation.partitionSchema().json())
    return (
        in_files.issuperset(columns)
        and "." not in "".join(columns)
        and not any(key in schema for key in _METADATA)
    )


def _names_in(schema: str) -> set[str]:
    """Return the names of the columns of a schema in JSON."""
    return {field["name"] for field in json.loads(schema)["fields"]}


def _is_of_spark(relation: Any) -> bool:  # noqa: ANN401 - an object of Java
    is_parquet = class_of(relation.fileFormat()) == _PARQUET
    return is_parquet and class_of(relation.location()) in _INDEXES


def _is_of_delta(relation: Any) -> bool:  # noqa: ANN401 - an object of Java
    """
    Return whether the rows of a Delta table are exactly those of its files.

    Deletion vectors and renamed columns are features of the protocol that a reader must
    support.
    """
    if class_of(relation.fileFormat()) != _DELTA:
        return False
    protocol = relation.fileFormat().protocol()
    features = protocol.readerFeatures()
    names = "" if features.isEmpty() else features.get().mkString(" ")
    return (
        class_of(relation.location()) == _DELTA_INDEX
        and protocol.minReaderVersion() in {1, 3}
        and {*names.split()} <= _DELTA_FEATURES
        and relation.fileFormat().columnMappingMode().name() == "none"
    )


def _may_read(spark: SparkSession) -> bool:
    """Return whether no setting of the session changes what a scan reads."""
    state = spark._jsparkSession.sessionState()  # noqa: SLF001 - the only way to it
    flags = [str(spark.conf.get(name, "false")).lower() for name in _TURNED_OFF]
    return (
        set(flags) == {"false"}
        and state.newHadoopConf().get(_ENCRYPTION) is None
        and state.conf().filesMaxPartitionBytes() <= MOST_TASK_BYTES
    )


def _has_key(kinds: Mapping[str, str], constants: Mapping[str, Any]) -> bool:
    """Return whether the key is a text and a time, both constants or both columns."""
    if constants:
        return {*constants} == {*KEY}
    return [kinds.get(name) for name in KEY] == ["string", "timestamp"]


def _are_readable(paths: tuple[str, ...]) -> bool:
    is_plain = not _SPECIAL.intersection("".join(paths))
    return 0 < len(paths) == len({*paths}) <= MOST_FILES and is_plain


def _constant(literal: Any, kind: str) -> Any:  # noqa: ANN401 - an expression
    """
    Return the value of a constant of a type: text, or microseconds.

    Raises
    ------
    Exception
        An error of any kind, if the expression is another one.
    """
    value = literal.value()
    if class_of(literal) != _CONSTANT:
        msg = "no constant"
        raise AttributeError(msg)
    if kind == "string":
        return None if value is None else value.toString()
    if kind != "timestamp" or value is None:
        msg = f"a constant of type {kind}"
        raise AttributeError(msg)
    return int(value)
