"""Growth of topics by a file, an option or measured trends."""

import re
from collections.abc import Mapping, Sequence
from math import log1p

import numpy as np

from placement.array_types import BoolArray
from placement.demand.topic_growth import DAYS_PER_MONTH, growth_of_trends
from placement.model.cluster import ClusterState
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.changes.scenario_records import GrowthRecord

Rates = tuple[float, float, float]
"""Compound, linear and disk growth of a topic, as fractions per day."""
_OPTION = re.compile(r"([+-]?\d*\.?\d+)\s*(%?)\s*(?:/|per |a )\s*(day|month|year)")
_DAYS = {"day": 1.0, "month": DAYS_PER_MONTH, "year": 365.2425}


def read_growth(
    records: Sequence[GrowthRecord], state: ClusterState, names: NameReader
) -> dict[str, Rates]:
    """Return the growth of each topic by name; the last matching record counts."""
    found: dict[str, Rates] = {}
    for at, record in enumerate(records):
        place = f"growth[{at}]"
        chosen = names.topics(place, record, state)
        rates = _rates_of(record, state, chosen, names, place)
        rows = np.nonzero(chosen)[0].tolist()
        found |= dict.fromkeys((state.topics.names[t] for t in rows), rates)
    return found


def _rates_of(
    record: GrowthRecord,
    state: ClusterState,
    chosen: BoolArray,
    names: NameReader,
    place: str,
) -> Rates:
    keys = ("per_day", "per_month", "bytes_per_day")
    given = [key for key in keys if getattr(record, key) is not None]
    if len(given) != 1:
        rule = f"one of {', '.join(keys)} must be given"
        names.refuse(place, ", ".join(given), rule, "give one, remove the others")
        return (0.0, 0.0, 0.0)
    if record.bytes_per_day is not None:
        size = np.maximum(state.partitions.size_bytes, 0)
        whole = float(size[chosen[state.partitions.topic_idx]].sum())
        return (0.0, 0.0, record.bytes_per_day / whole if whole else 0.0)
    rate, days = (
        (record.per_day, 1.0)
        if record.per_day is not None
        else (record.per_month or 0.0, DAYS_PER_MONTH)
    )
    return _steady(rate or 0.0, days, is_linear=record.linear)


def _steady(rate: float, days: float, *, is_linear: bool) -> Rates:
    return (0.0, rate / days, 0.0) if is_linear else (log1p(rate) / days, 0.0, 0.0)


def trend_rates(
    bytes_per_day: Mapping[str, float], state: ClusterState
) -> dict[str, Rates]:
    """
    Return the growth of each topic by measured trends.

    Parameters
    ----------
    bytes_per_day
        Growth of one copy of each topic in bytes per day. Topics left out do not grow.
    state
        Today's cluster.
    """
    growth = growth_of_trends(state, bytes_per_day)
    return {
        name: (0.0, 0.0, float(rate))
        for name, rate in zip(state.topics.names, growth.disk_per_day, strict=True)
    }


def parse_growth(text: str) -> Rates:
    """
    Parse growth of all topics, such as ``5%/month`` or ``0.2/year``.

    Raises
    ------
    ValueError
        If the text is no growth, or the rate is -100 % or less.

    Examples
    --------
    >>> parse_growth("5 % / month") == parse_growth("0.05/month")
    True
    """
    match = _OPTION.fullmatch(text.strip())
    rate = float(match[1]) / (100 if match[2] else 1) if match else -1.0
    if match is None or rate <= -1:
        msg = "must be growth per day, month or year, such as 5%/month"
        raise ValueError(msg)
    return _steady(rate, _DAYS[match[3]], is_linear=False)
