"""
Answers of Cruise Control's REST interface with ``json=true``.

``kafka_cluster_state?verbose=true`` has the placement, ``load`` the brokers and their
capacities, ``partition_load`` the loads of partitions. Units are those of its capacity
files.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.snapshot.importers.cruise_control.capacity_files import KB, MB
from planner.snapshot.importers.inputs.import_source import (
    PartitionColumns,
    Record,
    Source,
)
from planner.snapshot.importers.inputs.input_text import Refusal, refuse_duplicates
from planner.snapshot.importers.inputs.json_input import read_document, validate
from planner.snapshot.tables.snapshot_columns import MAX_INT64, MAX_RATE
from planner.snapshot.tables.snapshot_records import Id, Leader

STATE_KIND = "Cruise Control's kafka_cluster_state"
LOAD_KIND = "Cruise Control's load"
FOREIGN = with_config(ConfigDict(strict=True, allow_inf_nan=False))
Topic = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$")]
Amount = Annotated[float, Field(ge=0, le=MAX_RATE)]
_ID = re.compile(r"[0-9]{1,9}", re.ASCII)
# Placeholders for log dirs that could not be queried.
_DEAD, _TIMED_OUT = "broker_dead", "timed_out"

_PartitionState = TypedDict(
    "_PartitionState",
    {
        "topic": Topic,
        "partition": Id,
        "leader": Leader,
        "replicas": Annotated[list[Id], Field(min_length=1)],
        "in-sync": list[Id],
        "offline": NotRequired[list[Id]],
        "min-isr": NotRequired[int],
        "remote-storage-enabled": NotRequired[bool],
    },
)


Version = Annotated[int, Field(ge=1, le=1)]


@FOREIGN
class _Summary(TypedDict):
    Replicas: int


@FOREIGN
class _BrokerStates(TypedDict):
    OnlineLogDirsByBrokerId: dict[str, list[str]]
    OfflineLogDirsByBrokerId: dict[str, list[str]]
    BrokerSetByBrokerId: NotRequired[dict[str, str | None]]
    Summary: NotRequired[_Summary]


@FOREIGN
class _ClusterState(TypedDict):
    version: NotRequired[Version]
    KafkaBrokerState: _BrokerStates
    KafkaPartitionState: dict[str, list[_PartitionState]]


@FOREIGN
class _BrokerLoad(TypedDict):
    Broker: Id
    BrokerState: str
    Host: NotRequired[str]
    Rack: NotRequired[str]
    DiskCapacityMB: NotRequired[float]
    NetworkInCapacity: NotRequired[float]
    NetworkOutCapacity: NotRequired[float]
    NumCore: NotRequired[float]
    DiskState: NotRequired[dict[str, dict[str, Any]]]


@FOREIGN
class _Load(TypedDict):
    version: NotRequired[Version]
    brokers: Annotated[list[_BrokerLoad], Field(min_length=1)]


_CLUSTER_STATE: TypeAdapter[Any] = TypeAdapter(_ClusterState)
_LOAD: TypeAdapter[Any] = TypeAdapter(_Load)


def read_cluster_state(data: bytes, *, file: str) -> Source:
    """
    Read the answer of ``kafka_cluster_state?verbose=true&json=true``.

    Parameters
    ----------
    data
        The whole answer, gzipped or not.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Live brokers with log dirs and broker sets; partitions with replicas, leader and
        ISR; `min.insync.replicas` of topics.

    Raises
    ------
    BadInputError
        If it is another answer, or does not hold every partition.
    """
    refusal = Refusal(file, STATE_KIND, "cruise_control")
    document = read_document(data, refusal)
    state = validate(_CLUSTER_STATE, document, refusal)
    brokers = state["KafkaBrokerState"]
    rows = _distinct(state["KafkaPartitionState"], refusal)
    _check_complete(brokers, rows, refusal)
    online = _by_id(brokers["OnlineLogDirsByBrokerId"], "Online", refusal)
    offline = _by_id(brokers["OfflineLogDirsByBrokerId"], "Offline", refusal)
    refusal.raise_problems()
    sets = brokers.get("BrokerSetByBrokerId", {})
    return Source(
        file=file,
        kind=STATE_KIND,
        notes=refusal.notes(),
        brokers=tuple(_state_records(online, sets)),
        log_dirs=tuple(_dir_records(online, offline)),
        topics=tuple(_topic_records(rows)),
        partitions=_partitions(rows),
        lists_live_brokers=True,
        lists_complete_topics=True,
    )


Row = tuple[str, int, dict[str, Any]]


def _distinct(
    listed: Mapping[str, list[dict[str, Any]]], refusal: Refusal
) -> list[Row]:
    """Return each partition once; the lists by state overlap."""
    rows: dict[tuple[str, int], Row] = {}
    for name in sorted(listed):
        for at, one in enumerate(listed[name]):
            key = (one["topic"], one["partition"])
            first = rows.setdefault(key, (name, at, one))
            if first[2] != one:
                place = f"KafkaPartitionState.{name}[{at}]"
                rule = f"must agree with KafkaPartitionState.{first[0]}[{first[1]}]"
                refusal.add(place, rule, "query Cruise Control again")
    if not rows:
        rule = "must list partitions"
        refusal.add("KafkaPartitionState", rule, "query with verbose=true")
    return list(rows.values())


def _check_complete(brokers: dict[str, Any], rows: list[Row], refusal: Refusal) -> None:
    """Compare the listed replicas with Cruise Control's count (with a leader)."""
    summary = brokers.get("Summary")
    counted = sum(len(one["replicas"]) for *_, one in rows if one["leader"] >= 0)
    if summary is not None and rows and summary["Replicas"] != counted:
        rule = f"must list all {summary['Replicas']} replicas; it lists {counted}"
        remedy = "query with verbose=true, and without a topic"
        refusal.add("KafkaPartitionState", rule, remedy)


