"""
The metrics of `score` and of `fleet overview`, each declared once.

The text of OpenMetrics, the Grafana dashboard and the alert rules of
`examples/monitoring`, and the table of docs/monitoring.md are derived from `METRICS`.
"""

from collections.abc import Iterable
from datetime import datetime

from planner.metrics.metric import (
    Document,
    Metric,
    Reader,
    Sample,
    constant,
    field,
    fields,
)

MOST_BROKERS = 500
"""Brokers of a cluster up to which each broker has samples of its own."""
_SECONDS_PER_DAY = 86_400


def _taken_at(document: Document) -> Iterable[Sample]:
    taken_at = document.get("taken_at")
    if taken_at is not None:
        yield (), datetime.fromisoformat(taken_at).timestamp()


def _of_resources(figure: str) -> Reader:
    """Return a reader of a figure of each resource of a score."""
    return lambda document: [
        ((resource,), figures[figure])
        for resource, figures in document["resources"].items()
    ]


def _total(resource: str) -> Reader:
    return lambda document: [((), document["resources"][resource]["total"])]


def _violations(document: Document) -> Iterable[Sample]:
    for rule, count in document["violations"].items():
        yield (rule,), count


def _most_of_log_dirs(document: Document) -> Iterable[Sample]:
    uses = [each["disk"]["use"] for each in document.get("by_log_dir") or ()]
    yield (), max((use for use in uses if use is not None), default=None)


def _brokers(document: Document) -> list[Document]:
    """Return the brokers of a score; none where they are too many, or not listed."""
    listed: list[Document] = document.get("by_broker") or []
    return listed if len(listed) <= MOST_BROKERS else []


def _of_brokers(figure: str) -> Reader:
    """Return a reader of a figure of each broker and resource."""
    return lambda document: [
        ((str(broker["broker"]), broker["rack"] or "", resource), cells[figure])
        for broker in _brokers(document)
        for resource in document["resources"]
        if (cells := broker[resource])
    ]


def _brokers_omitted(document: Document) -> Iterable[Sample]:
    yield (), document["brokers"] - len(_brokers(document))


def _is_scored(row: Document) -> Iterable[Sample]:
    yield (), int(row["status"] == "ok")


def _is_complete(document: Document) -> Iterable[Sample]:
    yield (), int(document["complete"])


def _known_in(row: Document) -> Iterable[Sample]:
    unknown = row["unknown_fraction"]
    yield ("in",), None if unknown is None else 1 - unknown


_RESOURCE = ("resource",)
_BROKER = ("broker", "rack", "resource")
_COUNTED_RULES = {
    "rack": "rack",
    "offline_partitions": "offline_partitions",
    "under_min_isr": "under_min_isr",
    "offline_replicas": "offline_replicas",
    "under_replicated": "under_replicated",
    "over_capacity": "over_capacity",
    "rf1": "rf1_partitions",
    "rf_equals_min_isr": "rf_equals_min_isr",
}
"""Columns of an overview by rule."""

