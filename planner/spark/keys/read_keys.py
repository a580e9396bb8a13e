"""Keys of a sample that Spark reads: one row per distinct serialized key."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.errors import BadInputError
from planner.io.problems import first_line, problem
from planner.keys.key_types import (
    UTF_8,
    WrongKeysError,
    is_binary,
    long_keys,
    serialize,
)
from planner.keys.sample_options import SampleFormat, SampleOptions
from planner.keys.sample_rows import no_column, untyped_numbers

_TEXT_COLUMN = "value"
TABLE = "table:"
# Spark reads quoted and unquoted empty cells as null, unless null has its own text.
_NO_VALUE = "\0"
_UNREADABLE = re.compile(r"\[(?:MALFORMED|FAILED_READ_FILE)[.\w]*\][^\n]*")
_WHOLE_BYTES = (
    "if(try_cast(bytes as bigint) >= 0 "
    "and try_cast(bytes as bigint) = try_cast(bytes as double), "
    "try_cast(bytes as bigint), null)"
)
NUMBERS = ("tinyint", "smallint", "int", "bigint")
_SERIALIZED = "key binary, records bigint, sizes bigint, sized bigint, wrong string"


def read_rows(spark: SparkSession, path: str, options: SampleOptions) -> DataFrame:
    """
    Return the rows of a sample.

    Parameters
    ----------
    spark
        The session.
    path
        Path that Spark reads, or ``table:NAME`` of a catalog.
    options
        Format, which may be any that Spark has, and the column of the key.

    Returns
    -------
    DataFrame
        ``key`` and, if the sample has them, ``bytes`` and ``topic``.

    Raises
    ------
    BadInputError
        If Spark cannot read it, or it has no column of keys.
    """
    try:
        rows = _open(spark, path, options)
        columns = rows.columns
    except Exception as error:
        raise unreadable(path, first_line(error)) from error
    if _is_json(path, options):
        _check_json_types(spark, path, rows, options.key_column)
    key = options.key_column
    if columns == [_TEXT_COLUMN] and key not in columns:
        key = _TEXT_COLUMN
    if key not in columns:
        raise no_column(path, key, columns)
    kept = [F.col(f"`{name}`") for name in ("bytes", "topic") if name in columns]
    return rows.select(F.col(f"`{key}`").alias("key"), *kept)


def unreadable(path: str, reason: str) -> BadInputError:
    """Return the error for a sample that Spark cannot read."""
    found = problem(path, "", None, f"Spark cannot read it: {reason}")
    msg = f"the sample {path} cannot be read"
    return BadInputError(msg, [found])


@contextmanager
def reading(path: str) -> Iterator[None]:
    """
    Turn files and lines that a task of Spark cannot read into bad input.

    Raises
    ------
    BadInputError
        With Spark's condition.
    """
    try:
        yield
    except Exception as error:
        # Of PySpark, or of the bridge to the JVM.
        found = _UNREADABLE.findall(str(error))
        if not found:
            raise
        # The cause comes last, below the files of the tasks.
        raise unreadable(path, first_line(found[-1])) from error


def _open(spark: SparkSession, path: str, options: SampleOptions) -> DataFrame:
    if path.startswith(TABLE):
        return spark.read.table(path.removeprefix(TABLE))
    kind = options.sample_format or _format_of(path, options)
    reader = spark.read
    if kind in {SampleFormat.CSV, SampleFormat.JSON}:
        # Otherwise a line that cannot be read would be a record without a key.
        reader = reader.option("mode", "FAILFAST")
    if kind == SampleFormat.CSV:
        reader = reader.option("header", True).option("nullValue", _NO_VALUE)
    return reader.format(str(kind)).load(path)


def _is_json(path: str, options: SampleOptions) -> bool:
    if path.startswith(TABLE):
        return False
    kind = options.sample_format or _format_of(path, options)
    return kind == SampleFormat.JSON


def _check_json_types(
    spark: SparkSession, path: str, rows: DataFrame, key: str
) -> None:
    """
    Refuse keys of several types, which Spark would read as text.

    Raises
    ------
    BadInputError
        With the types.
    """
    if dict(rows.dtypes).get(key) != "string":
        return
    typed = spark.read.schema(f"`{key}` variant").json(path)
    kinds = typed.select(F.schema_of_variant(F.col(f"`{key}`"))).distinct().collect()
    found = sorted({row[0] for row in kinds} - {None, "VOID"})
    if found in ([], ["STRING"]):
        return
    rule = "mixes types of keys, or has keys that are no text"
    remedy = "give keys of one type, text or numbers"
    shown = ", ".join(kind.lower() for kind in found)
    msg = f"the sample {path} cannot be read"
    raise BadInputError(msg, [problem(path, key, shown, rule, remedy)])


def _format_of(path: str, options: SampleOptions) -> SampleFormat:
    """Return the format of a path: by its name, else Parquet unless it is a file."""
    named = options.format_of(Path(path))
    is_file = Path(path).is_file()
    if named is SampleFormat.TEXT and not is_file:
        return SampleFormat.PARQUET
    return named


def check_rows(rows: DataFrame, path: str, options: SampleOptions) -> None:
    """
    Refuse keys without a known serializer, and records of another topic.

    Raises
    ------
    BadInputError
        With the problem.
    """
    kind = dict(rows.dtypes)["key"]
    if kind in NUMBERS and options.key_type is None:
        raise untyped_numbers(path)
    if kind not in {*NUMBERS, "string", "binary"}:
        rule = f"keys must be text, integers or bytes, and are {kind}"
        msg = f"the keys of {path} cannot be serialized"
        raise BadInputError(msg, [problem(path, "key", None, rule)])
    if options.topic is None or "topic" not in rows.columns:
        return
    other = rows.filter(F.col("topic") != options.topic).select("topic").head()
    if other is not None:
        rule = f"has records of another topic than --topic {options.topic}"
        remedy = "give a sample of one topic"
        msg = f"the sample {path} is of several topics"
        raise BadInputError(msg, [problem(path, "topic", other[0], rule, remedy)])


def distinct_rows(rows: DataFrame, options: SampleOptions) -> DataFrame:
    """
    Return a row per distinct key.

    Parameters
    ----------
    rows
        As `read_rows` returns them.
    options
        Serializer of the keys.

    Returns
    -------
    DataFrame
        ``key``, ``records`` with it, the sum ``sizes`` of their bytes, and how many of
        them have one (``sized``); and ``wrong``, the rule that the key breaks, if the
        keys are serialized already.

    Notes
    -----
    Text is serialized once for each distinct text. Two texts of one key, such as 7 and
    07 as integers, are then added up by a second aggregate, of distinct keys alone.
    """
    has_sizes = "bytes" in rows.columns
    size = F.expr(_WHOLE_BYTES if has_sizes else "cast(null as bigint)")
    sums = (
        F.count(F.lit(1)).alias("records"),
        F.sum(size).alias("sizes"),
        F.count(size).alias("sized"),
    )
    counted = rows.groupBy("key").agg(*sums)
    if dict(rows.dtypes)["key"] != "string" or _keeps_apart(options):
        return counted
    done = counted.mapInArrow(_serializing(options), _SERIALIZED)
    added = [F.sum(name).alias(name) for name in ("records", "sizes", "sized")]
    return done.groupBy("key", "wrong").agg(*added)


def _keeps_apart(options: SampleOptions) -> bool:
    """Return whether distinct texts are distinct keys."""
    if options.key_type in {None, "string"}:
        # Other encodings write characters that they do not have as ?.
        return codecs.lookup(options.encoding).name == UTF_8
    return options.key_type in {"bytes", "avro-string"}


def _serializing(
    options: SampleOptions,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    return partial(serialized_batches, options=options)


def serialized_batches(
    batches: Iterable[pa.RecordBatch], options: SampleOptions
) -> Iterator[pa.RecordBatch]:
    """Yield distinct keys serialized, or with the rule that they break."""
    for batch in batches:
        if "wrong" in batch.schema.names:
            yield batch
            continue
        keys, wrong = _serialized(batch.column("key"), options)
        columns = {
            "key": keys,
            **{name: batch.column(name) for name in ("records", "sizes", "sized")},
            "wrong": wrong,
        }
        yield pa.RecordBatch.from_pydict(columns)


def _serialized(column: pa.Array, options: SampleOptions) -> tuple[pa.Array, pa.Array]:
    """Return serialized keys, and the rule that each breaks."""
    try:
        column.validate(full=True)
        keys = serialize(column, options.key_type or "string", options.encoding)
        wrong: list[str | None] = [None] * len(column)
    except WrongKeysError as error:
        rules = dict.fromkeys((row for row, _ in error.rows), error.rule)
        wrong = [rules.get(row) for row in range(len(column))]
        keys = column.cast(pa.large_string()).cast(pa.large_binary())
    except pa.ArrowInvalid:
        keys = _raw(column)
        wrong = [_utf8_problem(key) for key in keys.to_pylist()]
    for row, _ in long_keys(keys, options.most_bytes, options.prefix_bytes):
        wrong[row] = f"a key must fit into a record of {options.most_bytes} bytes"
    return keys.cast(pa.binary()), pa.array(wrong, pa.string())


def _raw(column: pa.Array) -> pa.Array:
    """Return the bytes of a column of invalid text."""
    if is_binary(column.type):
        return column.cast(pa.large_binary())
    return pc.cast(column.view(pa.binary()), pa.large_binary())


def _utf8_problem(key: bytes | None) -> str | None:
    try:
        (key or b"").decode()
    except UnicodeDecodeError as error:
        return f"is not UTF-8 at byte {error.start}"
    return None
