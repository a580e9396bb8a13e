"""Samples of keys read from files, serialized, and counted by key."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assignment.partitioners.key_column import KeyColumn, schema_prefix, with_prefix
from placement.array_types import FloatArray
from planner.errors import BadInputError
from planner.io.problems import first_line, problem
from planner.keys.formats.console_samples import read_console
from planner.keys.formats.line_samples import read_json_lines, read_text
from planner.keys.formats.table_samples import read_csv, read_parquet
from planner.keys.key_sample import KeySample
from planner.keys.key_types import (
    WrongKeysError,
    is_binary,
    key_column,
    long_keys,
    serialize,
)
from planner.keys.sample_options import SampleFormat, SampleOptions
from planner.keys.sample_rows import SampleProblems, SampleRows, SizeCheck

Reader = Callable[[Path, SampleOptions, SampleProblems], Iterator[SampleRows]]
READERS: Mapping[SampleFormat, Reader] = {
    SampleFormat.TEXT: read_text,
    SampleFormat.CSV: read_csv,
    SampleFormat.JSON: read_json_lines,
    SampleFormat.PARQUET: read_parquet,
    SampleFormat.CONSOLE: read_console,
}


def read_sample(path: Path, options: SampleOptions) -> KeySample:
    """
    Return the sample in a file, or in a folder of Parquet files.

    Raises
    ------
    BadInputError
        If options are wrong, the file cannot be read, keys are not of their type or too
        long, or there is none; has every problem.
    """
    options.validate()
    builder = SampleBuilder(str(path), options)
    for rows in sample_rows(path, options, builder.problems):
        builder.add(rows)
    return builder.build()


def sample_rows(
    path: Path, options: SampleOptions, problems: SampleProblems
) -> Iterator[SampleRows]:
    """
    Yield the rows of a sample in batches.

    Raises
    ------
    BadInputError
        If the file cannot be read.
    """
    if str(path) != "-" and not path.exists():
        found = problem(str(path), "", None, "there is no such file")
        msg = f"the sample {path} cannot be read"
        raise BadInputError(msg, [found])
    try:
        yield from READERS[options.format_of(path)](path, options, problems)
    except (OSError, EOFError, zlib.error) as error:
        # Of a file that cannot be opened, or is not what its suffix .gz says.
        found = problem(str(path), "", None, f"cannot be read: {first_line(error)}")
        msg = f"the sample {path} cannot be read"
        raise BadInputError(msg, [found]) from error


@dataclass(slots=True)
class SampleBuilder:
    """
    Builder of a sample from batches of rows.

    Parameters
    ----------
    source
        Name of the sample in messages.
    options
        Reading of the sample.
    is_serialized
        Whether the keys come as brokers keep them, a schema's prefix included.
    """

    source: str
    options: SampleOptions
    is_serialized: bool = False
    problems: SampleProblems = field(init=False)
    _size_check: SizeCheck = field(default_factory=SizeCheck)
    _natural_type: str = "string"
    _keys: list[pa.Array] = field(default_factory=list)
    _sizes: list[Any] = field(default_factory=list)
    _partitions: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.problems = SampleProblems(self.source)

    def add(self, rows: SampleRows) -> None:
        """
        Add rows, their keys serialized.

        Raises
        ------
        BadInputError
            If there are too many problems to go on.
        """
        self._size_check.add(rows, self.problems)
        if is_binary(rows.keys.type) and not self.is_serialized:
            self._natural_type = "bytes"
        prefix = 0 if self.is_serialized else self.options.prefix_bytes
        keys = serialized(rows, self.options, self.problems, prefix)
        if keys is None:
            return
        self._keys.append(keys)
        self._sizes.append(rows.sizes)
        self._partitions.append(rows.partitions)

    def build(
        self,
        *,
        weights: FloatArray | None = None,
        num_partitions: int | None = None,
        notes: Sequence[str] = (),
    ) -> KeySample:
        """
        Return the sample.

        Parameters
        ----------
        weights, num_partitions, notes
            As in `KeySample`.

        Raises
        ------
        BadInputError
            If there are problems, or no record.
        """
        self.problems.raise_all()
        keys = pa.chunked_array(self._keys, pa.large_binary())
        if not len(keys):
            self.problems.add("", None, "must have at least one record")
            self.problems.raise_all()
        distinct, key_idx = distinct_keys(keys)
        sizes = _joined(self._sizes)
        prefix = b""
        if self.options.schema_id is not None:
            prefix = schema_prefix(self.options.schema_id)
            if not self.is_serialized:
                distinct = with_prefix(distinct, prefix)
        return KeySample(
            source=self.source,
            keys=distinct,
            key_idx=key_idx,
            sizes=self._record_sizes(distinct, key_idx) if sizes is None else sizes,
            has_sizes=sizes is not None or self.options.record_bytes > 0,
            partitions=_joined(self._partitions),
            weights=weights,
            num_partitions=num_partitions,
            key_type=self.options.key_type or self._natural_type,
            prefix_bytes=len(prefix),
            notes=(*self.problems.notes, *notes),
        )

    def _record_sizes(self, keys: KeyColumn, key_idx: Any) -> Any:  # noqa: ANN401 - numpy
        if self.options.record_bytes:
            return np.full(len(key_idx), self.options.record_bytes, np.int64)
        return keys.lengths[key_idx]


def _joined(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - numpy or none
    """Return a column of numbers; `None` if a batch lacks it."""
    if any(part is None for part in parts):
        return None
    return np.concatenate([part.to_numpy(zero_copy_only=False) for part in parts])


def serialized(
    rows: SampleRows,
    options: SampleOptions,
    problems: SampleProblems,
    prefix_bytes: int = 0,
) -> pa.Array | None:
    """
    Return the serialized keys of rows; `None` if keys are wrong.

    Parameters
    ----------
    rows
        The rows.
    options
        Type of the keys, and the longest key.
    problems
        Receives the problem of each wrong key.
    prefix_bytes
        Bytes that are written before each key, which must fit as well.
    """
    try:
        keys = serialize(rows.keys, options.key_type or "string", options.encoding)
    except WrongKeysError as wrong:
        for row, value in wrong.rows:
            remedy = "give another --key-type"
            problems.add(rows.place(row), value, wrong.rule, remedy)
        return None
    for row, length in long_keys(keys, options.most_bytes, prefix_bytes):
        problems.add(
            rows.place(row),
            f"{length} bytes",
            f"a key must fit into a record of {options.most_bytes} bytes",
            "raise --max-message-bytes to max.message.bytes of the topic",
        )
    return keys


def distinct_keys(keys: pa.ChunkedArray) -> tuple[KeyColumn, Any]:
    """
    Return the distinct keys of records, and the key of each record.

    No key at all is one more, the last, if a record has none.
    """
    encoded = keys.dictionary_encode()
    chunks = encoded.chunks
    dictionary = encoded.chunk(0).dictionary if chunks else pa.array([], keys.type)
    for chunk in chunks:
        dictionary = max(dictionary, chunk.dictionary, key=len)
    indices = [chunk.indices.fill_null(len(dictionary)).to_numpy() for chunk in chunks]
    key_idx = np.concatenate(indices).astype(np.int32)
    column = key_column(dictionary)
    if not keys.null_count:
        return column, key_idx
    offsets = np.append(column.offsets, column.offsets[-1])
    is_null = np.append(np.zeros(len(column), bool), True)
    return KeyColumn(column.data, offsets, is_null), key_idx
