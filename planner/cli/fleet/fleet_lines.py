"""One line per cluster of a fleet: its problems, and the commands that help."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

MOST_LINES = 50
INDENT = "  "
LEGEND = "over, out: brokers over a threshold, and out of a band of their fair share"
YEAR_DAYS = 365.2425
MOST_YEARS = 5
"""Longest forecast of a disk that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """
    Facts about a cluster in its line.

    Parameters
    ----------
    cluster_id
        Id of the cluster.
    offline, under_min_isr, rack
        Number of partitions that are offline, under min ISR, and against the rack rule.
    disk, broker
        Use of the fullest disk, a fraction, and the id of its broker; `None`: unknown.
    full
        Days until a disk is full, and their interval; `None`: never, or unknown.
    over
        Number of brokers over a threshold by resource; ``""``: over any threshold.
    out
        Number of brokers out of band.
    least_bytes
        Lower bound of bytes that balancing moves; `None`: unknown.
    more
        Further parts of the line.
    """

    cluster_id: str
    offline: int = 0
    under_min_isr: int = 0
    rack: int = 0
    disk: float | None = None
    broker: int | None = None
    full: tuple[float | None, float | None, float | None] = (None, None, None)
    over: Mapping[str, int]
    out: int = 0
    least_bytes: int | None = None
    more: Sequence[str] = ()

    def rank(self) -> tuple[float, ...]:
        """Return the sort key by which the worst cluster is the first."""
        return (
            -self.offline,
            -self.under_min_isr,
            -sum(self.over.values()),
            -(self.disk or 0.0),
            -self.out,
        )

    def parts(self) -> Iterator[str]:
        """Yield the problems, then the commands that help."""
        from planner.text.format import plural

        if self.offline:
            yield f"{plural(self.offline, 'partition')} offline"
        if self.under_min_isr:
            yield f"{plural(self.under_min_isr, 'partition')} under min ISR"
        yield from self._disk()
        # A broker over its threshold comes before one out of its band.
        over = [*self._over()]
        yield from over
        if self.out and not over:
            yield f"{self.out} out"
        if self.rack:
            yield f"{plural(self.rack, 'partition')} against the rack rule"
        if not over:
            yield from self.more
        yield from self._remedies()

    def _disk(self) -> Iterator[str]:
        if self.disk is not None:
            where = "" if self.broker is None else f", broker {self.broker}"
            yield f"disk {100 * self.disk:.0f} %{where}"
        days = self.full[0]
        if (self.disk or 0.0) >= 1 or days == 0:
            yield "full now"
        elif days is not None:
            yield f"full in {days_text(*self.full)}"

    def _over(self) -> Iterator[str]:
        counts = {resource: count for resource, count in self.over.items() if count}
        if counts:
            named = ", ".join(name for name in counts if name)
            where = "" if named in {"", "disk"} else f" ({named})"
            yield f"{max(counts.values())} over{where}"

    def _remedies(self) -> Iterator[str]:
        from planner.text.format import bytes_text

        if self.offline or self.under_min_isr:
            yield "see status"
        if self.rack:
            yield "plan fix"
        if self.out or any(self.over.values()):
            least = self.least_bytes
            amount = "" if least is None else f" moves ≥ {bytes_text(least)}"
            yield f"plan rebalance{amount}"


def days_text(days: float | None, low: float | None, high: float | None) -> str:
    """
    Return days with their interval.

    Examples
    --------
    >>> days_text(12.4, 9, 20), days_text(12, 9, None), days_text(22078, 900, None)
    ('12 d (9-20)', '12 d (9-…)', '> 5 years')
    """
    if days is None:
        return "-"
    if days > MOST_YEARS * YEAR_DAYS:
        return f"> {MOST_YEARS} years"
    if low is None or days == 0:
        return f"{days:.0f} d"
    last = "…" if high is None else f"{high:.0f}"
    return f"{days:.0f} d ({low:.0f}-{last})"


def print_lines(facts: Sequence[ClusterFacts]) -> None:
    """Print the first clusters in the given order; long lines are wrapped."""
    for each in facts[:MOST_LINES]:
        facts_text = "; ".join(each.parts()) or "nothing to do"
        print_wrapped(f"{each.cluster_id}: {facts_text}")
    if len(facts) > MOST_LINES:
        typer.echo(f"… and {len(facts) - MOST_LINES} more; --format json has all")
    if any(each.out or any(each.over.values()) for each in facts[:MOST_LINES]):
        typer.echo(LEGEND)


def print_wrapped(text: str) -> None:
    """Print a text wrapped to the screen; all lines but the first are indented."""
    from planner.text.format import SCREEN_WIDTH, wrapped

    first, *rest = wrapped(text, SCREEN_WIDTH - len(INDENT)) or [""]
    typer.echo(first)
    for line in rest:
        typer.echo(f"{INDENT}{line}")


def facts_of_score(document: Mapping[str, Any]) -> ClusterFacts:
    """Return the facts of a score; a cluster without scores has a note instead."""
    name = str(document["cluster_id"])
    if document["status"] != "ok":
        taken = document["taken_at"]
        reason = f"no scores of the snapshot of {taken}; see problems/"
        return ClusterFacts(cluster_id=name, over={}, more=[reason])
    resources, violations = document["resources"], document["violations"]
    return ClusterFacts(
        cluster_id=name,
        offline=violations["offline_partitions"],
        under_min_isr=violations["under_min_isr"],
        rack=violations["rack"],
        disk=resources["disk"]["max_use"],
        broker=document["fullest_broker"],
        over={
            resource: figures["brokers_over_threshold"] or 0
            for resource, figures in resources.items()
        },
        # A broker may be out of several bands.
        out=max(f["brokers_out_of_band"] or 0 for f in resources.values()),
    )
