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
    offline, under_min_isr, under_replicated, rack
        Number of partitions that are offline, under min ISR, that have a replica out of
        sync, and against the rack rule.
    offline_replicas
        Number of replicas on brokers, or in log dirs, that do not serve.
    disk, broker
        Use of the fullest disk, a fraction, and the id of its broker; `None`: unknown.
    full
        Days until a disk is full, and their interval; `None`: never, or unknown.
    over
        Number of brokers over a threshold by resource; ``""``: over any threshold.
    full_dirs
        Number of log dirs over the disk threshold on brokers that are not over it.
    brokers
        Number of brokers; 0: unknown.
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
    offline_replicas: int = 0
    under_replicated: int = 0
    rack: int = 0
    disk: float | None = None
    broker: int | None = None
    full: tuple[float | None, float | None, float | None] = (None, None, None)
    over: Mapping[str, int]
    full_dirs: int = 0
    brokers: int = 0
    out: int = 0
    least_bytes: int | None = None
    more: Sequence[str] = ()

    def rank(self) -> tuple[float, ...]:
        """Return the sort key by which the worst cluster is the first."""
        return (
            -self.offline,
            -self.under_min_isr,
            -self.offline_replicas,
            -sum(self.over.values()) - self.full_dirs,
            -(self.disk or 0.0),
            -self.out,
        )

    @property
    def is_broken(self) -> bool:
        """Whether partitions or replicas do not serve, or lag."""
        broken = (self.offline, self.under_min_isr, self.offline_replicas)
        return any(broken) or self.under_replicated > 0

    def parts(self) -> Iterator[str]:
        """Yield the problems, then the commands that help."""
        yield from self._broken()
        yield from self._disk()
        # A broker over its threshold comes before one out of its band.
        over = [*self.over_texts()]
        yield from over
        if self.out and not over:
            yield f"{self.out} out"
        yield from self._counted(self.rack, "partition", "against the rack rule")
        if not over:
            yield from self.more
        yield from self._remedies()

    def _broken(self) -> Iterator[str]:
        """Yield what does not serve, or lags."""
        yield from self._counted(self.offline, "partition", "offline")
        yield from self._counted(self.under_min_isr, "partition", "under min ISR")
        yield from self._counted(self.offline_replicas, "replica", "offline")
        if not self.offline_replicas:
            lagging = self.under_replicated
            yield from self._counted(lagging, "partition", "under-replicated")

    @staticmethod
    def _counted(count: int, noun: str, words: str) -> Iterator[str]:
        from planner.text.format import plural

        if count:
            yield f"{plural(count, noun)} {words}"

    def _disk(self) -> Iterator[str]:
        if self.disk is not None:
            where = "" if self.broker is None else f", broker {self.broker}"
            yield f"disk {100 * self.disk:.0f} %{where}"
        days = self.full[0]
        if (self.disk or 0.0) >= 1 or days == 0:
            yield "full now"
        elif days is not None:
            yield f"full in {days_text(*self.full)}"

    def over_texts(self) -> Iterator[str]:
        """Yield how many brokers, and log dirs, are over a threshold."""
        counts = {resource: count for resource, count in self.over.items() if count}
        if counts:
            named = ", ".join(name for name in counts if name)
            where = "" if named in {"", "disk"} else f" ({named})"
            yield f"{max(counts.values())} over{where}"
        yield from self._counted(self.full_dirs, "log dir", "over")

    def _remedies(self) -> Iterator[str]:
        from planner.text.format import bytes_text

        is_over = any(self.over.values())
        if self.is_broken:
            yield "see status"
        if self.rack:
            yield "plan fix"
        if self.full_dirs and not is_over:
            yield "plan log-dirs"
        # Loads are uneven while brokers are down: that comes first.
        if is_over and not self.out and max(self.over.values()) >= self.brokers > 0:
            # Loads are even, and no broker is left to relieve another one.
            yield "more capacity: see size"
        elif is_over or (self.out and not self.is_broken):
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
    if any(each.out or [*each.over_texts()] for each in facts[:MOST_LINES]):
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
        # Scores of older versions lack them.
        offline_replicas=violations.get("offline_replicas") or 0,
        under_replicated=violations["under_replicated"],
        rack=violations["rack"],
        disk=resources["disk"]["max_use"],
        broker=document["fullest_broker"],
        over={
            resource: figures["brokers_over_threshold"] or 0
            for resource, figures in resources.items()
        },
        brokers=document["brokers"],
        full_dirs=document.get("log_dirs_over_threshold") or 0,
        # A broker may be out of several bands.
        out=max(f["brokers_out_of_band"] or 0 for f in resources.values()),
    )
