"""
The output of ``kafka-log-dirs --describe``: two lines of text, then one of JSON.

The JSON lists each broker that answered, its log dirs and the replicas in them. The
tool prints neither the size of a log dir nor what is free in it. Source:
`LogDirsCommand` in Kafka's `tools`.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.snapshot.columns import MAX_INT64
from planner.snapshot.importers.source import Record, ReplicaColumns, Source
from planner.snapshot.importers.text import (
    Refusal,
    decode,
    looks_like,
    parse_json,
    validate,
)
from planner.snapshot.records import Id

KIND = "the output of kafka-log-dirs --describe"
_PREAMBLE = re.compile(
    r"Querying brokers for log directories information"
    r"|Received log directory information from brokers (?P<brokers>[0-9,]*)"
)
_FOREIGN = with_config(ConfigDict(strict=True))
# What Kafka adds in later releases is passed over.
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


def read_log_dirs(data: bytes, *, file: str) -> Source:
    """
    Read what ``kafka-log-dirs --describe`` printed.

    Parameters
    ----------
    data
        The whole output, gzipped or not; the lines before the JSON may be missing.
    file
        What problems name as their file.

    Returns
    -------
    Source
        Log dirs, online or offline, and where replicas lie, future ones included.

    Raises
    ------
    BadInputError
        If it is not such an output, or not all of it.
    """
    refusal = Refusal(file, KIND)
    text = decode(data, refusal)
    told = _find_json(text, refusal)
    parsed = parse_json(told.text, refusal, first_line=told.line)
    document = validate(_OUTPUT, parsed, refusal)
    brokers = document["brokers"]
    _check_brokers([one["broker"] for one in brokers], told.brokers, refusal)
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
    )


@dataclass(slots=True)
class _Told:
    """The JSON with its line, and the brokers that the line before it names."""

    text: str = ""
    line: int = 0
    brokers: list[int] | None = None


def _find_json(text: str, refusal: Refusal) -> _Told:
    """Pass over the lines that the tool prints first."""
    told = _Told()
    lines = text.split("\n")
    for at, line in enumerate(lines):
        stripped = line.strip()
        if stripped.startswith("{"):
            told.text, told.line = "\n".join(lines[at:]), at + 1
            break
        found = _PREAMBLE.fullmatch(stripped)
        if found and found["brokers"] is not None:
            told.brokers = sorted(int(i) for i in found["brokers"].split(",") if i)
        elif stripped and not found:
            remedy = looks_like(text) or "give its output without stderr"
            rule = "the line is not of kafka-log-dirs --describe"
            refusal.stop(f"line {at + 1}", rule, remedy)
    if not told.text:
        rule = "the line of JSON is missing"
        refusal.stop(f"line {len(lines)}", rule, "it was cut: take it anew")
    return told


def _check_brokers(
    listed: list[int], received: list[int] | None, refusal: Refusal
) -> None:
    if len(set(listed)) != len(listed):
        rule = "a broker must stand once"
        refusal.add("brokers", rule, "two outputs were joined: give both files")
    if received is not None and received != sorted(listed):
        rule = f"the JSON must hold brokers {received}, as the line before it says"
        refusal.add("brokers", rule, "take the output anew, unedited", sorted(listed))


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
