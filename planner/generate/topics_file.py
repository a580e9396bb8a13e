"""The file of topics to move, in the format of Kafka's tool."""

from collections.abc import Iterator
from pathlib import Path

from planner.errors import BadInputError, InputProblem
from planner.kafka_files.reassignment_file import read_json


def read_topics_to_move(path: Path) -> tuple[str, ...]:
    """
    Read the file of ``--topics-to-move-json-file``.

    Raises
    ------
    BadInputError
        If the file is invalid; names every problem.
    """
    document = read_json(path)
    problems = [
        InputProblem(
            file=str(path), place=place, value=str(value), rule=rule, remedy=remedy
        )
        for place, value, rule, remedy in _topic_problems(document)
    ]
    if problems or not isinstance(document, dict):
        msg = f"{path} does not name topics to move"
        raise BadInputError(msg, problems)
    return tuple(entry["topic"] for entry in document["topics"])


def _topic_problems(document: object) -> Iterator[tuple[str, str, str, str]]:
    example = 'write {"topics":[{"topic":"orders"}],"version":1}'
    if not isinstance(document, dict):
        yield "", type(document).__name__, "must be an object", example
        return
    version = document.get("version", 1)
    if type(version) is not int or version != 1:
        rule = f"Not supported version field value {str(version)[:40]}"
        yield "version", "", rule, "write 1, or leave it out"
    topics = document.get("topics")
    if not isinstance(topics, list) or not topics:
        yield "topics", "nothing", "must list the topics to move", example
        return
    for place, entry in enumerate(topics):
        if not isinstance(entry, dict) or not isinstance(entry.get("topic"), str):
            rule = "must be an object with the name of a topic"
            yield f"topics[{place}]", "", rule, 'write {"topic":"orders"}'
