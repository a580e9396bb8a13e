"""
Strimzi's KafkaNodePool and Kafka resources, as ``kubectl get -o yaml`` prints them.

Pools say which brokers there should be, which of them are controllers, and what their
volumes hold; the Kafka resource what `brokerCapacity` says of networks and processors.
"""

import re
from collections.abc import Iterator
from typing import Any, NotRequired

from pydantic import TypeAdapter

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.pasted_text import Form
from planner.snapshot.columns import MAX_INT64
from planner.snapshot.importers.json_input import documents_of, validate
from planner.snapshot.importers.source import Record, Source
from planner.snapshot.importers.text import Refusal, read_text, refuse_doubles
from planner.snapshot.importers.yaml_text import parse_yaml
from planner.snapshot.records import Id

KIND = "Strimzi's KafkaNodePool and Kafka resources"
_FORM = Form(
    # Keys of resources begin with a small letter, those of warnings do not.
    data=re.compile(
        r" +(?!--\w|\+ |% |Dload )\S|(?!nohup|info|note|warning)[a-z][A-Za-z]*:(?:\s|$)"
        r"|-(?: |$)|---|\{\s*$|\}"
    ),
    has_words=False,
)
_SUFFIXES = {
    "": 1.0,
    "m": 1e-3,
    **{unit: 1000.0**power for power, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": 1024.0**power for power, unit in enumerate("KMGTPE", 1)},
}
_QUANTITY = re.compile(
    r"(?P<number>[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE]\+?[0-9]{1,2})?)"
    r"(?P<suffix>m|[kMGTPE]|[KMGTPE]i)?",
    re.ASCII,
)
_BANDWIDTH = re.compile(r"(?P<number>[0-9]{1,18})(?P<unit>[KMG]i?)?B/s", re.ASCII)
# KB are of 1,000 bytes here, unlike those of Cruise Control itself.
_BANDWIDTHS = {
    "": 1,
    "K": 1000,
    "Ki": 1024,
    "M": 1000**2,
    "Mi": 1024**2,
    "G": 1000**3,
    "Gi": 1024**3,
}
_HOW = "kubectl get kafka,kafkanodepool -o yaml"
_MIN_ISR = "min.insync.replicas"


class _Metadata(TypedDict):
    name: str
    labels: NotRequired[dict[str, str]]


class _Volume(TypedDict):
    type: str
    id: NotRequired[int]
    size: NotRequired[str | int]
    sizeLimit: NotRequired[str | int]
    volumes: NotRequired[list[dict[str, Any]]]


class _Resources(TypedDict):
    limits: NotRequired[dict[str, str | int]]
    requests: NotRequired[dict[str, str | int]]


class _PoolSpec(TypedDict):
    roles: list[str]
    storage: _Volume
    resources: NotRequired[_Resources]


class _PoolStatus(TypedDict):
    nodeIds: list[Id]
    clusterId: NotRequired[str]


class _Pool(TypedDict):
    metadata: _Metadata
    spec: _PoolSpec
    status: _PoolStatus


class _Override(TypedDict):
    brokers: list[Id]
    cpu: NotRequired[str | int]
    inboundNetwork: NotRequired[str]
    outboundNetwork: NotRequired[str]


class _BrokerCapacity(TypedDict):
    cpu: NotRequired[str | int]
    inboundNetwork: NotRequired[str]
    outboundNetwork: NotRequired[str]
    overrides: NotRequired[list[_Override]]


class _CruiseControl(TypedDict):
    brokerCapacity: NotRequired[_BrokerCapacity]


class _KafkaConfig(TypedDict):
    version: NotRequired[str]
    config: NotRequired[dict[str, Any]]


class _KafkaSpec(TypedDict):
    kafka: _KafkaConfig
    cruiseControl: NotRequired[_CruiseControl]


class _KafkaStatus(TypedDict):
    clusterId: NotRequired[str]
    kafkaVersion: NotRequired[str]


class _Kafka(TypedDict):
    metadata: _Metadata
    spec: _KafkaSpec
    status: NotRequired[_KafkaStatus]


# Not strict: all scalars of YAML are read as text.
_POOL: TypeAdapter[Any] = TypeAdapter(_Pool)
_VOLUME: TypeAdapter[Any] = TypeAdapter(_Volume)
_KAFKA: TypeAdapter[Any] = TypeAdapter(_Kafka)


def read_strimzi(data: bytes, *, file: str) -> Source:
    """
    Read resources of one Strimzi cluster.

    Parameters
    ----------
    data
        What ``kubectl get kafka,kafkanodepool -o yaml`` printed, or ``-o json``,
        gzipped or not.
    file
        What problems name as their file.

    Returns
    -------
    Source
        Brokers with log dirs, capacities and node pools, and that there are no others;
        controllers; id and version of the cluster, and its `min.insync.replicas`.

    Raises
    ------
    BadInputError
        With everything that is wrong with them.
    """
    refusal = Refusal(file, KIND, "strimzi")
    cluster = _Cluster(refusal)
    for place, resource in _resources(_load(data, refusal), ""):
        cluster.add(place, resource)
    cluster.check()
    refusal.raise_problems()
    return cluster.source()


def _load(data: bytes, refusal: Refusal) -> list[Any]:
    text = read_text(data, refusal, _FORM)
    if text.lstrip().startswith("{"):
        return documents_of(text, refusal)
    if not text.endswith("\n"):
        rule = "the last line has no end, so the file may be cut"
        remedy = "take it anew; if it is whole, end it with a line break"
        refusal.add(f"line {text.count(chr(10)) + 1}", rule, remedy)
    if "kafka.strimzi.io/" not in text:
        rule = "must hold resources of kafka.strimzi.io"
        refusal.stop("line 1", rule, refusal.other_output() or _HOW)
    return parse_yaml(text, refusal, remedy=f"take it anew: {_HOW}")


def _resources(documents: list[Any], place: str) -> Iterator[tuple[str, Any]]:
    """Yield resources, those inside lists too."""
    for at, document in enumerate(documents):
        here = f"{place}items[{at}]" if place else f"document {at + 1}"
        if isinstance(document, dict) and isinstance(document.get("items"), list):
            yield from _resources(document["items"], f"{here}, ")
        elif document:
            yield here, document


class _Cluster:
    """What the resources of one cluster say."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        self.brokers: dict[int, dict[str, Any]] = {}
        self.places: list[tuple[int, str]] = []
        self.log_dirs: list[Record] = []
        self.controllers: list[Record] = []
        self.header: dict[str, Any] = {}
        self.default: dict[str, Any] = {}
        self.overrides: dict[int, dict[str, Any]] = {}
        self.names: set[str] = set()
        self.num_read = 0
        self.num_others = 0

    def add(self, place: str, resource: Any) -> None:  # noqa: ANN401 - YAML or JSON
        kind = resource.get("kind") if isinstance(resource, dict) else None
        version = str(resource.get("apiVersion", "")) if kind else ""
        if not version.startswith("kafka.strimzi.io/"):
            self.num_others += 1
        elif kind == "KafkaNodePool":
            self._add_pool(place, self._validate(_POOL, place, resource))
        elif kind == "Kafka":
            self._add_kafka(place, self._validate(_KAFKA, place, resource))
        else:
            self.num_others += 1

    def _validate(self, adapter: TypeAdapter[Any], place: str, resource: Any) -> Any:  # noqa: ANN401 - a resource
        inner = Refusal(self.refusal.file, KIND, "strimzi")
        try:
            return validate(adapter, resource, inner)
        except ValueError:
            for problem in inner.problems:
                where = f"{place}, {problem.place}"
                self.refusal.add(where, problem.rule, _remedy(problem.place))
            return None

    def _add_pool(self, place: str, pool: dict[str, Any] | None) -> None:
        if pool is None:
            return
        self._take_name(pool["metadata"], "strimzi.io/cluster")
        self._say("cluster_id", pool["status"].get("clusterId"), place)
        roles, ids = set(pool["spec"]["roles"]), pool["status"]["nodeIds"]
        self.num_read += 1
        if "controller" in roles:
            values = {"voter": True, "combined": "broker" in roles}
            self.controllers += [Record(key=i, values=values, place=place) for i in ids]
        if "broker" not in roles:
            return
        told: dict[str, Any] = {"tags": {"node_pool": pool["metadata"]["name"]}}
        told |= self._cores(place, pool["spec"].get("resources", {}))
        for broker in ids:
            self.places.append((broker, place))
            self.brokers[broker] = told
            self._add_dirs(place, broker, pool["spec"]["storage"])

    def _take_name(self, metadata: dict[str, Any], label: str) -> None:
        name = metadata.get("labels", {}).get(label)
        if name is not None:
            self.names.add(name)

    def _cores(self, place: str, resources: dict[str, Any]) -> dict[str, float]:
        for which in ("limits", "requests"):
            cpu = resources.get(which, {}).get("cpu")
            if cpu is not None:
                cores = self._quantity(f"{place}, spec.resources.{which}.cpu", cpu)
                return {} if cores is None else {"cpu_cores": cores}
        return {}

    def _quantity(self, place: str, text: str | int) -> float | None:
        found = _QUANTITY.fullmatch(str(text))
        value = found and float(found["number"]) * _SUFFIXES[found["suffix"] or ""]
        if value is None or value > MAX_INT64:
            rule = "must be a quantity, as 500Gi or 1500m"
            self.refusal.add(place, rule, "mend the resource", text)
            return None
        return value

    def _add_dirs(self, place: str, broker: int, storage: dict[str, Any]) -> None:
        is_jbod = storage["type"] == "jbod"
        place = f"{place}, spec.storage"
        volumes = storage.get("volumes", []) if is_jbod else [storage]
        if not volumes:
            self.refusal.add(place, "jbod must have volumes", "mend the resource")
        for volume in volumes:
            read = self._validate(_VOLUME, place, volume)
            if read is None:
                continue
            if is_jbod and "id" not in read:
                self.refusal.add(place, "a volume must have an id", "mend the resource")
                continue
            size = read.get("size", read.get("sizeLimit"))
            size_bytes = None if size is None else self._quantity(place, size)
            folder = f"data-{read['id']}" if is_jbod else "data"
            path = f"/var/lib/kafka/{folder}/kafka-log{broker}"
            values = {} if size_bytes is None else {"size_bytes": round(size_bytes)}
            self.log_dirs.append(Record(key=(broker, path), values=values, place=place))

    def _add_kafka(self, place: str, kafka: dict[str, Any] | None) -> None:
        if kafka is None:
            return
        self.num_read += 1
        self.names.add(kafka["metadata"]["name"])
        spec, status = kafka["spec"], kafka.get("status", {})
        version = status.get("kafkaVersion") or spec["kafka"].get("version")
        self._say("kafka_version", version, place)
        self._say("cluster_id", status.get("clusterId"), place)
        least = spec["kafka"].get("config", {}).get(_MIN_ISR)
        if least is not None:
            self.header["configs"] = {_MIN_ISR: str(least)}
        capacity = spec.get("cruiseControl", {}).get("brokerCapacity", {})
        place = f"{place}, spec.cruiseControl.brokerCapacity"
        self.default = self._capacity(place, capacity)
        for at, override in enumerate(capacity.get("overrides", [])):
            values = self._capacity(f"{place}.overrides[{at}]", override)
            for broker in override["brokers"]:
                # Of two that name a broker, Strimzi takes the first.
                self.overrides.setdefault(broker, values)

    def _say(self, name: str, value: str | None, place: str) -> None:
        if value and self.header.setdefault(name, value) != value:
            rule = f"{name} must be the same in all resources"
            self.refusal.add(place, rule, "give the resources of one cluster")

    def _capacity(self, place: str, capacity: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if "cpu" in capacity:
            values["cpu_cores"] = self._quantity(f"{place}.cpu", capacity["cpu"])
        for key, name in (("inbound", "in"), ("outbound", "out")):
            text = capacity.get(f"{key}Network")
            if text is None:
                continue
            found = _BANDWIDTH.fullmatch(text)
            if found is None:
                rule = "must be a bandwidth, as 10000KiB/s"
                self.refusal.add(f"{place}.{key}Network", rule, "mend it")
                continue
            unit = _BANDWIDTHS[found["unit"] or ""]
            values[f"{name}_bytes_per_s"] = float(found["number"]) * unit
        return values

    def check(self) -> None:
        """Check that the resources are of one cluster."""
        refuse_doubles(self.places, self.refusal)
        if len(self.names) > 1:
            rule = f"must be of one cluster; they are of {len(self.names)}"
            self.refusal.add("", rule, "give those of one: -l strimzi.io/cluster=NAME")
        if not self.num_read and not self.refusal.problems:
            rule = "must hold a KafkaNodePool or a Kafka of kafka.strimzi.io"
            self.refusal.add("", rule, _HOW)

    def source(self) -> Source:
        places = dict(self.places)
        ids = [*self.brokers, *(self.overrides.keys() - self.brokers.keys())]
        return Source(
            file=self.refusal.file,
            kind=KIND,
            header=self.header,
            brokers=tuple(
                Record(
                    key=broker,
                    values={
                        **self.brokers.get(broker, {}),
                        **self.default,
                        **self.overrides.get(broker, {}),
                    },
                    place=places.get(broker, "Kafka, spec.cruiseControl"),
                )
                for broker in ids
                if broker in self.brokers or not self.brokers
            ),
            default_broker=Record(key=-1, values=self.default, place="Kafka")
            if self.default and not self.brokers
            else None,
            log_dirs=tuple(self.log_dirs),
            controllers=tuple(self.controllers),
            lists_members=bool(self.brokers),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        passed = self.refusal.notes()
        if not self.num_others:
            return passed
        file = self.refusal.file
        others = f"{file}: {self.num_others} resources of other kinds passed over"
        return (*passed, others)


def _remedy(place: str) -> str:
    if place.startswith("status"):
        return "take it from the cluster, where its status is: kubectl get -o yaml"
    return "mend the resource, or take it from the cluster: kubectl get -o yaml"
