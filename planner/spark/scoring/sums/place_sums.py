"""
Sums of the partitions of snapshots by place: broker and log dir of a replica.

A task sums chunk by chunk. While the number of brokers times log dirs is small, places
have the same rows in every chunk, and no tables are merged at the end.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from planner.snapshot.tables.snapshot_columns import ArrowArray, ArrowTable
from planner.spark.scoring.kernels.tally import HELD, LED
from planner.spark.scoring.sums.replica_lists import Spots, place_keys
from planner.spark.scoring.sums.snapshot_grounds import Ground
from planner.spark.scoring.sums.sum_arrays import HEAVIEST, LOADS, Ints, empty_places

PLACES = pa.schema(
    [
        ("broker_id", pa.int32()),
        ("log_dir", pa.string()),
        *((name, pa.int64()) for name in (*LOADS, *HEAVIEST)),
        ("copied", pa.int64()),
    ]
)
"""`copied`: bytes of replicas in other places that are being copied to this place."""
NO_PLACES = PLACES.empty_table()


class PlaceSums:
    """
    Sums by place over successive chunks.

    Parameters
    ----------
    ground
        Brokers and log dirs of the snapshots.

    Attributes
    ----------
    paths
        Paths of the log dirs met so far; later chunks number these first.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._spots: Spots | None = None
        self._held, self._led = empty_places(0)
        self._parts: list[list[ArrowTable]] = [[] for _ in range(len(ground))]
        self.paths: ArrowArray = pa.array([], pa.string())

    def arrays(self, spots: Spots) -> tuple[Ints, Ints]:
        """Return the arrays to which the partitions of a chunk are added."""
        if spots.is_sparse or self._spots is None or self._spots.is_sparse:
            self._finish()
            self._held, self._led = empty_places(spots.count)
        elif spots.stride > self._spots.stride:
            self._widen(self._spots.stride, spots)
        self._spots, self.paths = spots, spots.texts
        return self._held, self._led

    def _widen(self, width: int, spots: Spots) -> None:
        """Enlarge the arrays for more log dirs; keep the unknown log dir last."""
        held, led = empty_places(spots.count)
        for old, new in ((self._held, held), (self._led, led)):
            was = old.reshape(-1, width, old.shape[1])
            now = new.reshape(-1, spots.stride, new.shape[1])
            now[:, : width - 1] = was[:, :-1]
            now[:, -1] = was[:, -1]
        self._held, self._led = held, led

    def tables(self) -> list[ArrowTable]:
        """Return the sums of each snapshot in the columns of `PLACES`."""
        self._finish()
        return [
            parts[0] if len(parts) == 1 else places_once(parts or [NO_PLACES])
            for parts in self._parts
        ]

    def _finish(self) -> None:
        if self._spots is not None:
            found = self._of_spots(self._spots)
            for parts, table in zip(self._parts, found, strict=True):
                parts.append(table)
        self._spots = None

    def _of_spots(self, spots: Spots) -> Iterator[ArrowTable]:
        """Yield the places in use of each snapshot."""
        named = dict(zip(HELD, self._held.T, strict=True))
        named |= dict(zip(LED, self._led.T, strict=True))
        used = np.nonzero((named["replicas"] > 0) | (named["targets"] > 0))[0]
        rows, paths = spots.names(used)
        columns = [pa.array(named[name][used]) for name in PLACES.names[2:]]
        ids = pa.array(self._ground.ids[rows], pa.int32())
        table = pa.Table.from_arrays([ids, paths, *columns], schema=PLACES)
        first = np.searchsorted(rows, self._ground.first_broker)
        for low, high in pairwise(first.tolist()):
            yield table.slice(low, high - low)


def places_once(parts: Sequence[ArrowTable]) -> ArrowTable:
    """Merge tables in the columns of `PLACES`, so that each place occurs once."""
    figures = [(name, "sum") for name in (*LOADS, "copied")]
    figures += [(name, "max") for name in HEAVIEST]
    together = pa.concat_tables(parts)
    (keys,) = place_keys(together.select(["broker_id", "log_dir"]))
    if len(np.unique(keys)) == len(keys):
        return together.select(PLACES.names)
    found = together.group_by(["broker_id", "log_dir"]).aggregate(figures)
    plain = {f"{name}_{how}": name for name, how in figures}
    named = found.rename_columns([plain.get(n, n) for n in found.column_names])
    return named.select(PLACES.names)
