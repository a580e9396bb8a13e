"""Conditions of `fleet overview --fail-on`, on the columns of an overview."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from placement.model.load import RESOURCES
from planner.fleet.cluster_costs import COST_FIELDS
from planner.fleet.cluster_overview import FORECAST, MOVED, SCHEMA
from planner.score.fail_on import NAMES, Condition, parse_conditions

_IDS = ("worst_broker", "fullest_broker")
FIGURES = (
    *(
        field.name
        for field in SCHEMA
        if field.type in {pa.int64(), pa.int32(), pa.float64()}
        and field.name not in _IDS
    ),
    *FORECAST,
    MOVED[0],
)
"""Columns that a condition can name."""

_OF_SCORES = {
    **{
        name: "use 'fleet score --fail-on' for it"
        for name in NAMES
        if name.partition(".")[0] in set(map(str, RESOURCES))
    },
    "disk.max_use": "write max_disk_use",
}
"""Remedies by name of figures that scores have and overviews lack."""


def overview_conditions(
    texts: Sequence[str],
    *,
    has_trends: bool,
    has_changes: bool,
    has_prices: bool = True,
) -> dict[str, Condition]:
    """
    Parse conditions on the columns of an overview.

    Parameters
    ----------
    texts
        Conditions, as in `planner.score.fail_on.parse_conditions`.
    has_trends, has_changes, has_prices
        Whether the overview has the columns of trends, changes and prices.

    Raises
    ------
    BadInputError
        With every problem of the conditions.
    """
    absent = dict(_OF_SCORES)
    if not has_trends:
        absent |= dict.fromkeys(FORECAST, "give --trends FOLDER")
    if not has_changes:
        absent |= {MOVED[0]: "give --changes FOLDER"}
    if not has_prices:
        absent |= dict.fromkeys(dict(COST_FIELDS), "give --prices FILE")
    return parse_conditions(texts, FIGURES, absent)


def figures_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the figures of a row by the names that conditions use.

    A disk that does not grow gets infinitely many days until it is full.
    """
    figures = dict(row) | {"violations": row}
    if row.get(FORECAST[0]) is not None:
        never = {n: math.inf for n in FORECAST[1:2] if row.get(n) is None}
        figures |= never
    return figures