SCORED = Metric(
    name="cluster_scored",
    help="1 if the last snapshot of the cluster was scored, 0 if it could not be.",
    score=constant(1),
    overview=_is_scored,
)
TAKEN_AT = Metric(
    name="snapshot_timestamp_seconds",
    help="Time at which the snapshot was taken, in seconds since 1970.",
    unit="seconds",
    score=_taken_at,
    overview=_taken_at,
)
COMPLETE = Metric(
    name="snapshot_complete",
    help="1 if no partition is missing in the snapshot, else 0.",
    score=_is_complete,
)
BROKERS = Metric(
    name="brokers",
    help="Brokers of the cluster.",
    score=field("brokers"),
    overview=field("brokers"),
)
PARTITIONS = Metric(
    name="partitions",
    help="Partitions of the cluster.",
    score=field("partitions"),
    overview=field("partitions"),
)
REPLICAS = Metric(
    name="replicas",
    help="Replicas of the cluster.",
    score=field("replicas"),
    overview=field("replicas"),
)
VIOLATIONS = Metric(
    name="violations",
    help="Partitions, replicas or brokers that break a rule.",
    labels=("rule",),
    score=_violations,
    overview=fields(_COUNTED_RULES),
)
HOT_SPOTS = Metric(
    name="hot_spots",
    help="Pairs of broker and resource above the band or the capacity threshold.",
    score=field("num_hot_spots"),
    overview=field("num_hot_spots"),
)
OUT_OF_BAND = Metric(
    name="brokers_out_of_band",
    help="Brokers whose load of any resource is out of its band.",
    overview=field("brokers_out_of_band"),
)
OVER_THRESHOLD = Metric(
    name="brokers_over_threshold",
    help="Brokers whose load of any resource is above its capacity threshold.",
    overview=field("brokers_over_threshold"),
)
RESOURCE_OUT_OF_BAND = Metric(
    name="resource_brokers_out_of_band",
    help="Brokers whose load of the resource is out of its band.",
    labels=_RESOURCE,
    score=_of_resources("brokers_out_of_band"),
)
RESOURCE_OVER_THRESHOLD = Metric(
    name="resource_brokers_over_threshold",
    help="Brokers whose load of the resource is above its capacity threshold.",
    labels=_RESOURCE,
    score=_of_resources("brokers_over_threshold"),
)
MIN_BYTES = Metric(
    name="balance_min_bytes",
    help="Proven least bytes that a plan moves to bring every broker into its bands.",
    unit="bytes",
    score=field("min_bytes_to_balance"),
    overview=field("min_bytes_to_balance"),
)
MAX_USE = Metric(
    name="max_use_ratio",
    help="Largest load of a broker as a fraction of its capacity.",
    unit="ratio",
    labels=_RESOURCE,
    score=_of_resources("max_use"),
    overview=fields({"disk": "max_disk_use"}),
)
MEAN_USE = Metric(
    name="mean_use_ratio",
    help="Mean over brokers of the load as a fraction of the capacity.",
    unit="ratio",
    labels=_RESOURCE,
    score=_of_resources("mean_use"),
)
LOG_DIR_MAX_USE = Metric(
    name="log_dir_max_use_ratio",
    help="Largest use of a log dir as a fraction of its size.",
    unit="ratio",
    score=_most_of_log_dirs,
)
MAX_DEVIATION = Metric(
    name="max_deviation_ratio",
    help="Largest distance of a broker from its target as a fraction of the target.",
    unit="ratio",
    labels=_RESOURCE,
    score=_of_resources("max_deviation"),
)
VARIATION = Metric(
    name="load_variation_ratio",
    help="Standard deviation over brokers divided by the mean.",
    unit="ratio",
    labels=_RESOURCE,
    score=_of_resources("cv"),
)
KNOWN = Metric(
    name="known_ratio",
    help="Fraction of the partitions of which the load is known.",
    unit="ratio",
    labels=_RESOURCE,
    score=_of_resources("known_fraction"),
    overview=_known_in,
)
DISK = Metric(
    name="disk_bytes",
    help="Bytes of all replicas.",
    unit="bytes",
    score=_total("disk"),
)
BYTES_IN = Metric(
    name="in_bytes_per_second",
    help="Bytes that all brokers receive from producers and from leaders.",
    unit="bytes_per_second",
    score=_total("in"),
)
BYTES_OUT = Metric(
    name="out_bytes_per_second",
    help="Bytes that all leaders send to consumers and to followers.",
    unit="bytes_per_second",
    score=_total("out"),
)
CPU = Metric(
    name="cpu_cores",
    help="Cores that all brokers use.",
    unit="cores",
    score=_total("cpu"),
)
CROSS_RACK = Metric(
    name="cross_rack_bytes_per_second",
    help="Bytes of replication from rack to rack.",
    unit="bytes_per_second",
    overview=field("cross_rack_bytes_per_s"),
)
HEADROOM = Metric(
    name="headroom_ratio",
    help="Free fraction of the scarcest resource after a loss; below 0: no room.",
    unit="ratio",
    labels=("loss",),
    overview=fields({"broker": "headroom_n1_broker", "rack": "headroom_n1_rack"}),
)
GROWTH = Metric(
    name="disk_growth_bytes_per_second",
    help="Growth of the bytes on disks; needs --trends.",
    unit="bytes_per_second",
    overview=field("growth_bytes_per_day", 1 / _SECONDS_PER_DAY),
)
UNTIL_FULL = Metric(
    name="until_first_disk_full_seconds",
    help="Time until the first disk is full, and its interval of 95 %; needs --trends.",
    unit="seconds",
    labels=("estimate",),
    overview=fields(
        {
            "expected": "days_until_full",
            "low": "days_until_full_low",
            "high": "days_until_full_high",
        },
        _SECONDS_PER_DAY,
    ),
)
MOVED = Metric(
    name="moved_bytes",
    help="Bytes moved since the snapshot before; needs --changes.",
    unit="bytes",
    overview=field("moved_bytes_since"),
)
BROKER_USE = Metric(
    name="broker_use_ratio",
    help="Load of a broker as a fraction of its capacity.",
    unit="ratio",
    labels=_BROKER,
    score=_of_brokers("use"),
)
BROKER_DEVIATION = Metric(
    name="broker_deviation_ratio",
    help="Load of a broker divided by its target, minus 1.",
    unit="ratio",
    labels=_BROKER,
    score=_of_brokers("deviation"),
)
BROKERS_OMITTED = Metric(
    name="brokers_omitted",
    help=f"Brokers without samples of their own; all of them above {MOST_BROKERS}.",
    score=_brokers_omitted,
)
METRICS = (
    *(SCORED, TAKEN_AT, COMPLETE, BROKERS, PARTITIONS, REPLICAS),
    *(VIOLATIONS, HOT_SPOTS, OUT_OF_BAND, OVER_THRESHOLD),
    *(RESOURCE_OUT_OF_BAND, RESOURCE_OVER_THRESHOLD, MIN_BYTES),
    *(MAX_USE, MEAN_USE, LOG_DIR_MAX_USE, MAX_DEVIATION, VARIATION, KNOWN),
    *(DISK, BYTES_IN, BYTES_OUT, CPU, CROSS_RACK),
    *(HEADROOM, GROWTH, UNTIL_FULL, MOVED),
    *(BROKER_USE, BROKER_DEVIATION, BROKERS_OMITTED),
)
"""All metrics, in the order of the text."""
