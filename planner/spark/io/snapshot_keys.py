"""Keys of snapshots in tables of many snapshots."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.fleet_files import TIME

Key = tuple[str | None, int]
"""Key of a snapshot: cluster id, and time in microseconds since 1970."""
NO_TIME = -(2**62)
"""Time in the key of rows without a time."""
MANY: Key = (None, NO_TIME + 1)
"""Key of shuffle rows that concern several snapshots; no snapshot has it."""


def order_of(key: Key) -> tuple[str, int]:
    """Return a value that sorts keys; a missing cluster id sorts as an empty one."""
    return key[0] or "", key[1]


def micros_of(rows: ArrowTable) -> npt.NDArray[np.int64]:
    """Return ``(N,)`` the times of rows in microseconds, `NO_TIME` where null."""
    micros = rows.column("taken_at").cast(TIME).cast(pa.int64())
    filled = micros.fill_null(NO_TIME) if micros.null_count else micros
    found: npt.NDArray[np.int64] = filled.to_numpy()
    return found


def by_key(rows: ArrowTable) -> Iterator[tuple[Key, ArrowTable]]:
    """Yield adjacent rows of one snapshot together."""
    if not len(rows):
        return
    micros = micros_of(rows)
    names = rows.column("cluster_id").combine_chunks()
    if not pa.types.is_dictionary(names.type):
        names = names.dictionary_encode()
    if isinstance(names, pa.ChunkedArray):
        names = names.unify_dictionaries().combine_chunks()
    codes = names.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    texts = [*names.dictionary.to_pylist(), None]
    is_new = (codes[1:] != codes[:-1]) | (micros[1:] != micros[:-1])
    starts = np.append(0, np.nonzero(is_new)[0] + 1).tolist()
    for low, high in zip(starts, [*starts[1:], len(rows)], strict=True):
        key = (texts[codes[low]], int(micros[low]))
        yield key, rows.slice(low, high - low)
