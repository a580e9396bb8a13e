"""
Cluster metadata as ``kcat -L -J`` prints it, one JSON object, or ``kcat -L`` as text.

Live brokers, topics, leaders, replicas, ISR; no racks, sizes, log dirs or configs.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.snapshot.importers.inputs.import_source import (
    PartitionColumns,
    Record,
    Source,
)
from planner.snapshot.importers.inputs.input_text import Refusal, refuse_duplicates
from planner.snapshot.importers.inputs.json_input import read_document, validate
from planner.snapshot.importers.kafka_tools.kcat_text import (
    is_kcat_text,
    read_kcat_text,
)
from planner.snapshot.tables.snapshot_records import Id, Leader

KIND = "the output of kcat -L, with or without -J"
_FOREIGN = with_config(ConfigDict(strict=True))
_HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s:/]+)):[0-9]{1,5}")
_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_KNOWN_ERROR = re.compile(r"Broker: [A-Za-z][A-Za-z ,/-]{2,80}")
_KNOWN = frozenset(("originating_broker", "controllerid"))
_ALL_TOPICS = {"*", ""}


@_FOREIGN
class _Ref(TypedDict):
    id: Id


@_FOREIGN
class _Broker(TypedDict):
    id: Id
    name: str


@_FOREIGN
class _Partition(TypedDict):
    partition: Id
    leader: Leader
    replicas: Annotated[list[_Ref], Field(min_length=1)]
    isrs: list[_Ref]
    error: NotRequired[str]


@_FOREIGN
class _Topic(TypedDict):
    topic: Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$")]
    partitions: list[_Partition]
    error: NotRequired[str]


@_FOREIGN
class _Query(TypedDict):
    topic: NotRequired[str]


@_FOREIGN
class _Output(TypedDict):
    query: NotRequired[_Query]
    brokers: Annotated[list[_Broker], Field(min_length=1)]
    topics: list[_Topic]


_OUTPUT: TypeAdapter[Any] = TypeAdapter(_Output)


def read_kcat(data: bytes, *, file: str, allow_partial: bool = False) -> Source:
    """
    Read the output of ``kcat -L -J``, or of ``kcat -L``.

    Parameters
    ----------
    data
        The whole output, gzipped or not.
    file
        Name of the file in problems.
    allow_partial
        Whether topics that are invalid, or have an error, are left out.

    Returns
    -------
    Source
        Live brokers with hosts, complete; partitions with replicas, leader and ISR.

    Raises
    ------
    BadInputError
        If it is not such an output, or a topic has an error.
    """
    refusal = Refusal(file, KIND, "kcat", allow_partial=allow_partial)
    is_text = is_kcat_text(data)
    reader = read_kcat_text if is_text else read_document
    document = reader(data, refusal)
    _leave_out_errors(document, refusal)
    entries = [("topics", None)]
    output = validate(_OUTPUT, document, refusal, entries=entries, known=_KNOWN)
    topics = output["topics"]
    if not topics and refusal.has_rejected:
        remedy = "give the user Describe on topics, and run kcat again"
        refusal.add(
            "topics", "must list at least one topic with its partitions", remedy
        )
    brokers = tuple(_brokers(output["brokers"]))
    refuse_duplicates(((one.key, one.place) for one in brokers), refusal)
    refusal.raise_problems()
    return Source(
        file=file,
        kind="kcat -L" if is_text else "kcat -L -J",
        brokers=brokers,
        topics=tuple(
            Record(key=topic["topic"], values={}, place=f"topics[{at}]")
            for at, topic in enumerate(topics)
        ),
        partitions=_partitions(topics),
        lists_live_brokers=True,
        lists_complete_topics=True,
        notes=(*refusal.notes(), *_notes(output)),
    )


def _leave_out_errors(document: object, refusal: Refusal) -> None:
    """Remove the topics without their partitions."""
    topics = document.get("topics") if isinstance(document, dict) else None
    if not isinstance(topics, list):
        return
    for at, topic in reversed([*enumerate(topics)]):
        is_topic = isinstance(topic, dict) and isinstance(topic.get("topic"), str)
        if is_topic and (topic.get("error") or topic.get("partitions") == []):
            name, error = topic["topic"], str(topic.get("error") or "")
            why = f" ({error})" if _KNOWN_ERROR.fullmatch(error) else ""
            named = f"topic {name}" if _NAME.fullmatch(name) else "a topic"
            rule = f"{named} is listed without its partitions{why}"
            remedy = "give the user Describe on it, or run kcat again if it was deleted"
            refusal.reject(f"topics[{at}]", rule, remedy)
            if refusal.allow_partial:
                del topics[at]


def _brokers(brokers: list[dict[str, Any]]) -> Iterator[Record]:
    for at, broker in enumerate(brokers):
        values = {"state": "alive"}
        found = _HOST.match(broker["name"])
        if found is not None:
            values["host"] = found["v6"] or found["host"]
        yield Record(key=broker["id"], values=values, place=f"brokers[{at}]")


def _partitions(topics: list[dict[str, Any]]) -> PartitionColumns:
    rows = [
        (t, p, topic["topic"], one)
        for t, topic in enumerate(topics)
        for p, one in enumerate(topic["partitions"])
    ]
    return PartitionColumns(
        topics=[name for _, _, name, _ in rows],
        partitions=[one["partition"] for *_, one in rows],
        values={
            "replicas": [[r["id"] for r in one["replicas"]] for *_, one in rows],
            "leader": [one["leader"] for *_, one in rows],
            "isr": [[r["id"] for r in one["isrs"]] for *_, one in rows],
        },
        places=[(t, p) for t, p, _, _ in rows],
        place_format="topics[{}].partitions[{}]",
    )


def _notes(output: dict[str, Any]) -> Iterator[str]:
    asked = output.get("query", {}).get("topic", "*")
    if asked not in _ALL_TOPICS:
        yield f"kcat was run for one topic only: {len(output['topics'])} listed"
