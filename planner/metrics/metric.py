"""A metric: its name, its unit, and the documents that its samples are read from."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

PREFIX = "kafka_planner_"
CLUSTER = "kafka_cluster"
"""Label of every metric. `cluster` is often a label of the Prometheus that scrapes."""

Document = Mapping[str, Any]
"""A document of `score`, or a row of `fleet overview`."""
Sample = tuple[tuple[str, ...], float | None]
"""Values of a metric's labels in their order, and the value; `None` where unknown."""
Reader = Callable[[Document], Iterable[Sample]]


def _none(_: Document) -> Iterable[Sample]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """
    A gauge with one value per cluster and combination of its labels.

    Parameters
    ----------
    name
        Name without `PREFIX`; ends in the unit, if there is one.
    help
        Meaning, one sentence without quotes and backslashes.
    unit
        Base unit in Prometheus' words; empty for counts and for truth values.
    labels
        Labels besides `CLUSTER`.
    score, overview
        Readers of a document of `score` and of a row of `fleet overview`; by default
        a document has no samples.
    """

    name: str
    help: str
    unit: str = ""
    labels: tuple[str, ...] = ()
    score: Reader = _none
    overview: Reader = _none

    def __post_init__(self) -> None:
        """Refuse a name that does not end in the unit."""
        if self.unit and not self.name.endswith(self.unit):
            msg = f"{self.name} must end in its unit, {self.unit}"
            raise ValueError(msg)

    @property
    def full_name(self) -> str:
        """Name in Prometheus."""
        return PREFIX + self.name

    @property
    def all_labels(self) -> tuple[str, ...]:
        """Labels of a sample, the cluster first."""
        return (CLUSTER, *self.labels)


def constant(value: float) -> Reader:
    """Return a reader of a value that every document has."""
    return lambda _: [((), value)]


def field(name: str, factor: float = 1) -> Reader:
    """Return a reader of one field, times a factor that converts its unit."""
    return lambda document: [((), _times(document.get(name), factor))]


def fields(names: Mapping[str, str], factor: float = 1) -> Reader:
    """Return a reader of several fields: name of each by value of the label."""
    return lambda document: [
        ((label,), _times(document.get(name), factor)) for label, name in names.items()
    ]


def _times(value: float | None, factor: float) -> float | None:
    return value if value is None or factor == 1 else value * factor
