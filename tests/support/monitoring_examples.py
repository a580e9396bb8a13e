"""Dashboard and alert rules of examples/monitoring, from the list of metrics."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from planner.metrics import metric_list as m
from planner.metrics.metric import CLUSTER, Metric

FOLDER = Path(__file__).parents[2] / "examples" / "monitoring"
PAGE = FOLDER.parents[1] / "docs" / "monitoring.md"
MARK = "<!-- metrics: "
DAY = 86_400
ALL_CLUSTERS = f'{CLUSTER}=~"$kafka_cluster"'
UNITS = {
    "": "short",
    "bytes": "decbytes",
    "bytes_per_second": "Bps",
    "cores": "short",
    "ratio": "percentunit",
    "seconds": "s",
}
"""Units of Grafana by unit of a metric."""


@dataclass(frozen=True)
class Alert:
    """An alert rule; it fires once the expression has held for `lasts`."""

    name: str
    expression: str
    lasts: str
    severity: str
    summary: str
    remedy: str


def selected(metric: Metric, **labels: str) -> str:
    """A selector of a metric."""
    pairs = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{metric.full_name}{{{pairs}}}" if pairs else metric.full_name


OF = "Kafka cluster {{ $labels.kafka_cluster }}"
ALERTS = (
    Alert(
        "KafkaPlannerNoMetrics",
        f"absent({selected(m.SCORED)})",
        "1h",
        "warning",
        "There are no metrics of kafka-planner",
        "Look at the job that scores, and at the target that is scraped.",
    ),
    Alert(
        "KafkaPlannerSnapshotOld",
        f"time() - {selected(m.TAKEN_AT)} > {2 * 3600}",
        "15m",
        "warning",
        f"{OF}: the last snapshot is {{{{ $value | humanizeDuration }}}} old",
        "Look at the last run of the job; its metrics stay as they were.",
    ),
    Alert(
        "KafkaPlannerClusterNotScored",
        f"{selected(m.SCORED)} == 0",
        "15m",
        "warning",
        f"{OF}: the last snapshot could not be scored",
        "The screen of kafka-planner fleet overview has the reason.",
    ),
    Alert(
        "KafkaPlannerSnapshotIncomplete",
        f"{selected(m.COMPLETE)} == 0",
        "1h",
        "warning",
        f"{OF}: partitions are missing in the snapshot",
        "kafka-planner snapshot show names what is missing.",
    ),
    Alert(
        "KafkaPartitionsOffline",
        f"{selected(m.VIOLATIONS, rule='offline_partitions')} > 0",
        "0s",
        "critical",
        f"{OF}: {{{{ $value }}}} partitions have no leader",
        "kafka-planner status lists them, and the commands that help.",
    ),
    Alert(
        "KafkaPartitionsUnderMinIsr",
        f"{selected(m.VIOLATIONS, rule='under_min_isr')} > 0",
        "5m",
        "critical",
        f"{OF}: {{{{ $value }}}} partitions refuse writes with acks=all",
        "kafka-planner status lists them, and the commands that help.",
    ),
    Alert(
        "KafkaReplicasShareRack",
        f"{selected(m.VIOLATIONS, rule='rack')} > 0",
        "1h",
        "warning",
        f"{OF}: {{{{ $value }}}} partitions are not spread over racks",
        "kafka-planner plan fix spreads them.",
    ),
    Alert(
        "KafkaBrokerOverCapacity",
        f"{selected(m.VIOLATIONS, rule='over_capacity')} > 0",
        "30m",
        "warning",
        f"{OF}: {{{{ $value }}}} loads are above their capacity threshold",
        "kafka-planner score names the brokers, kafka-planner plan rebalance relieves "
        "them.",
    ),
    Alert(
        "KafkaDiskNearlyFull",
        f"{selected(m.MAX_USE, resource='disk')} > 0.9",
        "15m",
        "critical",
        f"{OF}: the fullest broker uses {{{{ $value | humanizePercentage }}}} of its "
        "disks",
        "kafka-planner plan rebalance relieves it; kafka-planner size says how many "
        "brokers are needed.",
    ),
    Alert(
        "KafkaLogDirNearlyFull",
        f"{selected(m.LOG_DIR_MAX_USE)} > 0.9",
        "15m",
        "critical",
        f"{OF}: the fullest log dir uses {{{{ $value | humanizePercentage }}}} of its "
        "size",
        "kafka-planner plan log-dirs moves replicas inside their broker.",
    ),
    Alert(
        "KafkaDiskFullSoon",
        f"{selected(m.UNTIL_FULL, estimate='expected')} < {14 * DAY}",
        "6h",
        "warning",
        f"{OF}: the first disk is full in {{{{ $value | humanizeDuration }}}}",
        "kafka-planner size says how many brokers are needed.",
    ),
    Alert(
        "KafkaNoRoomForLoss",
        f"{selected(m.HEADROOM)} < 0",
        "1h",
        "warning",
        f"{OF}: the load does not fit after the loss of one {{{{ $labels.loss }}}}",
        "kafka-planner failures says what is lost, kafka-planner size what to add.",
    ),
    Alert(
        "KafkaClusterUnbalanced",
        f"{selected(m.RESOURCE_OUT_OF_BAND, resource='disk')} > 0"
        f" and on ({CLUSTER}) {selected(m.MIN_BYTES)} > 0",
        "1d",
        "info",
        f"{OF}: the disks of {{{{ $value }}}} brokers are out of their band",
        "kafka-planner plan rebalance balances them.",
    ),
)
SECTIONS: dict[str, tuple[Metric, ...]] = {
    "Data": (m.SCORED, m.TAKEN_AT, m.COMPLETE, m.KNOWN),
    "What is wrong": (m.VIOLATIONS, m.HOT_SPOTS, m.OVER_THRESHOLD, m.OUT_OF_BAND),
    "Capacity": (m.MAX_USE, m.LOG_DIR_MAX_USE, m.MEAN_USE, m.HEADROOM),
    "Balance": (
        *(m.MIN_BYTES, m.MAX_DEVIATION, m.VARIATION),
        *(m.RESOURCE_OUT_OF_BAND, m.RESOURCE_OVER_THRESHOLD, m.MOVED),
    ),
    "Growth": (m.DISK, m.GROWTH, m.UNTIL_FULL),
    "Load": (m.BYTES_IN, m.BYTES_OUT, m.CPU, m.CROSS_RACK),
    "Size": (m.BROKERS, m.PARTITIONS, m.REPLICAS),
    "Brokers": (m.BROKER_USE, m.BROKER_DEVIATION, m.BROKERS_OMITTED),
}
"""Metrics of the dashboard by row; each has a panel."""
TOP = 20
"""Series of a panel about brokers."""


def rules_text() -> str:
    """The file of alert rules, as Prometheus reads it."""
    rules = [
        {
            "alert": alert.name,
            "expr": alert.expression,
            "for": alert.lasts,
            "labels": {"severity": alert.severity},
            "annotations": {"summary": alert.summary, "description": alert.remedy},
        }
        for alert in ALERTS
    ]
    document = {"groups": [{"name": "kafka-planner", "rules": rules}]}
    head = (
        "# Alert rules for the metrics of kafka-planner, generated from their list.\n"
        "# `promtool check rules alerts.yml` checks them.\n"
    )
    text = yaml.safe_dump(document, sort_keys=False, width=1000, allow_unicode=True)
    return head + text


def dashboard_text() -> str:
    """The dashboard, as Grafana imports it."""
    return json.dumps(dashboard(), indent=1) + "\n"


def dashboard() -> dict[str, Any]:
    """The dashboard: a row per section, a panel per metric."""
    panels: list[dict[str, Any]] = []
    top = 0
    for title, metrics in SECTIONS.items():
        panels.append(_row(title, top))
        top += 1
        for place, metric in enumerate(metrics):
            across, down = place % 3, place // 3
            panels.append(_panel(metric, x=8 * across, y=top + 8 * down))
        top += 8 * -(-len(metrics) // 3)
    for number, panel in enumerate(panels, start=1):
        panel["id"] = number
    return {
        "uid": "kafka-planner",
        "title": "Kafka placement",
        "tags": ["kafka", "kafka-planner"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "5m",
        "time": {"from": "now-7d", "to": "now"},
        "templating": {"list": [_datasource(), _clusters()]},
        "annotations": {"list": []},
        "panels": panels,
    }


def _row(title: str, y: int) -> dict[str, Any]:
    grid = {"h": 1, "w": 24, "x": 0, "y": y}
    return {"type": "row", "title": title, "collapsed": False, "gridPos": grid}


def _panel(metric: Metric, *, x: int, y: int) -> dict[str, Any]:
    legend = [f"{{{{{label}}}}}" for label in metric.all_labels if label != "rack"]
    source = {"type": "prometheus", "uid": "${datasource}"}
    return {
        "type": "timeseries",
        "title": _title(metric),
        "description": metric.help,
        "datasource": source,
        "gridPos": {"h": 8, "w": 8, "x": x, "y": y},
        "fieldConfig": {
            "defaults": {"unit": UNITS[metric.unit], "custom": {"spanNulls": True}},
            "overrides": [],
        },
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "calcs": []},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {
                "refId": "A",
                "datasource": source,
                "expr": _expression(metric),
                "legendFormat": " ".join(legend),
            }
        ],
    }


def _title(metric: Metric) -> str:
    if metric is m.TAKEN_AT:
        return "age of the snapshot"
    return metric.name.removesuffix(f"_{metric.unit}").replace("_", " ")


def _expression(metric: Metric) -> str:
    chosen = f"{metric.full_name}{{{ALL_CLUSTERS}}}"
    if metric is m.TAKEN_AT:
        return f"time() - {chosen}"
    return f"topk({TOP}, {chosen})" if "broker" in metric.labels else chosen


def _datasource() -> dict[str, Any]:
    return {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "current": {},
        "hide": 0,
    }


def _clusters() -> dict[str, Any]:
    query = f"label_values({m.SCORED.full_name}, {CLUSTER})"
    return {
        "name": "kafka_cluster",
        "label": "Kafka cluster",
        "type": "query",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "query": {"query": query, "refId": "clusters"},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {},
        "hide": 0,
    }


def metrics_table() -> str:
    """The table of docs/monitoring.md."""
    lines = ["| metric | labels | from | meaning |", "|---|---|---|---|"]
    for metric in m.METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        unread = Metric.__dataclass_fields__["score"].default
        readers = {"score": metric.score, "fleet overview": metric.overview}
        sources = ", ".join(name for name, read in readers.items() if read != unread)
        lines.append(f"| `{metric.full_name}` | {labels} | {sources} | {metric.help} |")
    return "\n".join(lines)


def with_metrics_table(text: str) -> str:
    """The page with the table as it is to be."""
    before, _, rest = text.partition(f"{MARK}start -->\n")
    _, end, after = rest.partition(f"{MARK}end -->")
    return f"{before}{MARK}start -->\n{metrics_table()}\n{end}{after}"
