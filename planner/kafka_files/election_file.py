"""
Election files, in the format of `kafka-leader-election --path-to-json-file`.

::

    {"partitions":[{"topic":"a","partition":0}]}

A partition named twice is rejected, as by Kafka's tool, and keys that the tool ignores
are ignored. An empty list is accepted: a plan without elections writes one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from planner.errors import BadInputError
from planner.kafka_files.reassignment_file import MAX_INT32, read_json

ELECTION_NAME = "preferred-election.json"
_LIKE = 'write {"partitions":[{"topic":"a","partition":0}]}'
_Found = tuple[str, object, str, str]  # place, value, rule, remedy


def read_election_file(path: Path) -> list[tuple[str, int]]:
    """
    Read the partitions of an election file, in its order.

    Parameters
    ----------
    path
        Kafka's JSON file, or a plan folder with `preferred-election.json`.

    Raises
    ------
    BadInputError
        If Kafka's tool would reject the file; with every problem.
    """
    file = path / ELECTION_NAME if path.is_dir() else path
    document = read_json(file, remedy=_LIKE)
    pairs: list[tuple[str, int]] = []
    found = [*_document_problems(document, pairs)]
    if found:
        from planner.io.problems import problem

        msg = f"{file} is not an election file that Kafka's tool takes"
        raise BadInputError(msg, [problem(str(file), *one) for one in found])
    return pairs


def _document_problems(
    document: object, pairs: list[tuple[str, int]]
) -> Iterator[_Found]:
    """Yield the problems of a document, and append its valid partitions to `pairs`."""
    if not isinstance(document, dict):
        yield "", document, "must be an object", _LIKE
        return
    entries = document.get("partitions")
    if not isinstance(entries, list):
        yield "partitions", entries, "must be a list", _LIKE
        return
    seen: set[tuple[str, int]] = set()
    for number, entry in enumerate(entries):
        place = f"partitions[{number}]"
        if wrong := [*_entry_problems(place, entry)]:
            yield from wrong
            continue
        pair = (entry["topic"], entry["partition"])
        if pair in seen:
            rule = "must name each partition once"
            yield place, f"{pair[0]}-{pair[1]}", rule, "remove this one"
        seen.add(pair)
        pairs.append(pair)


def _entry_problems(place: str, entry: Any) -> Iterator[_Found]:  # noqa: ANN401 - JSON
    if not isinstance(entry, dict):
        yield place, entry, "must be an object", "write topic and partition"
        return
    topic, partition = entry.get("topic"), entry.get("partition")
    if not isinstance(topic, str) or not topic:
        yield f"{place}.topic", topic, "must be a topic's name", "write it as a string"
    # A bool is an int to Python, not to Kafka.
    if type(partition) is not int or not 0 <= partition <= MAX_INT32:
        rule = f"must be a whole number from 0 to {MAX_INT32}"
        yield f"{place}.partition", partition, rule, "write it without quotes"
