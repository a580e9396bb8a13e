"""Tables of a snapshot as read, and values that several checks derive from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import BoolArray
from planner.snapshot.tables.snapshot_columns import ArrowArray, ArrowTable
from planner.snapshot.tables.table_rows import Rows, as_array

MIN_ISR = "min.insync.replicas"


@dataclass(frozen=True)
class Facts:
    """
    Tables of a snapshot, and values that several checks derive from them.

    Parameters
    ----------
    configs
        Configs of the cluster.
    controllers
        Members of the controllers' quorum.
    tables
        The Arrow tables by name, in canonical types.
    """

    configs: Mapping[str, str]
    controllers: tuple[Mapping[str, Any], ...]
    tables: Mapping[str, ArrowTable]

    def column(self, table: str, name: str) -> ArrowArray:
        """Return a column of a table as one Arrow array."""
        return as_array(self.tables[table].column(name))

    def numbers(self, table: str, name: str) -> npt.NDArray[Any]:
        """Return an integer column as numpy, -1 where null."""
        column = self.column(table, name).fill_null(-1)
        return column.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    @cached_property
    def broker_ids(self) -> npt.NDArray[Any]:
        """``(B,)`` the broker ids, as read."""
        return self.numbers("brokers", "id")

    @cached_property
    def replicas(self) -> Rows:
        """Broker ids of the replicas, by partition."""
        return self.members("replicas")

    def members(self, name: str) -> Rows:
        """Return a column of broker id lists of the partitions."""
        return Rows.of_ids(self.column("partitions", name))

    @cached_property
    def online_dirs(self) -> BoolArray:
        """``(D,)`` true for log dirs that are not offline."""
        state = self.column("log_dirs", "state").fill_null("online")
        is_online = pc.not_equal(state, "offline")
        return is_online.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def repeated_rows(codes: npt.NDArray[Any]) -> list[int]:
    """Return the rows whose code occurs in an earlier row, ascending."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    is_repeated = np.equal(ordered[1:], ordered[:-1])
    return sorted(order[1:][is_repeated].tolist())


def codes_of(column: ArrowArray) -> npt.NDArray[np.int64]:
    """Return ``(N,)`` numbers that are equal for equal strings, -1 for null."""
    indices = column.dictionary_encode().indices.fill_null(-1)
    return indices.to_numpy(zero_copy_only=False).astype(np.int64)  # type: ignore[no-any-return]


def dir_totals(facts: Facts, broker_ids: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """
    Sum the log dirs of each broker that are not offline.

    Parameters
    ----------
    facts
        The tables.
    broker_ids
        ``(B,)`` ids, in any order.

    Returns
    -------
    ``(B,)`` bytes, or -1 for a broker without log dirs or with one of unknown size.
    """
    total = np.zeros(len(broker_ids), dtype=np.int64)
    is_unknown = np.ones(len(broker_ids), dtype=bool)
    if not len(broker_ids):
        return total
    order = np.argsort(broker_ids, kind="stable")
    owner = facts.numbers("log_dirs", "broker_id")
    at = np.searchsorted(broker_ids, owner, sorter=order).clip(max=len(order) - 1)
    row = order[at]
    is_owned = np.equal(broker_ids[row], owner)
    size = facts.numbers("log_dirs", "size_bytes")
    is_unknown[row[is_owned]] = False
    is_unknown[row[is_owned & facts.online_dirs & (size < 0)]] = True
    counted = is_owned & facts.online_dirs & (size >= 0)
    np.add.at(total, row[counted], size[counted])
    return np.where(is_unknown, -1, total)


def config_values(
    column: ArrowArray,
    key: str,
) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the rows of a map column with a key, and the values of the key."""
    maps = as_array(column)
    if not len(maps):
        return np.zeros(0, dtype=np.int64), []
    rows = Rows.from_arrow(maps.cast(pa.list_(maps.type.field(0))))
    keys, items = rows.values.field(0), rows.values.field(1)
    is_key = pc.equal(keys, key).to_numpy(zero_copy_only=False)
    at = np.flatnonzero(is_key)
    return rows.row_idx[at], items.take(pa.array(at)).to_pylist()
