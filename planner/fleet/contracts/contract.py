"""The contract of one table: columns, keys, and how its rows are laid out."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

VERSION = 1
"""Value of the column `version` of every table that this release writes."""
VERSION_COLUMN = "version"
TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableContract:
    """
    Columns and keys of one table that commands on fleets write.

    Parameters
    ----------
    name
        Folder in a results folder, or table in a schema of a catalog.
    columns
        Arrow schema, without the column `version` that every table has besides.
    keys
        Columns that together name a row; a key may be null.
    is_by_day
        Whether rows are laid out by the day of `taken_at`.
    """

    name: str
    columns: Any
    keys: tuple[str, ...]
    is_by_day: bool = True

    @property
    def schema(self) -> Any:  # noqa: ANN401 - an Arrow schema
        """Arrow schema of the table as it is written."""
        return pa.schema([*self.columns, (VERSION_COLUMN, pa.int32())])

    def metadata(self, column: str) -> dict[str, str]:
        """Return what the schema says of a column besides its type."""
        return {}
