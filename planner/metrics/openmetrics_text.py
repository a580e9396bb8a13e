"""
Text of metrics in the format OpenMetrics 1.0.

Every line is also valid in Prometheus' older text format, which the textfile collector
of node_exporter reads: all metrics are gauges, without time stamps or exemplars.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from planner.errors import InputProblem, raise_problems
from planner.metrics.metric import Document, Metric, Sample
from planner.metrics.metric_list import METRICS

END = "# EOF\n"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def score_metrics(documents: Sequence[Document]) -> str:
    """
    Return the metrics of documents of `score`.

    Raises
    ------
    BadInputError
        If two documents are of one cluster, whose samples would have the same labels.
    """
    _check_clusters(documents)
    return _text(
        (metric, [(_cluster(each), list(metric.score(each))) for each in documents])
        for metric in METRICS
    )


def overview_metrics(rows: Sequence[Document]) -> str:
    """Return the metrics of rows of `fleet overview`; it has one row per cluster."""
    return _text(
        (metric, [(_cluster(row), list(metric.overview(row))) for row in rows])
        for metric in METRICS
    )


def _cluster(document: Document) -> str:
    """Return the id of the cluster; empty, which is no label, where it is unknown."""
    return str(document["cluster_id"] or "")


def _check_clusters(documents: Sequence[Document]) -> None:
    counts = Counter(map(_cluster, documents))
    problems = [
        InputProblem.of_option(
            "SNAP",
            cluster or "no cluster id",
            f"{count} snapshots are of one cluster; metrics have a value per cluster",
            "name only its last snapshot, or write a file of metrics for each",
        )
        for cluster, count in counts.items()
        if count > 1
    ]
    raise_problems("metrics need one snapshot per cluster", problems)


Family = tuple[Metric, Iterable[tuple[str, Sequence[Sample]]]]
"""A metric with its samples, by cluster."""


def _text(families: Iterable[Family]) -> str:
    return "".join(line for family in families for line in _lines(*family)) + END


def _lines(
    metric: Metric, samples: Iterable[tuple[str, Sequence[Sample]]]
) -> Iterator[str]:
    """Yield the lines of a metric; none where no value of it is known."""
    name = metric.full_name
    known = [
        f"{name}{{{_labels(metric, (cluster, *values))}}} {_number(value)}\n"
        for cluster, listed in samples
        for values, value in listed
        if value is not None
    ]
    if known:
        yield f"# TYPE {name} gauge\n"
        if metric.unit:
            yield f"# UNIT {name} {metric.unit}\n"
        yield f"# HELP {name} {metric.help}\n"
        yield from known


def _number(value: float) -> str:
    """Return a number with all its digits; also one of numpy's."""
    return str(value) if isinstance(value, int) else repr(float(value))


def _labels(metric: Metric, values: tuple[str, ...]) -> str:
    pairs = zip(metric.all_labels, values, strict=True)
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in pairs)
