"""Queries whose answers `snapshot import --prometheus` reads."""

from planner.snapshot.importers.metrics.prometheus import LABEL

_ADVICE = (
    "# One answer per file, for --prometheus, from /api/v1/query. A high quantile",
    "# of a week is better than a rate of five minutes: query /api/v1/query_range",
    "# for 7 days in steps of 5 minutes; --quantile sets the quantile that is used.",
)


def _query(measure: str, expression: str) -> str:
    return f'label_replace({expression}, "{LABEL}", "{measure}", "", "")'


def _by(labels: str, expression: str) -> str:
    return f"sum by ({labels}) ({expression})"


_LOWER = "kafka_server_brokertopicmetrics_bytes{}_total"
_JMX = 'kafka_server_BrokerTopicMetrics_OneMinuteRate{{name="Bytes{}PerSec",topic!=""}}'
_JMX_SIZE = 'kafka_log_Log_Value{name="Size"}'
# Every scraped process has CPU seconds: only those with log metrics are brokers.
_CPU = "rate(process_cpu_seconds_total[2m]) and on ({0}) {1}"
_MARKS = "kminion_kafka_topic_partition_high_water_mark"
_EXPORTERS: dict[str, tuple[str, ...]] = {
    "jmx": (
        _query("in", _by("topic, instance", _JMX.format("In"))),
        _query("out", _by("topic, instance", _JMX.format("Out"))),
        _query("size", _by("topic, partition, instance", _JMX_SIZE)),
        _query("cpu", _by("instance", _CPU.format("instance", _JMX_SIZE))),
    ),
    "strimzi": (
        _query(
            "in",
            _by("topic, pod", f'rate({_LOWER.format("in")}{{topic!=""}}[5m])'),
        ),
        _query(
            "out",
            _by("topic, pod", f'rate({_LOWER.format("out")}{{topic!=""}}[5m])'),
        ),
        _query("size", _by("topic, partition, pod", "kafka_log_log_size")),
        _query("cpu", _by("pod", _CPU.format("pod", "kafka_log_log_size"))),
    ),
    "msk": (
        _query("in", _by("topic, instance", _JMX.format("In"))),
        _query("out", _by("topic, instance", _JMX.format("Out"))),
        _query("size", _by("topic, partition, instance", _JMX_SIZE)),
        _query("cpu", _by("instance", _CPU.format("instance", _JMX_SIZE))),
    ),
    "kminion": (
        _query("weight", f"rate({_MARKS}[5m])"),
        _query("all-sizes", "kminion_kafka_topic_log_dir_size_total_bytes"),
        "kminion_kafka_broker_info",
    ),
}
_BROKERS = {
    "jmx": "--broker-regex host",
    "strimzi": "--broker-regex strimzi",
    "msk": "--broker-regex msk",
    "kminion": "",
}
EXPORTERS = tuple(_EXPORTERS)


def queries_of(exporter: str) -> str:
    """
    Return the queries for one kind of exporter, with instructions.

    Parameters
    ----------
    exporter
        One of `EXPORTERS`.
    """
    option = _BROKERS[exporter]
    how = (f"# Then: snapshot import … {option}",) if option else ()
    return "\n".join((*_ADVICE, *how, *_EXPORTERS[exporter]))
