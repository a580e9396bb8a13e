"""Number of cases that tests draw, set by HYPOTHESIS_PROFILE."""

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

Row = TypeVar("Row")
Column = TypeVar("Column")
Case = TypeVar("Case")

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


def sampled(cases: Sequence[Case], first: int = 0) -> Sequence[Case]:
    """Return every `EVERY`-th case of a test that takes long, from one of them on."""
    return cases[first % EVERY :: EVERY]
