"""
Brokers, controllers and settings in Strimzi's KafkaNodePool and Kafka resources.

Pools list the desired brokers, which of them are controllers, and the sizes of their
volumes; without pools the Kafka resource has these. Its `brokerCapacity` has the
capacities of networks and CPUs.
"""

import re
from dataclasses import dataclass
from typing import Any

from planner.snapshot.importers.hardware.strimzi_kinds import (
    COMMAND,
    KAFKA,
    KIND,
    POOL,
    VOLUME,
    kind_of,
    validate_resource,
)
from planner.snapshot.importers.inputs.import_source import Record, Source
from planner.snapshot.importers.inputs.input_text import Refusal, refuse_duplicates
from planner.snapshot.tables.snapshot_columns import MAX_INT64

_SUFFIXES = {
    "": 1.0,
    "m": 1e-3,
    **{unit: 1000.0**power for power, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": 1024.0**power for power, unit in enumerate("KMGTPE", 1)},
}
_QUANTITY = re.compile(
    r"(?P<number>[0-9]{1,40}(?:\.[0-9]{0,40})?(?:[eE][-+]?[0-9]{1,2})?)"
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
_MIN_ISR = "min.insync.replicas"
_KIND_NAME = re.compile(r"(?!None)[A-Z][A-Za-z]{1,60}")


@dataclass(frozen=True, slots=True)
class _Volume:
    """A volume of every broker of a pool; its size in bytes, if known."""

    place: str
    folder: str
    size_bytes: int | None


class StrimziCluster:
    """Contents of the resources of one cluster."""

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
        self.kafka: tuple[str, dict[str, Any]] | None = None
        self.has_pools = False
        self.notes: list[str] = []
        self.num_read = 0
        self.others: list[str] = []

    def add(self, place: str, resource: Any) -> None:  # noqa: ANN401 - YAML or JSON
        """Add a resource; other kinds are counted."""
        kind = kind_of(resource)
        if kind == "KafkaNodePool":
            pool = validate_resource(self.refusal, POOL, place, resource)
            self._add_pool(place, pool)
        elif kind == "Kafka":
            kafka = validate_resource(self.refusal, KAFKA, place, resource)
            self._add_kafka(place, kafka)
        else:
            other = resource.get("kind") if isinstance(resource, dict) else None
            self.others.append(str(other))

    def _add_pool(self, place: str, pool: dict[str, Any] | None) -> None:
        self.has_pools = True
        if pool is None:
            return
        self._add_name(pool["metadata"], "strimzi.io/cluster")
        self._set_header("cluster_id", pool["status"].get("clusterId"), place)
        roles, ids = set(pool["spec"]["roles"]), pool["status"]["nodeIds"]
        self.num_read += 1
        if "controller" in roles:
            roles_of_ids = {"voter": True, "combined": "broker" in roles}
            self.controllers += [
                Record(key=i, values=roles_of_ids, place=place) for i in ids
            ]
        if "broker" not in roles:
            return
        values: dict[str, Any] = {"tags": {"node_pool": pool["metadata"]["name"]}}
        values |= self._cores(f"{place}, spec", pool["spec"].get("resources", {}))
        storage = self._volumes(f"{place}, spec.storage", pool["spec"]["storage"])
        self._add_brokers(place, ids, values, storage)

    def _add_brokers(
        self, place: str, ids: list[int], values: dict[str, Any], volumes: list[_Volume]
    ) -> None:
        for broker in ids:
            self.places.append((broker, place))
            self.brokers[broker] = values
            for volume in volumes:
                path = f"/var/lib/kafka/{volume.folder}/kafka-log{broker}"
                size = volume.size_bytes
                disk = {} if size is None else {"size_bytes": size}
                self.log_dirs.append(
                    Record(key=(broker, path), values=disk, place=volume.place)
                )

    def _add_name(self, metadata: dict[str, Any], label: str) -> None:
        name = metadata.get("labels", {}).get(label)
        if name is not None:
            self.names.add(name)

    def _cores(self, place: str, resources: dict[str, Any]) -> dict[str, float]:
        for which in ("limits", "requests"):
            cpu = resources.get(which, {}).get("cpu")
            if cpu is not None:
                cores = self._quantity(f"{place}.resources.{which}.cpu", cpu)
                return {} if cores is None else {"cpu_cores": cores}
        return {}

    def _quantity(self, place: str, text: str | int) -> float | None:
        found = _QUANTITY.fullmatch(str(text))
        value = found and float(found["number"]) * _SUFFIXES[found["suffix"] or ""]
        if value is None or value > MAX_INT64:
            rule = "must be a quantity such as 500Gi or 1500m"
            self.refusal.add_cell(place, rule, "correct the resource", text)
            return None
        return value

    def _volumes(self, place: str, storage: dict[str, Any]) -> list[_Volume]:
        """Return the volumes of every broker of a pool."""
        is_jbod = storage["type"] == "jbod"
        volumes = storage.get("volumes", []) if is_jbod else [storage]
        if not volumes:
            self.refusal.add(place, "jbod storage must have volumes", "add a volume")
        found = []
        for volume in volumes:
            read = validate_resource(self.refusal, VOLUME, place, volume)
            if read is None:
                continue
            if is_jbod and "id" not in read:
                self.refusal.add(
                    place, "a volume of jbod storage must have an id", "add the id"
                )
                continue
            size = read.get("size", read.get("sizeLimit"))
            size_bytes = None if size is None else self._quantity(place, size)
            rounded = None if size_bytes is None else round(size_bytes)
            folder = f"data-{read['id']}" if is_jbod else "data"
            found.append(_Volume(place, folder, rounded))
        return found

    def _add_kafka(self, place: str, kafka: dict[str, Any] | None) -> None:
        if kafka is None:
            return
        self.num_read += 1
        self.names.add(kafka["metadata"]["name"])
        spec, status = kafka["spec"], kafka.get("status", {})
        version = status.get("kafkaVersion") or spec["kafka"].get("version")
        self._set_header("kafka_version", version, place)
        self._set_header("cluster_id", status.get("clusterId"), place)
        self.kafka = (place, kafka)
        self._add_configs(spec["kafka"].get("config", {}))
        capacity = spec.get("cruiseControl", {}).get("brokerCapacity", {})
        place = f"{place}, spec.cruiseControl.brokerCapacity"
        self.default = self._capacity(place, capacity)
        for at, override in enumerate(capacity.get("overrides", [])):
            values = self._capacity(f"{place}.overrides[{at}]", override)
            for broker in override["brokers"]:
                # If two overrides name a broker, Strimzi uses the first.
                self.overrides.setdefault(broker, values)

    def _add_configs(self, configs: dict[str, Any]) -> None:
        if _MIN_ISR in configs:
            self.header["configs"] = {_MIN_ISR: str(configs[_MIN_ISR])}
        self.refusal.note_unused(
            f"Kafka spec.kafka.config.{key}" for key in configs if key != _MIN_ISR
        )

    def _add_brokers_of_kafka(self) -> None:
        """Add the brokers of a cluster without node pools; their ids begin with 0."""
        if self.kafka is None:
            return
        place, kafka = self.kafka
        spec, place = kafka["spec"]["kafka"], f"{place}, spec.kafka"
        keys = [key for key in ("replicas", "storage", "resources") if key in spec]
        if self.has_pools or _uses_pools(kafka):
            self.refusal.note_unused(f"Kafka spec.kafka.{key}" for key in keys)
            if not self.has_pools:
                self.notes.append(
                    f"the brokers are in node pools; to add these, run {COMMAND}"
                )
            return
        volumes = []
        if "storage" in spec:
            volumes = self._volumes(f"{place}.storage", spec["storage"])
        if "replicas" in spec:
            values = self._cores(place, spec.get("resources", {}))
            self._add_brokers(place, [*range(spec["replicas"])], values, volumes)

    def _set_header(self, name: str, value: str | None, place: str) -> None:
        if value and self.header.setdefault(name, value) != value:
            rule = f"{name} must be the same in all resources of a file"
            self.refusal.add(place, rule, "give the resources of one cluster only")

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
                rule = "must be a bandwidth such as 10000KiB/s"
                self.refusal.add(f"{place}.{key}Network", rule, "correct it")
                continue
            unit = _BANDWIDTHS[found["unit"] or ""]
            values[f"{name}_bytes_per_s"] = float(found["number"]) * unit
        return values

    def check(self) -> None:
        """Add brokers that need all resources; record those that occur twice."""
        self._add_brokers_of_kafka()
        refuse_duplicates(self.places, self.refusal)

    def source(self) -> Source:
        """Return the contents of all resources."""
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
        notes = self.notes
        if self.others:
            kinds = sorted(filter(_KIND_NAME.fullmatch, {*self.others}))
            named = f" ({', '.join(kinds)})" if kinds else ""
            others = f"{len(self.others)} resources of other kinds skipped{named}"
            notes = [*notes, others]
        file = self.refusal.file
        return (*self.refusal.notes(), *(f"{file}: {note}" for note in notes))


def _uses_pools(kafka: dict[str, Any]) -> bool:
    """Return whether all brokers of a cluster are in node pools."""
    annotations = kafka["metadata"].get("annotations", {})
    status, spec = kafka.get("status", {}), kafka["spec"]["kafka"]
    version = str(status.get("kafkaVersion") or spec.get("version") or "")
    major = re.match(r"[0-9]{1,9}", version)
    # Strimzi runs Kafka 4 only with node pools.
    is_new = major is not None and int(major[0]) >= 4
    return annotations.get("strimzi.io/node-pools") == "enabled" or is_new
