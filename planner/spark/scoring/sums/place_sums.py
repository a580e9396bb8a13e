"""
Sums of the partitions of one snapshot by place: broker and log dir of a replica.

A task sums chunk by chunk. While the number of brokers times log dirs is small, places
have the same rows in every chunk, and no tables are merged at the end.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from placement.model.cluster import ClusterState
from planner.snapshot.tables.snapshot_columns import ArrowArray, ArrowTable
from planner.spark.scoring.kernels.tally import HELD, LED
from planner.spark.scoring.sums.replica_lists import Spots, place_keys
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


class PlaceSums:
    """
    Sums by place over successive chunks.

    Parameters
    ----------
    state
        Brokers and log dirs of the snapshot.

    Attributes
    ----------
    paths
        Paths of the log dirs met so far; later chunks number these first.
    """

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._spots: Spots | None = None
        self._held, self._led = empty_places(0)
        self._parts: list[ArrowTable] = []
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

    def table(self) -> ArrowTable:
        """Return the sums in the columns of `PLACES`, each place once."""
        self._finish()
        parts = self._parts or [PLACES.empty_table()]
        return parts[0] if len(parts) == 1 else places_once(parts)

    def _finish(self) -> None:
        if self._spots is not None:
            self._parts.append(self._of_spots(self._spots))
        self._spots = None

    def _of_spots(self, spots: Spots) -> ArrowTable:
        named = dict(zip(HELD, self._held.T, strict=True))
        named |= dict(zip(LED, self._led.T, strict=True))
        used = np.nonzero((named["replicas"] > 0) | (named["targets"] > 0))[0]
        brokers, paths = spots.names(used, self._state.brokers.ids)
        columns = [pa.array(named[name][used]) for name in PLACES.names[2:]]
        return pa.Table.from_arrays([brokers, paths, *columns], schema=PLACES)


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
