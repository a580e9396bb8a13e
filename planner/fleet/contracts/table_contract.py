"""Contract of one table: columns, keys, and layout of its rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from planner.fleet.contracts.snapshot_columns import Meaning

VERSION = 1
"""Value of the column `version` of every table that this release writes."""
VERSION_COLUMN = "version"
VERSION_MEANING: Meaning = (
    "Version of the table's contract.",
    "",
    "written by an older release",
)
TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableContract:
    """
    Columns and keys of one table that commands on fleets write.

    Parameters
    ----------
    name
        Name of the folder in a results folder, or of the table in a catalog.
    columns
        Arrow schema, without the column `version` that every table has.
    keys
        Columns that together identify a row; a key may be null.
    meanings
        Meaning, unit and nulls of each column.
    is_by_day
        Whether rows are partitioned by the day of `taken_at`.
    """

    name: str
    columns: Any
    keys: tuple[str, ...]
    meanings: Mapping[str, Meaning]
    is_by_day: bool = True

    @property
    def schema(self) -> Any:  # noqa: ANN401 - an Arrow schema
        """Arrow schema of the table as it is written."""
        return pa.schema([*self.columns, (VERSION_COLUMN, pa.int32())])

    def meaning(self, column: str) -> Meaning:
        """Return meaning, unit and nulls of a column."""
        return VERSION_MEANING if column == VERSION_COLUMN else self.meanings[column]

    def metadata(self, column: str) -> dict[str, str]:
        """Return the metadata of a column in a written table: its comment and unit."""
        text, unit, null = self.meaning(column)
        more = [f"Unit: {unit}." if unit else "", f"Null: {null}." if null else ""]
        found = {"comment": " ".join(filter(None, (text, *more)))}
        return found | ({"unit": unit} if unit else {})
