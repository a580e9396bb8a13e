"""Costs of a whole fleet, as sums over its clusters."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PARTS = ("cost_brokers", "cost_cross_rack", "cost_remote")
_SUMMED = (*PARTS, "cost_total", "saving_if_balanced", "saving_at_most")


def fleet_costs(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """
    Add up the costs of clusters.

    Parameters
    ----------
    rows
        Rows of an overview with prices.

    Returns
    -------
    Sums of the amounts (`None` if no cluster has one), `by_owner` and `by_tag`, and
    `without_prices`: the number of clusters with a broker without a price.
    """
    sums = {name: _sum(row.get(name) for row in rows) for name in _SUMMED}
    missing = sum(
        row["status"] == "ok" and row.get("cost_brokers") is None for row in rows
    )
    return {
        **sums,
        "by_owner": _merged(row.get("cost_by_owner") for row in rows),
        "by_tag": _merged(row.get("cost_by_tag") for row in rows),
        "without_prices": missing,
    }


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _merged(maps: Iterable[Mapping[str, float] | None]) -> dict[str, float]:
    found: dict[str, float] = {}
    for each in maps:
        for name, cost in dict(each or ()).items():
            found[name] = found.get(name, 0.0) + cost
    return dict(sorted(found.items()))
