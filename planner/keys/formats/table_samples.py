"""Samples in tables: CSV and Parquet, read in batches."""

import csv
import gzip
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from placement.array_types import IntArray
from planner.errors import BadInputError
from planner.io.problems import first_line, problem
from planner.keys.formats.line_samples import open_lines
from planner.keys.key_types import is_key_type
from planner.keys.sample_options import SampleOptions
from planner.keys.sample_rows import (
    NUMBER_COLUMNS,
    SampleProblems,
    SampleRows,
    check_topics,
    no_column,
    number_rule,
    untyped_numbers,
)

_BYTES = "bytes"
_TYPES = {
    **{name: kind for name, (kind, _) in NUMBER_COLUMNS.items()},
    "topic": pa.large_string(),
}


def read_csv(
    path: Path, options: SampleOptions, problems: SampleProblems
) -> Iterator[SampleRows]:
    """Yield the rows of a CSV file; an empty unquoted cell is a null key."""
    import pyarrow.csv as arrow_csv

    first = 2
    try:
        with open_lines(path) as file:
            if not file.peek(1):
                return
            columns = _header(file, problems)
            if options.key_column not in columns:
                raise no_column(problems.file, options.key_column, columns)
            if not file.peek(1):
                return
            with arrow_csv.open_csv(
                file,
                read_options=arrow_csv.ReadOptions(column_names=columns),
                convert_options=_conversion(columns, options.key_column),
            ) as reader:
                for batch in reader:
                    rows = _rows(pa.table(batch), options, first, "line")
                    yield _checked(rows, batch, options, problems)
                    first += batch.num_rows
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise _unreadable(path, problems, error) from error


def _conversion(columns: Sequence[str], key_column: str) -> Any:  # noqa: ANN401 - Arrow
    """Return the conversion of cells: keys are text, whatever they look like."""
    import pyarrow.csv as arrow_csv

    types = {key_column: pa.large_string(), **_TYPES}
    return arrow_csv.ConvertOptions(
        include_columns=[name for name in types if name in columns],
        column_types=types,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )


def _header(
    file: BufferedReader | gzip.GzipFile, problems: SampleProblems
) -> list[str]:
    """Read the names of the columns; the file is behind them afterwards."""
    line = file.readline()
    while line.count(b'"') % 2 and (more := file.readline()):
        line += more
    try:
        text = line.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        problems.add("line 1", line[:20].hex(), "must be UTF-8")
        problems.raise_all()
        raise
    try:
        names = next(csv.reader([text]), [])
    except csv.Error as error:
        remedy = "save it with line feeds at the ends of lines"
        problems.add("line 1", text[:60], f"must be CSV: {error}", remedy)
        problems.raise_all()
        raise
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        problems.add("line 1", name, "two columns have this name", "rename one")
    problems.raise_all()
    return names


def _unreadable(
    path: Path, problems: SampleProblems, error: Exception
) -> BadInputError:
    """Return the error of a CSV file, with the lines that are not UTF-8 if any."""
    # A pipe cannot be read again.
    if path.is_file():
        _add_wrong_lines(path, problems)
    if not problems.found:
        problems.add("", None, f"must be CSV: {first_line(error)}")
    try:
        problems.raise_all()
    except BadInputError as found:
        return found
    raise AssertionError from error


def _add_wrong_lines(path: Path, problems: SampleProblems) -> None:
    with open_lines(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as wrong:
                rule = f"is not UTF-8 at byte {wrong.start}"
                problems.add(f"line {number}", line[:20].hex(), rule)


def read_parquet(
    path: Path, options: SampleOptions, problems: SampleProblems
) -> Iterator[SampleRows]:
    """Yield the rows of a Parquet file, or of all files of a folder."""
    import pyarrow.dataset as ds

    try:
        data = ds.dataset(path, format="parquet")
    except (pa.ArrowInvalid, OSError) as error:
        found = problem(
            problems.file, "", None, f"must be Parquet: {first_line(error)}"
        )
        msg = f"the sample {problems.file} cannot be read"
        raise BadInputError(msg, [found]) from error
    if options.key_column not in data.schema.names:
        raise no_column(problems.file, options.key_column, data.schema.names)
    wanted = [n for n in (options.key_column, *_TYPES) if n in data.schema.names]
    _check_type(data.schema.field(options.key_column).type, options, problems.file)
    first = 1
    for batch in data.to_batches(columns=list(dict.fromkeys(wanted))):
        _check_numbers(batch, first, problems)
        rows = _rows(pa.table(batch), options, first, "row")
        yield _checked(rows, batch, options, problems)
        first += batch.num_rows


def _check_type(kind: pa.DataType, options: SampleOptions, file: str) -> None:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind) and options.key_type is None:
        raise untyped_numbers(file)
    if not is_key_type(kind):
        rule = f"keys must be text, integers or bytes, and are {kind}"
        found = problem(file, f"column {options.key_column}", None, rule)
        msg = f"the keys of {file} cannot be serialized"
        raise BadInputError(msg, [found])


def _rows(table: pa.Table, options: SampleOptions, first: int, unit: str) -> SampleRows:
    def column(name: str) -> Any:  # noqa: ANN401 - an Arrow column or none
        if name not in table.column_names:
            return None
        values = table.column(name).combine_chunks()
        whole = (
            values if isinstance(values, pa.Array) else pa.concat_arrays(values.chunks)
        )
        # The bytes of some records alone are refused later, by their place.
        enough = len(whole) if name == _BYTES else 1
        return None if whole.null_count >= enough else whole.cast(_TYPES[name])

    keys = table.column(options.key_column)
    if pa.types.is_dictionary(keys.type):
        keys = keys.cast(keys.type.value_type)
    whole = keys.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    return SampleRows(
        keys=whole,
        sizes=column(_BYTES),
        partitions=column("partition"),
        first=first,
        unit=unit,
    )


def _checked(
    rows: SampleRows,
    batch: pa.RecordBatch,
    options: SampleOptions,
    problems: SampleProblems,
) -> SampleRows:
    for name, column in ((_BYTES, rows.sizes), ("partition", rows.partitions)):
        if column is not None:
            values = column.fill_null(0).to_numpy(zero_copy_only=False)
            _refuse_numbers(rows.place, name, values, problems)
    if options.topic is not None and "topic" in batch.schema.names:
        check_topics(batch.column("topic").to_pylist(), options.topic, rows, problems)
    return rows


def _check_numbers(batch: pa.RecordBatch, first: int, problems: SampleProblems) -> None:
    """Refuse columns of numbers that are none, or too large for their type."""
    for name, (kind, _) in NUMBER_COLUMNS.items():
        if name not in batch.schema.names:
            continue
        try:
            batch.column(name).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            place = f"column {name}, from row {first} on"
            problems.add(place, None, number_rule(name))
            problems.raise_all()


def _refuse_numbers(
    place: Callable[[int], str], name: str, values: IntArray, problems: SampleProblems
) -> None:
    is_wrong = (values < 0) | (values > NUMBER_COLUMNS[name][1])
    for row in np.flatnonzero(is_wrong).tolist():
        problems.add(place(row), int(values[row]), number_rule(name))
