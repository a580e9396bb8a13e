"""
Columns of a snapshot's tables: names, types, bounds.

All code that reads or writes a snapshot takes names and types from here.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

# pyarrow has no types; these names document the intended ones.
ArrowArray: TypeAlias = Any
ArrowTable: TypeAlias = Any

MAX_INT32 = 2**31 - 1
MAX_INT64 = 2**63 - 1
MAX_RATE = 1e18
"""Largest rate or number of cores accepted: sums of billions of them stay finite."""
MAX_TOTAL = 2**62
"""Sums of bytes stay below this, so that int64 arithmetic on them is safe."""

BROKER_STATES = ("alive", "new", "demoted", "shutting-down", "fenced", "dead")
LOG_DIR_STATES = ("online", "offline", "cordoned")
STORAGES = ("local", "tiered", "shared", "unknown")

STRING_MAP = pa.map_(pa.string(), pa.string())


@dataclass(frozen=True, slots=True)
class Column:
    """
    One column of one table.

    Parameters
    ----------
    name
        Name, as in the Parquet files.
    type
        Arrow type of the column in a `Snapshot`.
    is_required
        Whether the column must exist, without nulls.
    low, high
        Bounds of the column's numbers, or of the numbers in its lists.
    choices
        Allowed strings; empty for any.
    may_hold_null
        Whether the lists of the column may have null elements.
    """

    name: str
    type: Any
    is_required: bool = False
    low: int = 0
    high: float = MAX_INT64
    choices: tuple[str, ...] = ()
    may_hold_null: bool = False


@dataclass(frozen=True, slots=True)
class TableColumns:
    """
    The columns of one table.

    Parameters
    ----------
    name
        Name of the table, and of the field of `Snapshot`.
    columns
        Columns of the table, in canonical order.
    """

    name: str
    columns: tuple[Column, ...]

    @property
    def file(self) -> str:
        """Name of the table's file in a Parquet folder."""
        return f"{self.name}.parquet"

    @property
    def schema(self) -> ArrowTable:
        """Arrow schema of the table."""
        return pa.schema([pa.field(c.name, c.type) for c in self.columns])

    def empty(self) -> ArrowTable:
        """Return the table without rows."""
        return self.schema.empty_table()


def _broker(name: str, *, is_required: bool = False, low: int = 0) -> Column:
    return Column(name, pa.int32(), is_required=is_required, low=low, high=MAX_INT32)


def _brokers(name: str, *, is_required: bool = False) -> Column:
    kind = pa.list_(pa.int32())
    return Column(name, kind, is_required=is_required, high=MAX_INT32)


def _bytes(name: str) -> Column:
    return Column(name, pa.int64())


def _rate(name: str) -> Column:
    return Column(name, pa.float64(), high=MAX_RATE)


def _text(name: str, **rules: Any) -> Column:  # noqa: ANN401 - rules of Column
    return Column(name, pa.string(), **rules)


BROKERS = TableColumns(
    "brokers",
    (
        _broker("id", is_required=True),
        _text("rack"),
        _text("host"),
        _text("state", choices=BROKER_STATES),
        _text("broker_set"),
        _bytes("disk_bytes"),
        _rate("in_bytes_per_s"),
        _rate("out_bytes_per_s"),
        _rate("cpu_cores"),
        _bytes("max_replicas"),
        Column("configs", STRING_MAP),
        Column("tags", STRING_MAP),
    ),
)
LOG_DIRS = TableColumns(
    "log_dirs",
    (
        _broker("broker_id", is_required=True),
        _text("path", is_required=True),
        _bytes("size_bytes"),
        _bytes("usable_bytes"),
        _text("state", choices=LOG_DIR_STATES),
    ),
)
TOPICS = TableColumns(
    "topics",
    (
        _text("topic", is_required=True),
        _text("topic_id"),
        _text("storage", choices=STORAGES),
        Column("configs", STRING_MAP),
        Column("tags", STRING_MAP),
    ),
)
PARTITIONS = TableColumns(
    "partitions",
    (
        _text("topic", is_required=True),
        _broker("partition", is_required=True),
        _brokers("replicas", is_required=True),
        _broker("leader", low=-1),
        _brokers("isr"),
        _brokers("elr"),
        _brokers("last_known_elr"),
        _brokers("adding_replicas"),
        _brokers("removing_replicas"),
        _brokers("offline_replicas"),
        Column("log_dirs", pa.list_(pa.string()), may_hold_null=True),
        Column("future_log_dirs", pa.list_(pa.string()), may_hold_null=True),
        _bytes("size_bytes"),
        Column("replica_bytes", pa.list_(pa.int64()), may_hold_null=True),
        _bytes("remote_bytes"),
        _rate("in_bytes_per_s"),
        _rate("out_bytes_per_s"),
        _rate("leader_cpu_cores"),
        _rate("follower_cpu_cores"),
    ),
)
TABLES = (BROKERS, LOG_DIRS, TOPICS, PARTITIONS)
ROW_KEYS = {
    "brokers": ("id",),
    "log_dirs": ("broker_id", "path"),
    "topics": ("topic",),
    "partitions": ("topic", "partition"),
}
"""Columns that name the rows of each table, in the order of a snapshot's rows."""
