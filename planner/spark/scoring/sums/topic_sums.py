"""Figures of the topics of snapshots, from the partial sums of their partitions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import FloatArray
from placement.model.load import UNITS, Resource
from placement.score import VIOLATIONS
from placement.score.balance_statistics import Spread
from placement.score.level_loads import TopicLevel
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.scoring.kernels.tally import COUNTED
from planner.spark.scoring.sums.sum_arrays import LOADS

BROKEN_AS = {"rack": "rack_broken"}
"""Columns named other than their rule, since `rack` is a rack's name in scores."""


class TopicSums:
    """
    Sums of the partitions of each topic.

    Parameters
    ----------
    parts
        Per snapshot, rows of `planner.spark.scoring.sums.partial_sums.TOPICS`; a topic
        may have several rows.
    listed
        Per snapshot, `topic`: names in the table of topics, including topics without
        partitions.

    Attributes
    ----------
    names
        ``(T,)`` names of the topics, sorted by snapshot and name.
    first
        ``(S + 1,)`` first topic of each snapshot.
    """

    def __init__(
        self, parts: Sequence[ArrowTable], listed: Sequence[ArrowTable]
    ) -> None:
        tables = [*parts, *listed]
        column = pa.chunked_array(
            [chunk for table in tables for chunk in table.column("topic").chunks],
            pa.string(),
        )
        texts = column.unique()
        texts = texts.take(pc.array_sort_indices(texts))
        code = pc.index_in(column, value_set=texts).to_numpy().astype(np.int64)
        of = np.tile(np.arange(len(parts)), 2).repeat([len(table) for table in tables])
        keys, row = np.unique(of * len(texts) + code, return_inverse=True)
        self.names = texts.take(pa.array(keys % max(len(texts), 1)))
        self.first = np.searchsorted(
            keys // max(len(texts), 1), np.arange(len(parts) + 1)
        )
        self._parts = pa.concat_tables(parts).combine_chunks()
        self._row = row[: len(self._parts)]
        self.counted = {name: self._summed(name) for name in COUNTED}

    def _summed(self, name: str) -> Any:  # noqa: ANN401 - (T,) ints or floats
        values = self._parts.column(name).to_numpy()
        total = np.zeros(len(self.names), dtype=values.dtype)
        np.add.at(total, self._row, values)
        return total

    def level(self) -> TopicLevel:
        """Return the figures of the topics."""
        partitions = self.counted["partitions"]
        known = [
            np.where(
                partitions > 0,
                self.counted.get(f"knows_{name}", partitions)
                / np.maximum(partitions, 1),
                1.0,
            )
            for name in LOADS
        ]
        return TopicLevel(
            partitions=partitions,
            replicas=self.counted["replicas"],
            spread=tuple(self._spread(name) for name in LOADS),
            known_fraction=np.stack(known, axis=1),
            broken={
                rule: self.counted[BROKEN_AS.get(rule, rule)]
                for rule in VIOLATIONS
                if rule != "over_capacity"
            },
        )

    def _spread(self, name: str) -> Spread:
        unit = UNITS[Resource(name)]
        count = np.maximum(self.counted["partitions"], 1)
        total = self._summed(f"sum_{name}") / unit
        mean = total / count
        largest, least = (self._end(end, name) / unit for end in ("max", "min"))
        deviation = np.sqrt(self._squares(name) / count) / unit
        is_loaded = total > 0
        squares = count * (deviation**2 + mean**2)
        return Spread(
            total=total,
            mean=mean,
            max=largest,
            min=least,
            max_over_mean=_over(largest, mean, is_loaded, 0.0),
            cv=_over(deviation, mean, is_loaded, 0.0),
            jain=_over(total**2, count * squares, is_loaded, 1.0),
        )

    def _end(self, end: str, name: str) -> Any:  # noqa: ANN401 - (T,) ints
        values = self._parts.column(f"{end}_{name}").to_numpy()
        most = np.iinfo(np.int64).max
        found = np.full(len(self.names), -1 if end == "max" else most, dtype=np.int64)
        (np.maximum if end == "max" else np.minimum).at(found, self._row, values)
        return np.where(self.counted["partitions"] > 0, found, 0)

    def _squares(self, name: str) -> FloatArray:
        """
        Return ``(T,)`` sums of squared distances from the mean.

        Each part has the sum of squared distances from its own mean; the distance of
        that mean from the mean of all parts is added. Sums of squared loads would lose
        all digits if the loads are nearly equal.
        """
        count = self._parts.column("partitions").to_numpy().astype(np.float64)
        own = self._parts.column(f"sum_{name}").to_numpy() / np.maximum(count, 1.0)
        all_ = self.counted["partitions"]
        mean = self._summed(f"sum_{name}") / np.maximum(all_, 1)
        away = own - mean[self._row]
        total = self._summed(f"square_{name}")
        np.add.at(total, self._row, count * away * away)
        squares: FloatArray = total
        return squares


def _over(
    value: FloatArray,
    unit: FloatArray,
    is_loaded: npt.NDArray[np.bool_],
    otherwise: float,
) -> FloatArray:
    safe = np.where(is_loaded & (unit > 0), unit, 1.0)
    return np.where(is_loaded, value / safe, otherwise)
