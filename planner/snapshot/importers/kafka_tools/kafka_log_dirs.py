"""
The output of ``kafka-log-dirs --describe``: two lines of text, then JSON.

The JSON lists each broker that answered, its log dirs and the replicas in them. The
tool prints neither the size of a log dir nor what is free in it. Source:
`LogDirsCommand` in Kafka's `tools`.
"""

import re
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.snapshot.importers.inputs.import_source import (
    Record,
    ReplicaColumns,
    Source,
)
from planner.snapshot.importers.inputs.input_text import Refusal
from planner.snapshot.importers.inputs.json_input import read_documents, validate
from planner.snapshot.tables.snapshot_columns import MAX_INT64
from planner.snapshot.tables.snapshot_records import Id

KIND = "the output of kafka-log-dirs --describe"
_PREAMBLE = (
    r"(?:Querying brokers for log directories information"
    r"|Received log directory information from brokers [0-9,]*)\s*$"
)
_RECEIVED = re.compile(
    r"Received log directory information from brokers (?P<brokers>[0-9,]*)"
)
_FOREIGN = with_config(ConfigDict(strict=True))
# Fields that later releases add are skipped.
_Name = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}-[0-9]{1,10}$")]


@_FOREIGN
class _Replica(TypedDict):
    partition: _Name
    size: Annotated[int, Field(ge=0, le=MAX_INT64)]
    isFuture: bool


@_FOREIGN
class _LogDir(TypedDict):
    logDir: Annotated[str, Field(min_length=1)]
    error: NotRequired[str | None]
    partitions: list[_Replica]


@_FOREIGN
class _Broker(TypedDict):
    broker: Id
    logDirs: list[_LogDir]


@_FOREIGN
class _Output(TypedDict):
    version: Annotated[int, Field(ge=1, le=1)]
    brokers: Annotated[list[_Broker], Field(min_length=1)]


_OUTPUT: TypeAdapter[Any] = TypeAdapter(_Output)
_KNOWN = frozenset(("offsetLag",))
_REPLICA = ("brokers", None, "logDirs", None, "partitions", None)


def read_log_dirs(data: bytes, *, file: str, allow_partial: bool = False) -> Source:
    """
    Read the output of ``kafka-log-dirs --describe``.

    Parameters
    ----------
    data
        The whole output, gzipped or not. The lines before the JSON may be missing; the
        JSON may be pretty-printed, divided into brokers, or several outputs.
    file
        Name of the file in problems.
    allow_partial
        Whether invalid replicas are left out.

    Returns
    -------
    Source
        Log dirs, online or offline, and their replicas, including future ones.

    Raises
    ------
    BadInputError
        If it is not such an output, or incomplete.
    """
    refusal = Refusal(file, KIND, "log_dirs", allow_partial=allow_partial)
    documents = read_documents(data, refusal, headings=_PREAMBLE)
    output = validate(
        _OUTPUT, _joined(documents), refusal, entries=[_REPLICA], known=_KNOWN
    )
    brokers = output["brokers"]
    announced = _announced_brokers(refusal.original)
    _check_brokers([one["broker"] for one in brokers], announced, refusal)
    dirs = [(one, log_dir) for one in brokers for log_dir in one["logDirs"]]
    refusal.raise_problems()
    return Source(
        file=file,
        kind="kafka-log-dirs --describe",
        brokers=tuple(
            Record(key=one["broker"], values={}, place=f"brokers[{at}]")
            for at, one in enumerate(brokers)
        ),
        log_dirs=tuple(_dir_records(brokers)),
        replicas=_replicas(dirs),
        notes=refusal.notes(),
    )


def _joined(documents: list[Any]) -> Any:  # noqa: ANN401 - any JSON value
    """Return one document from several outputs, or from brokers without their frame."""
    parts = [one for part in documents for one in _parts(part)]
    if all(isinstance(one, dict) and "broker" in one for one in parts):
        return {"version": 1, "brokers": parts}
    is_one = len(parts) < 2
    if is_one or not all(isinstance(part, dict) for part in parts):
        return parts[0] if is_one and parts else documents
    lists = [part.get("brokers") for part in parts]
    if not all(isinstance(brokers, list) for brokers in lists):
        return documents
    versions = {str(part.get("version")): part.get("version") for part in parts}
    version = next(iter(versions.values())) if len(versions) == 1 else None
    return {"version": version, "brokers": [b for one in lists for b in one or ()]}


def _parts(document: object) -> list[Any]:
    return document if isinstance(document, list) and document else [document]


def _announced_brokers(text: str) -> list[int] | None:
    """Return the brokers that the lines before the JSON name; `None` without them."""
    found = list(_RECEIVED.finditer(text))
    if not found:
        return None
    return sorted({int(i) for one in found for i in one["brokers"].split(",") if i})


def _check_brokers(
    listed: list[int], received: list[int] | None, refusal: Refusal
) -> None:
    if len(set(listed)) != len(listed):
        rule = "a broker must occur once"
        refusal.add(
            "brokers", rule, "two outputs were joined: give each in its own file"
        )
    if received is not None and received != sorted(listed):
        rule = f"the JSON must list brokers {received}, as the line before it does"
        refusal.add("brokers", rule, "take the output again, unedited", sorted(listed))


def _dir_records(brokers: list[dict[str, Any]]) -> list[Record]:
    return [
        Record(
            key=(one["broker"], log_dir["logDir"]),
            values={"state": "offline" if log_dir.get("error") else "online"},
            place=f"brokers[{b}].logDirs[{d}]",
        )
        for b, one in enumerate(brokers)
        for d, log_dir in enumerate(one["logDirs"])
    ]


def _replicas(dirs: list[tuple[dict[str, Any], dict[str, Any]]]) -> ReplicaColumns:
    counts = [len(log_dir["partitions"]) for _, log_dir in dirs]
    rows = [row for _, log_dir in dirs for row in log_dir["partitions"]]
    owners = [one["broker"] for one, _ in dirs]
    paths = [log_dir["logDir"] for _, log_dir in dirs]
    return ReplicaColumns(
        names=[row["partition"] for row in rows],
        brokers=_repeat(owners, counts),
        paths=_repeat(paths, counts),
        size_bytes=[row["size"] for row in rows],
        is_future=[row["isFuture"] for row in rows],
    )


def _repeat(values: list[Any], counts: list[int]) -> list[Any]:
    return [v for v, n in zip(values, counts, strict=True) for _ in range(n)]
