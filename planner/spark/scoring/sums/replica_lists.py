"""Lists of partitions as arrays of rows: brokers by id, places by log dir."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import BoolArray
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState
from planner.snapshot.tables.snapshot_columns import ArrowArray, ArrowTable
from planner.snapshot.tables.table_rows import Rows, as_array
from planner.spark.scoring.sums.sum_arrays import Ints

STRANGER = -2
MOST_PLACES = 1 << 22
"""Largest number of brokers times paths to number all; else only places in use."""


class BrokerRows:
    """
    Rows of brokers by id and snapshot.

    Parameters
    ----------
    ids
        ``(B,)`` ids of the brokers, ascending in each snapshot.
    first
        ``(S + 1,)`` first broker of each snapshot.

    Attributes
    ----------
    row_of
        Row of each number that `numbers` returns, `ABSENT` if there is none.
    """

    def __init__(self, ids: npt.NDArray[np.int32], first: Ints) -> None:
        count = len(ids)
        self._keys = _keys_of(ids, first)
        most = max(8 * count, 1 << 16)
        self._is_dense = len(first) == 2 and not (count and int(ids[-1]) > most)
        if not self._is_dense:
            self.row_of: Ints = np.arange(count, dtype=np.int32)
            return
        self.row_of = np.full(int(ids[-1]) + 1 if count else 0, ABSENT, dtype=np.int32)
        self.row_of[ids] = np.arange(count)

    def numbers(self, ids: Any, first: Ints) -> Ints:  # noqa: ANN401 - (N,) ids
        """
        Return numbers for ids: the ids, or rows if ids are sparse or of many snapshots.

        An id without a broker gets `STRANGER`, which is no row. `first` has the first
        id of each snapshot.
        """
        if self._is_dense:
            return np.asarray(ids)
        rows, known = self.rows(ids, first), np.asarray(ids)
        return np.where((rows == ABSENT) & (known >= 0), STRANGER, rows)

    def rows(self, ids: Any, first: Ints) -> Ints:  # noqa: ANN401 - (N,) ids
        """Return the rows of brokers, `ABSENT` for unknown ids."""
        if not len(self._keys):
            return np.full(len(ids), ABSENT, dtype=np.int32)
        keys = _keys_of(ids, first)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, at, ABSENT).astype(np.int32)


def _keys_of(ids: Any, first: Ints) -> Ints:  # noqa: ANN401 - (N,) ids
    """Return ``(N,)`` keys of brokers, ascending by snapshot and id."""
    keys: Ints = (snapshot_of_rows(first) << 32) + np.asarray(ids)
    return keys


def filled(table: ArrowTable, schema: Any) -> ArrowTable:  # noqa: ANN401 - an Arrow schema
    """Return a table in the columns of a schema; absent columns are null."""
    arrays = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def snapshot_of_rows(first: Ints) -> Ints:
    """Return ``(N,)`` the index of the snapshot of each row, from their first rows."""
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def with_columns(table: ArrowTable, columns: Mapping[str, ArrowArray]) -> ArrowTable:
    """Return a table with some of its columns replaced."""
    for name, values in columns.items():
        table = table.set_column(table.schema.get_field_index(name), name, values)
    return table


def rows_of(column: ArrowArray) -> Rows:
    """Split a list column as `Rows.from_arrow` does; without a copy if possible."""
    array = as_array(column)
    count = len(array)
    if array.null_count == count:
        empty = array.type.value_type
        none: Ints = np.zeros(count + 1, dtype=np.int32)
        return Rows(none, pa.nulls(0, empty), np.ones(count, dtype=np.bool_))
    if array.null_count or not pa.types.is_list(array.type):
        rows = Rows.from_arrow(array)
        short: Ints = rows.start.astype(np.int32)
        return Rows(short, rows.values, rows.is_absent)
    start = array.offsets.to_numpy()
    start = start if start[0] == 0 else start - start[0]
    return Rows(start, array.flatten(), np.zeros(count, dtype=np.bool_))


def numbers_of(column: ArrowArray, absent: float) -> Any:  # noqa: ANN401 - (N,) numbers
    """Return a column as numbers; without a copy if it has no nulls."""
    array = as_array(column)
    if array.null_count == len(array):
        return np.full(len(array), absent, dtype=array.type.to_pandas_dtype())
    whole = array.fill_null(absent) if array.null_count else array
    return whole.to_numpy(zero_copy_only=False)


def aligned(column: ArrowArray, listed: Rows) -> tuple[Ints, BoolArray]:
    """
    Return a column that has a number per replica, or null.

    Returns
    -------
    ``(N,)`` numbers, `UNKNOWN` where absent; empty if all are. ``(P,)`` true for lists
    whose length differs from that of their replicas.
    """
    rows = rows_of(column)
    return _aligned(rows, numbers_of(rows.values, UNKNOWN), listed)


def _aligned(rows: Rows, numbers: Ints, listed: Rows) -> tuple[Ints, BoolArray]:
    if len(numbers) and np.array_equal(rows.start, listed.start):
        return numbers, np.zeros(len(listed.lengths), dtype=np.bool_)
    if rows.is_absent.all():
        return numbers, np.zeros(len(listed.lengths), dtype=np.bool_)
    is_unlike = ~rows.is_absent & (rows.lengths != listed.lengths)
    if not len(numbers):
        return numbers, is_unlike
    fits = ~rows.is_absent & ~is_unlike
    spread = np.full(len(listed.values), UNKNOWN, dtype=numbers.dtype)
    spread[np.repeat(fits, listed.lengths)] = numbers[np.repeat(fits, rows.lengths)]
    return spread, is_unlike


class Spots:
    """
    Places of replicas: a log dir of their broker, or an unknown log dir.

    A place is the row of a broker times `stride`, plus the number of a path.

    Parameters
    ----------
    rows
        Partitions.
    listed, broker
        Replicas of the partitions, and a function that returns the rows of their
        brokers.
    state
        Brokers and log dirs of the cluster.
    known
        Paths that are numbered first.

    Attributes
    ----------
    count, stride
        Number of places, in all and per broker; `stride` is 0 if paths are whole
        places.
    texts
        The paths: `known`, then other paths of these partitions.
    path
        ``(N,)`` path number of each replica.
    future
        ``(N,)`` path number to which a replica is being copied, or `ABSENT`; empty if
        none is.
    is_unlike
        ``(P,)`` true if the number of log dirs differs from that of replicas.
    """

    def __init__(
        self,
        rows: ArrowTable,
        listed: Rows,
        broker: Callable[[], Ints],
        state: ClusterState,
        known: ArrowArray,
    ) -> None:
        here, here_unlike = _coded(rows.column("log_dirs"), listed)
        future, future_unlike = _coded(rows.column("future_log_dirs"), listed)
        self.is_unlike = here_unlike | future_unlike
        texts = pa.concat_arrays([known, here.paths, future.paths]).unique()
        self.texts = texts
        self._paths = pa.concat_arrays([texts, pa.nulls(1, pa.string())])
        self._width = self.stride = len(self._paths)
        self._dirs = state.log_dirs
        self.path = here.numbered(texts, self._width - 1, len(listed.values))
        self.future = future.numbered(texts, ABSENT, 0)
        self.count = state.num_brokers * self._width
        self._keys: Ints | None = None
        if self.count > MOST_PLACES:
            self._compress(broker())

    def _compress(self, broker: Ints) -> None:
        """Assign numbers to the places in use alone."""
        # Unknown brokers have no place; their partitions are not summed.
        base = np.maximum(broker, 0).astype(np.int64) * self._width
        here = base + self.path
        is_there = self.future >= 0
        future = base[: len(self.future)] + self.future
        keys = np.unique(np.concatenate([here, future[is_there]]))
        self._keys, self.stride, self.count = keys, 0, len(keys)
        self.path = np.searchsorted(keys, here)
        self.future[is_there] = np.searchsorted(keys, future[is_there])

    @property
    def is_sparse(self) -> bool:
        """Whether only places in use have rows."""
        return self._keys is not None

    def flags(self, of_dirs: BoolArray) -> BoolArray:
        """Return ``(count,)`` the flag of the log dir of each place."""
        flags = np.zeros(max(self.count, 1), dtype=np.bool_)
        if not of_dirs.any():
            return flags
        paths = pa.array(self._dirs.paths, pa.string())
        at = pc.index_in(paths, value_set=self._paths, skip_nulls=True)
        number = at.fill_null(ABSENT).to_numpy(zero_copy_only=False)
        chosen = np.nonzero(of_dirs & (number >= 0))[0]
        keys = self._dirs.broker_idx[chosen].astype(np.int64) * self._width
        keys += number[chosen]
        if self._keys is not None:
            at = np.searchsorted(self._keys, keys)
            keys = at[np.append(self._keys, ABSENT)[at] == keys]
        flags[keys] = True
        return flags

    def names(self, used: Ints) -> tuple[Ints, ArrowArray]:
        """Return the rows of the brokers and the log dirs of places."""
        keys = used if self._keys is None else self._keys[used]
        paths = self._paths.take(pa.array(keys % self._width))
        return keys // self._width, paths


class _Coded:
    """Dictionary-encoded log dirs of replicas: path numbers and the paths."""

    def __init__(self, paths: ArrowArray, codes: Ints) -> None:
        self.paths = paths
        self.codes = codes

    def numbered(self, texts: ArrowArray, absent: int, count: int) -> Ints:
        """Return the index in `texts` of each replica's path; `count` without codes."""
        if not len(self.codes):
            return np.full(count, absent, dtype=np.int32)
        place = pc.index_in(self.paths, value_set=texts).to_numpy(zero_copy_only=False)
        table = np.append(place, absent).astype(np.int32)
        return np.take(table, self.codes, mode="wrap")


def _coded(column: ArrowArray, listed: Rows) -> tuple[_Coded, BoolArray]:
    rows = rows_of(column)
    values = as_array(rows.values)
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    numbers, is_unlike = _aligned(rows, numbers_of(values.indices, UNKNOWN), listed)
    return _Coded(values.dictionary.cast(pa.string()), numbers), is_unlike


def place_keys(*tables: ArrowTable) -> list[Ints]:
    """Return keys of tables of broker ids and paths, equal for equal log dirs."""
    chunks = [chunk for table in tables for chunk in table.column(1).chunks]
    paths = pa.chunked_array(chunks, pa.string()).unique()
    keys = []
    for table in tables:
        code = pc.index_in(table.column(1), value_set=paths).to_numpy()
        broker = table.column(0).to_numpy().astype(np.int64)
        keys.append(broker * max(len(paths), 1) + code)
    return keys
