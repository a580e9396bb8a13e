"""Costs of a fleet on the screen of `fleet overview`, and in its document."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer

from planner.cli.common.spark_options import print_columns
from planner.cli.fleet.fleet_lines import MOST_LINES
from planner.fleet.overview_costs import PARTS

MOST_NAMED = 8
WORDS = {
    "cost_brokers": "brokers",
    "cost_cross_rack": "replication between racks",
    "cost_remote": "remote storage",
}


def cost_lines(costs: Mapping[str, Any], unit: str) -> Iterator[str]:
    """Yield the costs of the fleet by owner, and the savings of fewer brokers."""
    parts = [
        f"{WORDS[name]} {amount_text(costs[name])}"
        for name in PARTS
        if costs[name] is not None
    ]
    yield f"Costs: {amount_text(costs['cost_total'])} {unit}: {', '.join(parts)}"
    for name, label in (("by_owner", "By owner"), ("by_tag", "By tag")):
        shown = _largest(costs[name])
        if shown:
            yield f"{label}: {shown}"
    balanced, least = costs["saving_if_balanced"], costs["saving_at_most"]
    if balanced or least:
        yield (
            f"Saved at most: {amount_text(balanced or 0)} by balance alone, no broker "
            f"fuller than the fullest now; {amount_text(least or 0)} by the fewest "
            "brokers that keep the thresholds when a broker or rack is lost"
        )
    if costs["without_prices"]:
        yield f"Without a price for every broker: {costs['without_prices']:,} clusters"


def print_cluster_costs(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print costs and possible savings of each cluster, the most expensive first."""
    priced = [row for row in rows if row.get("cost_total") is not None]
    dearest = sorted(priced, key=lambda row: -row["cost_total"])
    head = [
        *("Cluster", "costs", "of it racks"),
        *("brokers", "balanced", "saves", "least", "saves"),
    ]
    print_columns(head, [_cells(row) for row in dearest[:MOST_LINES]])
    if len(dearest) > MOST_LINES:
        typer.echo(f"… and {len(dearest) - MOST_LINES} more; --format json has all")


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        str(row["cluster_id"])[:20],
        amount_text(row["cost_total"]),
        _amount(row["cost_cross_rack"]),
        str(row["brokers"]),
        _count(row["brokers_if_balanced"]),
        _amount(row["saving_if_balanced"]),
        _count(row["brokers_at_least"]),
        _amount(row["saving_at_most"]),
    )


def _amount(value: float | None) -> str:
    return "-" if value is None else amount_text(value)


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)


def amount_text(value: float) -> str:
    """
    Return an amount of money.

    Examples
    --------
    >>> amount_text(12.345), amount_text(12345.6)
    ('12.35', '12,346')
    """
    return f"{value:,.2f}" if value < 1000 else f"{value:,.0f}"


def _largest(costs: Mapping[str, float]) -> str:
    """Return the largest amounts by name, and the number of the others."""
    largest = Counter(costs).most_common()
    shown: Sequence[str] = [
        f"{name or '(none)'} {amount_text(cost)}" for name, cost in largest[:MOST_NAMED]
    ]
    if set(costs) <= {""}:
        return ""
    rest = len(largest) - MOST_NAMED
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")
