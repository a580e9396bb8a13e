"""
Answers of Prometheus' query API, by the names that exporters give Kafka's metrics.

The values of a vector are used unchanged; of each series of a matrix (a range query)
a quantile is used. The label ``planner``, which the printed queries set, or else the
name of the metric identifies the measured quantity. A series without a topic is the
total of a broker, and is dropped, since all load would count twice. CPU alone is
measured per broker.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, with_config

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.snapshot.importers.inputs.import_source import Record, Series, Source
from planner.snapshot.importers.inputs.input_text import Refusal
from planner.snapshot.importers.inputs.json_input import read_documents, validate
from planner.snapshot.tables.snapshot_columns import MAX_INT32, MAX_RATE

KIND = "an answer of Prometheus' query API"
LABEL = "planner"
"""Label that the printed queries set to the measured quantity."""
MEASURES = ("in", "out", "size", "all-sizes", "weight", "cpu")
BROKER_LABELS = ("broker_id", "kafka_broker_id", "broker", "node_id")
"""Labels that are tried for broker ids if none is configured."""
PRESETS = {
    "strimzi": ("pod", r".+-(\d+)"),
    "msk": ("instance", r"b-(\d+)\..*"),
    "host": ("instance", r"(.+?)(?::\d+)?"),
}
"""Label and regular expression by environment of the brokers."""

_FOREIGN = with_config(ConfigDict(strict=True))
_Sample = Annotated[list[Any], Field(min_length=2, max_length=2)]


@_FOREIGN
class _Result(TypedDict):
    metric: dict[str, str]
    value: NotRequired[_Sample]
    values: NotRequired[Annotated[list[_Sample], Field(min_length=1)]]


@_FOREIGN
class _Data(TypedDict):
    resultType: str
    result: list[_Result]


@_FOREIGN
class _Answer(TypedDict):
    status: str
    data: NotRequired[_Data]


_RESULT = ("data", "result", None)
_KNOWN = frozenset(("stats", "analysis"))
_ANSWER: TypeAdapter[Any] = TypeAdapter(_Answer)


@dataclass(frozen=True, slots=True)
class _Metric:
    """Name pattern of a metric; a counter must have been converted to a rate."""

    measure: str
    pattern: re.Pattern[str]
    is_counter: bool = False
    name: str = ""


def _metric(
    measure: str, pattern: str, *, is_counter: bool = False, name: str = ""
) -> _Metric:
    return _Metric(measure, re.compile(pattern), is_counter, name)


_TOPIC_METRICS = r"kafka_server_brokertopicmetrics_bytes"
_METRICS = (
    # Strimzi and other exporters with lower-case rules: counters.
    _metric("in", _TOPIC_METRICS + r"in(persec)?(_total|_count)", is_counter=True),
    _metric("out", _TOPIC_METRICS + r"out(persec)?(_total|_count)", is_counter=True),
    _metric("in", _TOPIC_METRICS + r"inpersec(_oneminuterate|_rate)?"),
    _metric("out", _TOPIC_METRICS + r"outpersec(_oneminuterate|_rate)?"),
    _metric("size", r"kafka_log_log_size"),
    # The plain JMX exporter.
    _metric("in", r"kafka_server_BrokerTopicMetrics_\w*Rate", name="BytesInPerSec"),
    _metric("out", r"kafka_server_BrokerTopicMetrics_\w*Rate", name="BytesOutPerSec"),
    _metric(
        "in",
        r"kafka_server_BrokerTopicMetrics_Count",
        is_counter=True,
        name="BytesInPerSec",
    ),
    _metric(
        "out",
        r"kafka_server_BrokerTopicMetrics_Count",
        is_counter=True,
        name="BytesOutPerSec",
    ),
    _metric("size", r"kafka_log_Log_Value", name="Size"),
    # CPU seconds of the JVM, which every JMX exporter has; their rate is in cores.
    _metric("cpu", r"process_cpu_seconds_total", is_counter=True),
    # kminion and kafka_exporter; high watermarks count messages, and grow.
    _metric("all-sizes", r"kminion_kafka_topic_log_dir_size_total_bytes"),
    _metric(
        "weight", r"kminion_kafka_topic_partition_high_water_mark", is_counter=True
    ),
    _metric("weight", r"kafka_topic_partition_current_offset", is_counter=True),
)
_RACKS = re.compile(r"kminion_kafka_broker_info")
_OTHER_METRICS = re.compile(
    r"(?i)kafka_server_brokertopicmetrics_.*|kafka_topic_partition_.*|kminion_.*"
    r"|process_cpu_.*|kafka_log_log_.*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLabels:
    """
    Label of a series that identifies its broker.

    Parameters
    ----------
    label
        Name of the label; `None` for the labels that usually hold an id.
    pattern
        Regular expression of the whole label; its first group is the broker's id, or
        its host.
    """

    label: str | None = None
    pattern: re.Pattern[str] | None = None

    def broker_of(self, labels: Mapping[str, str]) -> int | str | None:
        """Return the broker id, or its host, or `None` if no label has it."""
        if self.label is None:
            ids = (_as_id(labels.get(name, "")) for name in BROKER_LABELS)
            return next((one for one in ids if one is not None), None)
        text = labels.get(self.label)
        if text is None:
            return None
        found = self.pattern.fullmatch(text) if self.pattern else None
        if self.pattern is not None and found is None:
            return None
        inner = (found[1] if found.re.groups else found[0]) if found else text
        broker = _as_id(inner or "")
        return inner if broker is None else broker


def _as_id(text: str) -> int | None:
    is_id = re.fullmatch(r"[0-9]{1,10}", text, re.ASCII) and int(text) <= MAX_INT32
    return int(text) if is_id else None


def read_prometheus(
    data: bytes,
    *,
    file: str,
    labels: BrokerLabels | None = None,
    quantile: float = 0.95,
    allow_partial: bool = False,
) -> Source:
    """
    Read one answer of ``/api/v1/query`` or ``/api/v1/query_range``.

    Parameters
    ----------
    data
        The whole answer, gzipped or not.
    file
        Name of the file in problems.
    labels
        Label that identifies the broker of a series.
    quantile
        Quantile of each series of a matrix that is used, 0 to 1.
    allow_partial
        Whether invalid series are left out.

    Returns
    -------
    Source
        The measured series, not yet distributed over partitions, or racks.

    Raises
    ------
    BadInputError
        If it is another answer, an error, of an unknown metric, or of a counter that
        was not converted to a rate.
    """
    refusal = Refusal(file, KIND, "prometheus", allow_partial=allow_partial)
    documents = read_documents(data, refusal)
    answers = [
        validate(_ANSWER, document, refusal, entries=[_RESULT], known=_KNOWN)
        for document in documents
    ]
    results = [one for answer in answers for one in _results(answer, refusal)]
    if len(answers) > 1:
        _refuse_repeated(results, refusal)
    reader = _Reader(refusal, labels or BrokerLabels(), quantile)
    for at, result in enumerate(results):
        reader.read(at, result)
    refusal.raise_problems()
    return Source(
        file=file,
        kind=KIND,
        header=reader.header(),
        brokers=tuple(reader.brokers),
        series=tuple(reader.series),
        notes=(*refusal.notes(), *reader.notes()),
    )


def _results(answer: Mapping[str, Any], refusal: Refusal) -> list[Any]:
    if answer["status"] != "success":
        rule = "Prometheus answered with an error"
        refusal.stop("status", rule, "correct the query, and run it again")
    data = answer.get("data")
    if data is None or data["resultType"] not in {"vector", "matrix"}:
        rule = "must be a vector or a matrix"
        refusal.stop(
            "data.resultType", rule, "run the queries that --print-queries prints"
        )
    if not data["result"]:
        rule = "the answer is empty"
        refusal.stop("data.result", rule, "correct the query: no series matches it")
    results: list[Any] = data["result"]
    return results


def _refuse_repeated(results: list[Any], refusal: Refusal) -> None:
    """Reject a series that occurs in several answers of one file."""
    series = [frozenset(result["metric"].items()) for result in results]
    num_repeated = len(series) - len(set(series))
    if num_repeated:
        rule = f"a series must occur once; {num_repeated} are in several answers"
        refusal.add("data.result", rule, "two answers were joined: give one of them")


class _Reader:
    """Parser of the answer, series by series."""

    def __init__(self, refusal: Refusal, labels: BrokerLabels, quantile: float) -> None:
        self.refusal = refusal
        self.labels = labels
        self.quantile = quantile
        self.series: list[Series] = []
        self.brokers: list[Record] = []
        self.num_totals = 0
        self.num_unknown = 0
        self.num_other_metrics = 0
        self.window_s = 0.0

    def read(self, at: int, result: Mapping[str, Any]) -> None:
        place = f"data.result[{at}]"
        labels = result["metric"]
        name = labels.get("__name__", "")
        if _RACKS.fullmatch(name):
            self._read_rack(place, labels)
            return
        metric = _metric_of(labels)
        if metric is None:
            self._refuse_unknown(place, name)
            return
        topic = labels.get("topic") or labels.get("topic_name")
        if not topic and metric.measure != "cpu":
            self.num_totals += 1
            return
        value, growth = self._measure(place, metric, result)
        if value is None:
            self.num_unknown += 1
            return
        self.series.append(
            Series(
                measure=metric.measure,
                topic=topic or "",
                partition=_as_id(
                    labels.get("partition") or labels.get("partition_id") or ""
                ),
                broker=self.labels.broker_of(labels),
                value=value,
                growth=growth,
            )
        )

    def _refuse_unknown(self, place: str, name: str) -> None:
        if _OTHER_METRICS.fullmatch(name):
            self.num_other_metrics += 1
            return
        rule = "the labels of the series do not identify the measured quantity"
        remedy = f"use the queries of --print-queries, which set the label {LABEL}"
        self.refusal.add(place, rule, remedy)

    def _read_rack(self, place: str, labels: Mapping[str, str]) -> None:
        broker, rack = _as_id(labels.get("broker_id", "")), labels.get("rack_id")
        if broker is not None and rack:
            self.brokers.append(Record(key=broker, values={"rack": rack}, place=place))

    def _measure(
        self, place: str, metric: _Metric, result: Mapping[str, Any]
    ) -> tuple[float | None, float | None]:
        """Return the value and growth of a series; `None` if unknown."""
        if ("value" in result) == ("values" in result):
            self.refusal.add(
                place, "must have value or values", "query Prometheus again"
            )
            return None, None
        is_matrix = "values" in result
        samples = result["values"] if is_matrix else [result["value"]]
        numbers = self._numbers(place, samples)
        if numbers is None or not len(numbers):
            return None, None
        if metric.is_counter and not is_matrix and metric.measure != "weight":
            rule = "a counter is a total since the start, not a rate per second"
            self.refusal.add(place, rule, "query rate(…[5m]), or a range")
            return None, None
        return self._summarise(metric, numbers) if is_matrix else (numbers[0, 1], None)

    def _numbers(self, place: str, samples: list[Any]) -> Any:  # noqa: ANN401 - (N, 2)
        found = []
        for moment, text in samples:
            value = _as_number(text)
            if not isinstance(moment, int | float) or value is None:
                rule = "a sample must be a time and a number that is not negative"
                self.refusal.reject(place, rule, "query Prometheus again")
                self.num_unknown -= 1
                return None
            found.append((float(moment), value))
        numbers = np.array(found, dtype=np.float64).reshape(-1, 2)
        return numbers[np.isfinite(numbers).all(axis=1)]

    def _summarise(
        self,
        metric: _Metric,
        numbers: Any,  # noqa: ANN401 - (N, 2) times and values
    ) -> tuple[float | None, float | None]:
        times, values = numbers[:, 0], numbers[:, 1]
        elapsed = np.diff(times)
        self.window_s = max(self.window_s, float(times[-1] - times[0]))
        if not metric.is_counter:
            growth = max(0.0, float(values[-1] - values[0]))
            # A size is its last value; a rate is a quantile.
            is_size = metric.measure in {"size", "all-sizes"}
            value = values[-1] if is_size else np.quantile(values, self.quantile)
            return float(value), growth
        if not len(elapsed) or not (elapsed > 0).all():
            return None, None
        steps = np.diff(values)
        # A counter that decreases was reset to 0.
        steps = np.where(steps < 0, values[1:], steps)
        rates = steps / elapsed
        return float(np.quantile(rates, self.quantile)), float(steps.sum())

    def header(self) -> dict[str, Any]:
        """Return the header values on rates."""
        if not any(one.measure in {"in", "out", "cpu"} for one in self.series):
            return {}
        rates: dict[str, Any] = {"source": "prometheus"}
        if self.window_s:
            rates |= {"window_s": self.window_s, "quantile": self.quantile}
        return {"rates": rates}

    def notes(self) -> Iterator[str]:
        """Yield notes on series that were left out."""
        file = self.refusal.file
        if self.num_totals:
            yield f"{file}: {self.num_totals} series without a topic dropped (totals)"
        if self.num_unknown:
            yield f"{file}: {self.num_unknown} series without a number: unknown"
        if self.num_other_metrics:
            yield f"{file}: {self.num_other_metrics} series of other metrics skipped"


def _metric_of(labels: Mapping[str, str]) -> _Metric | None:
    measure = labels.get(LABEL)
    if measure in MEASURES:
        return _metric(measure, "")
    name = labels.get("__name__", "")
    for metric in _METRICS:
        is_named = not metric.name or labels.get("name") == metric.name
        if is_named and metric.pattern.fullmatch(name):
            return metric
    return None


def _as_number(text: object) -> float | None:
    """Return the number of a sample, which may be NaN; `None` if invalid."""
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return None if value < 0 or MAX_RATE < value < float("inf") else value
