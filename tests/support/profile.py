"""Number of cases that tests draw, set by HYPOTHESIS_PROFILE."""

import os
from collections.abc import Iterable
from typing import TypeVar

Row = TypeVar("Row")
Column = TypeVar("Column")

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
IS_THOROUGH = PROFILE in {"thorough", "explore"}
"""Whether tests draw as many cases as the nightly workflow."""
EVERY = 1 if IS_THOROUGH else 3
"""Distance between the tried cells in a row of a large table of cases."""


def crossed(rows: Iterable[Row], columns: Iterable[Column]) -> list[tuple[Row, Column]]:
    """Return every `EVERY`-th cell of a table, each row starting one column later."""
    columns = list(columns)
    return [
        (row, column)
        for number, row in enumerate(rows)
        for place, column in enumerate(columns)
        if (number + place) % EVERY == 0
    ]
