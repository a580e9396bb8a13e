"""Growth of topics as Python callers give it."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from planner.api.errors import required
from planner.errors import BadInputError
from planner.io.problems import problem
from planner.snapshot import Snapshot
from planner.what_if.growth_trends import read_trends
from planner.what_if.topic_growth import Rates, parse_growth, trend_rates

AnyGrowth = str | Mapping[str, float] | PathLike[str]
"""
``"5%/month"`` for all topics; bytes of growth per day by name of the topic; or the
folder of `fleet trends`, as a `Path`.
"""


def growth_rates(
    growth: AnyGrowth | None, snapshot: Snapshot
) -> Rates | Mapping[str, Rates] | None:
    """Return rates of growth, one for all topics or by topic; `None`: not given."""
    if growth is None or isinstance(growth, str):
        return None if growth is None else _parsed_growth(growth)
    if isinstance(growth, PathLike):
        return read_trends(Path(growth), snapshot.cluster_id)
    if not isinstance(growth, Mapping):
        rule = "must be a text, bytes of growth per day by topic, or a path"
        raise _refusal(growth, rule)
    return trend_rates(growth, required(snapshot).to_state())


def _parsed_growth(text: str) -> Rates:
    try:
        return parse_growth(text)
    except ValueError as error:
        raise _refusal(text, str(error)) from error


def _refusal(growth: object, rule: str) -> BadInputError:
    found = problem("arguments", "growth", str(growth), rule, "write 5%/month")
    msg = "bad arguments"
    return BadInputError(msg, [found])
