"""Rows of the log dirs of a snapshot, from its paths."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import (
    IndexArray,
    OffsetArray,
)
from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    Brokers,
    LogDirs,
    LogDirState,
)
from planner.snapshot.column_arrays import codes, integers, rows_of, spread_values
from planner.snapshot.tables.snapshot_columns import (
    LOG_DIR_STATES,
    ArrowArray,
    ArrowTable,
)
from planner.snapshot.tables.table_rows import Rows, as_array

LOG_DIR_COLUMNS = ("log_dirs", "future_log_dirs")
"""Columns of partitions that name log dirs."""


class LogDirRows:
    """
    Log dirs that brokers list, and those that only replicas name.

    The key of a log dir is one number, broker row × number of paths + path. Paths are
    numbered in sorted order, so that ascending keys are the order of `LogDirs`.
    """

    def __init__(
        self,
        table: ArrowTable,
        brokers: Brokers,
        named: Mapping[str, ArrowArray],
        replicas: Rows,
        broker_idx: IndexArray,
    ) -> None:
        self._replicas = replicas
        self._broker_idx = broker_idx
        self._table = table
        self._named = {name: Rows.from_arrow(lists) for name, lists in named.items()}
        encoded = {
            name: rows.values.dictionary_encode() for name, rows in self._named.items()
        }
        listed = as_array(self._table.column("path"))
        names = pa.concat_arrays([listed, *(e.dictionary for e in encoded.values())])
        self._paths = sorted(names.unique().drop_null().to_pylist())
        self._width = np.int64(len(self._paths) + 1)
        owner = rows_of(brokers, integers(self._table.column("broker_id")))
        self._listed_keys = owner * self._width + self._numbers(listed)
        self._replica_keys = {
            name: self._keys_of(name, array) for name, array in encoded.items()
        }
        # Log dirs that brokers list or replicas name, each once.
        used = [distinct(keys[keys >= 0]) for keys in self._replica_keys.values()]
        self._keys = np.unique(np.concatenate([self._listed_keys, *used]))

    def _numbers(self, paths: ArrowArray) -> OffsetArray:
        numbers = pc.index_in(paths, value_set=pa.array(self._paths, pa.string()))
        return numbers.to_numpy(zero_copy_only=False).astype(np.int64)  # type: ignore[no-any-return]

    def _keys_of(self, name: str, encoded: ArrowArray) -> OffsetArray:
        """Return ``(R,)`` the key of the log dir that each replica names, or -1."""
        numbers = np.append(self._numbers(encoded.dictionary), -1)
        code = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        path = spread_values(self._named[name], numbers[code], self._replicas)
        return np.where(path >= 0, self._broker_idx * self._width + path, ABSENT)

    def idx_of(self, name: str) -> IndexArray:
        """Return ``(R,)`` the row of the log dir that each replica names."""
        keys = self._replica_keys[name]
        if not len(self._keys) or not np.any(keys >= 0):
            return np.full(len(keys), ABSENT, dtype=np.int32)
        rows = np.searchsorted(self._keys, keys)
        return np.where(keys >= 0, rows, ABSENT).astype(np.int32)

    def log_dirs(self) -> LogDirs:
        """Return all log dirs."""
        at = np.searchsorted(self._keys, self._listed_keys)
        paths = np.array(self._paths, dtype=np.object_)

        def spread(values: npt.NDArray[Any], absent: int) -> npt.NDArray[Any]:
            column = np.full(len(self._keys), absent, dtype=values.dtype)
            column[at] = values
            return column

        state = codes(self._table.column("state"), LOG_DIR_STATES, LogDirState.ONLINE)
        return LogDirs(
            broker_idx=(self._keys // self._width).astype(np.int32),
            paths=tuple(paths[self._keys % self._width]),
            size_bytes=spread(integers(self._table.column("size_bytes")), UNKNOWN),
            usable_bytes=spread(integers(self._table.column("usable_bytes")), UNKNOWN),
            state=spread(state, LogDirState.ONLINE),
        )


def distinct(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the distinct numbers in order of appearance, by hashing."""
    found: npt.NDArray[np.int64] = pa.array(keys).unique().to_numpy()
    return found
