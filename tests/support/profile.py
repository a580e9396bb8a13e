"""How many cases tests draw: by HYPOTHESIS_PROFILE."""

import os
from collections.abc import Iterable
from typing import TypeVar

Row = TypeVar("Row")
Column = TypeVar("Column")

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
IS_THOROUGH = PROFILE in {"thorough", "explore"}
"""Whether as many cases are drawn as a night allows."""
EVERY = 1 if IS_THOROUGH else 3
"""Of each row of a large table of cases one out of so many is tried."""


def crossed(rows: Iterable[Row], columns: Iterable[Column]) -> list[tuple[Row, Column]]:
    """Return each row with the columns it is tried with; each column has its turn."""
    columns = list(columns)
    return [
        (row, column)
        for number, row in enumerate(rows)
        for place, column in enumerate(columns)
        if (number + place) % EVERY == 0
    ]
