"""Costs of a fleet on the screen of `fleet overview`, and in its document."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.fleet.overview_costs import PARTS

MOST_NAMED = 8
WORDS = {
    "cost_brokers": "brokers",
    "cost_cross_rack": "replication between racks",
    "cost_remote": "remote storage",
}


def cost_lines(costs: Mapping[str, Any], unit: str) -> Iterator[str]:
    """Yield what the fleet costs, by whose it is, and what fewer brokers would save."""
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


def saving_words(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a cluster costs, and how many brokers fewer might do."""
    if row.get("cost_total") is None:
        return
    unit = f"{row['cost_currency']} a {row['cost_per']}".strip()
    yield f"costs {amount_text(row['cost_total'])} {unit}"
    saved, least = row["saving_at_most"], row["brokers_at_least"]
    if saved:
        yield (
            f"{least} of {row['brokers']} brokers might do, saves at most "
            f"{amount_text(saved)} (see size)"
        )


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
    """Return the largest amounts by name, and how many more there are."""
    largest = Counter(costs).most_common()
    shown: Sequence[str] = [
        f"{name or '(none)'} {amount_text(cost)}" for name, cost in largest[:MOST_NAMED]
    ]
    if set(costs) <= {""}:
        return ""
    rest = len(largest) - MOST_NAMED
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")