def _by_id(
    listed: dict[str, list[str]], which: str, refusal: Refusal
) -> dict[int, list[str]]:
    found = {}
    for text, paths in listed.items():
        if _ID.fullmatch(text) and _TIMED_OUT not in paths:
            found[int(text)] = paths
            continue
        place = f"KafkaBrokerState.{which}LogDirsByBrokerId"
        rule = (
            f"broker {text} did not answer"
            if _ID.fullmatch(text)
            else "must be keyed by broker ids"
        )
        refusal.add(place, rule, "query Cruise Control again")
    return found


def _state_records(
    online: dict[int, list[str]], sets: Mapping[str, str | None]
) -> Iterator[Record]:
    for broker, paths in online.items():
        values = {"state": "dead" if _DEAD in paths else "alive"}
        name = sets.get(str(broker))
        if name is not None:
            values["broker_set"] = name
        place = f"KafkaBrokerState, broker {broker}"
        yield Record(key=broker, values=values, place=place)


def _dir_records(
    online: dict[int, list[str]], offline: dict[int, list[str]]
) -> Iterator[Record]:
    for state, listed in (("online", online), ("offline", offline)):
        for broker, paths in listed.items():
            for path in paths:
                if path != _DEAD:
                    yield Record(
                        key=(broker, path),
                        values={"state": state},
                        place=f"KafkaBrokerState, broker {broker}",
                    )


def _topic_records(rows: list[Row]) -> Iterator[Record]:
    places: dict[tuple[str, int | None, bool], str] = {}
    for name, at, one in rows:
        place = f"KafkaPartitionState.{name}[{at}]"
        is_tiered = one.get("remote-storage-enabled", False)
        places.setdefault((one["topic"], one.get("min-isr"), is_tiered), place)
    for (topic, least, is_tiered), place in places.items():
        values: dict[str, Any] = {"storage": "tiered"} if is_tiered else {}
        if least is not None:
            values["configs"] = {"min.insync.replicas": str(least)}
        yield Record(key=topic, values=values, place=place)


def _partitions(rows: list[Row]) -> PartitionColumns:
    return PartitionColumns(
        topics=[one["topic"] for *_, one in rows],
        partitions=[one["partition"] for *_, one in rows],
        values={
            "replicas": [one["replicas"] for *_, one in rows],
            "leader": [one["leader"] for *_, one in rows],
            "isr": [one["in-sync"] for *_, one in rows],
            "offline_replicas": [one.get("offline") or None for *_, one in rows],
        },
        places=[(name, at) for name, at, _ in rows],
        place_format="KafkaPartitionState.{}[{}]",
    )


_STATES = {
    "ALIVE": "alive",
    "NEW": "new",
    "DEMOTED": "demoted",
    "DEAD": "dead",
    "BAD_DISKS": "alive",
}
_CAPACITIES = (
    ("disk_bytes", "DiskCapacityMB", MB),
    ("in_bytes_per_s", "NetworkInCapacity", KB),
    ("out_bytes_per_s", "NetworkOutCapacity", KB),
    ("cpu_cores", "NumCore", 1),
)


def read_load(data: bytes, *, file: str) -> Source:
    """
    Read the answer of ``load?json=true``.

    Parameters
    ----------
    data
        The whole answer, gzipped or not; with ``populate_disk_info=true`` it has log
        dirs.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Brokers with host, rack, state and capacities, and their log dirs.

    Raises
    ------
    BadInputError
        If it is another answer.
    """
    refusal = Refusal(file, LOAD_KIND, "cruise_control")
    document = read_document(data, refusal)
    brokers = validate(_LOAD, document, refusal)["brokers"]
    records = tuple(_load_record(at, one, refusal) for at, one in enumerate(brokers))
    refuse_duplicates(((one.key, one.place) for one in records), refusal)
    refusal.raise_problems()
    return Source(
        file=file,
        kind=LOAD_KIND,
        notes=refusal.notes(),
        brokers=records,
        log_dirs=tuple(
            Record(
                key=(one["Broker"], path),
                values={"state": _dir_state(disk)},
                place=f"brokers[{at}].DiskState",
            )
            for at, one in enumerate(brokers)
            for path, disk in one.get("DiskState", {}).items()
        ),
        lists_live_brokers=True,
    )


def _load_record(at: int, one: dict[str, Any], refusal: Refusal) -> Record:
    place = f"brokers[{at}]"
    state = _STATES.get(one["BrokerState"])
    if state is None:
        rule = f"must be one of {', '.join(_STATES)}"
        refusal.add(f"{place}.BrokerState", rule, "query Cruise Control again")
    values: dict[str, Any] = {"state": state}
    host, rack = one.get("Host"), one.get("Rack")
    if host:
        values["host"] = host
    # Cruise Control gives the host of a broker without a rack as its rack.
    if rack and rack != host:
        values["rack"] = rack
    for name, key, unit in _CAPACITIES:
        amount = one.get(key, -1)
        if 0 < amount * unit <= MAX_INT64:
            values[name] = (
                round(amount * unit) if name == "disk_bytes" else amount * unit
            )
    return Record(key=one["Broker"], values=values, place=place)


def _dir_state(disk: dict[str, Any]) -> str:
    return "offline" if disk.get("DiskMB") == "DEAD" else "online"
