"""Lists of partitions as arrays of rows: brokers by their ids, places by log dirs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.cluster import ABSENT, UNKNOWN, ClusterState
from planner.snapshot.columns import ArrowArray, ArrowTable
from planner.snapshot.rows import Rows, as_array

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
MOST_PLACES = 1 << 22
"""Brokers times paths up to this have a row each; of more only those in use."""


def row_finder(ids: npt.NDArray[np.int32]) -> Callable[[Any], Ints]:
    """Return what finds the rows of brokers, `ABSENT` where there is none."""
    count = len(ids)
    if count and ids[-1] <= max(8 * count, 1 << 16):
        # One more at each end: of ids below 0, and of those above all.
        row_of = np.full(int(ids[-1]) + 3, ABSENT, dtype=np.int64)
        row_of[ids.astype(np.int64) + 1] = np.arange(count)
        return lambda wanted: row_of[np.clip(wanted, -1, int(ids[-1]) + 1) + 1]

    def search(wanted: Any) -> Ints:  # noqa: ANN401 - (N,) ids
        at = np.minimum(np.searchsorted(ids, wanted), max(count - 1, 0))
        if not count:
            return np.full(len(wanted), ABSENT, dtype=np.int64)
        return np.where(ids[at] == wanted, at, ABSENT).astype(np.int64)

    return search


def rows_of_ids(
    column: ArrowArray, find: Callable[[Any], Ints], listed: Rows, broker: Ints
) -> Rows:
    """Return a column of broker ids as rows; the very array where it has replicas."""
    found = Rows.from_arrow(column)
    if found.values.equals(listed.values):
        return Rows(found.start, broker, found.is_absent)
    ids = found.values.fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    return Rows(found.start, find(ids), found.is_absent)


def aligned(column: ArrowArray, listed: Rows) -> tuple[Ints, Flags]:
    """
    Return a column that has a number for each replica, or nothing.

    Returns
    -------
    ``(N,)`` numbers, `UNKNOWN` where there is none; empty where all are. ``(P,)`` true
    for lists that are not as long as their replicas.
    """
    rows = Rows.from_arrow(column)
    numbers = rows.values.fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    return _aligned(rows, numbers.astype(np.int64), listed)


def _aligned(rows: Rows, numbers: Ints, listed: Rows) -> tuple[Ints, Flags]:
    if len(numbers) and np.array_equal(rows.start, listed.start):
        return numbers, np.zeros(len(listed.lengths), dtype=np.bool_)
    is_unlike = ~rows.is_absent & (rows.lengths != listed.lengths)
    if not len(numbers):
        return numbers, is_unlike
    fits = ~rows.is_absent & ~is_unlike
    spread = np.full(len(listed.values), UNKNOWN, dtype=np.int64)
    spread[np.repeat(fits, listed.lengths)] = numbers[np.repeat(fits, rows.lengths)]
    return spread, is_unlike


class Spots:
    """
    Where replicas lie: in a log dir of their broker, or nobody says where.

    Parameters
    ----------
    rows
        Partitions.
    listed, broker
        Their replicas; ``(N,)`` rows of their brokers.
    state
        The cluster's brokers and log dirs.

    Attributes
    ----------
    count
        How many places there are.
    here
        ``(N,)`` the place of each replica.
    future
        ``(N,)`` the place it is being copied to, or `ABSENT`; empty where none is.
    is_unlike
        ``(P,)`` true where log dirs are not as many as replicas.
    """

    def __init__(
        self, rows: ArrowTable, listed: Rows, broker: Ints, state: ClusterState
    ) -> None:
        here, here_unlike = _coded(rows.column("log_dirs"), listed)
        future, future_unlike = _coded(rows.column("future_log_dirs"), listed)
        self.is_unlike = here_unlike | future_unlike
        texts = pa.concat_arrays([here.paths, future.paths]).unique()
        self._paths = pa.concat_arrays([texts, pa.nulls(1, pa.string())])
        self._width = len(self._paths)
        self._dirs = state.log_dirs
        # Brokers that nobody lists have no place; their partitions are not placed.
        base = np.maximum(broker, 0) * self._width
        self.here = base + here.numbered(texts, self._width - 1, len(broker))
        self.future = future.numbered(texts, ABSENT, 0)
        self.future = np.where(
            self.future < 0, ABSENT, base[: len(self.future)] + self.future
        )
        self.count = state.num_brokers * self._width
        self._keys: Ints | None = None
        if self.count > MOST_PLACES:
            self._compress()

    def _compress(self) -> None:
        """Give rows to the places in use alone."""
        keys = np.unique(np.concatenate([self.here, self.future]))
        self._keys = keys[keys >= 0]
        self.here = np.searchsorted(self._keys, self.here)
        is_there = self.future >= 0
        self.future[is_there] = np.searchsorted(self._keys, self.future[is_there])
        self.count = len(self._keys)

    def flags(self, of_dirs: Flags) -> Flags:
        """Return ``(count,)`` what is true of the log dirs of the places."""
        flags = np.zeros(max(self.count, 1), dtype=np.bool_)
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

    def names(self, used: Ints, ids: Any) -> tuple[ArrowArray, ArrowArray]:  # noqa: ANN401 - (B,) ids
        """Return the brokers and the log dirs of places."""
        keys = used if self._keys is None else self._keys[used]
        paths = self._paths.take(pa.array(keys % self._width))
        return pa.array(ids[keys // self._width], pa.int32()), paths


class _Coded:
    """Log dirs of replicas: a number for each, and the paths that these stand for."""

    def __init__(self, paths: ArrowArray, codes: Ints) -> None:
        self.paths = paths
        self.codes = codes

    def numbered(self, texts: ArrowArray, absent: int, count: int) -> Ints:
        """Return the place of each replica's path in texts; `count` where no codes."""
        if not len(self.codes):
            return np.full(count, absent, dtype=np.int64)
        place = pc.index_in(self.paths, value_set=texts).to_numpy(zero_copy_only=False)
        table = np.append(place, absent).astype(np.int64)
        return table[self.codes]


def _coded(column: ArrowArray, listed: Rows) -> tuple[_Coded, Flags]:
    rows = Rows.from_arrow(column)
    values = as_array(rows.values)
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    codes = values.indices.fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    numbers, is_unlike = _aligned(rows, codes.astype(np.int64), listed)
    return _Coded(values.dictionary.cast(pa.string()), numbers), is_unlike


def place_keys(*tables: ArrowTable) -> list[Ints]:
    """Return equal numbers for equal log dirs of tables of broker ids and paths."""
    chunks = [chunk for table in tables for chunk in table.column(1).chunks]
    paths = pa.chunked_array(chunks, pa.string()).unique()
    keys = []
    for table in tables:
        code = pc.index_in(table.column(1), value_set=paths).to_numpy()
        broker = table.column(0).to_numpy().astype(np.int64)
        keys.append(broker * max(len(paths), 1) + code)
    return keys
