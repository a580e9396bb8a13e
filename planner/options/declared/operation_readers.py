"""Readers of the options of single operations, from texts or typed values."""

import re
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from planner.errors import BadInputError
from planner.options.declared.broker_lists import parse_broker_list
from planner.options.declared.option import Problems
from planner.options.declared.topic_configs import (
    parse_topic_configs,
    topic_config_problems,
)

LOG_DIR = re.compile(r"(?P<brokers>[\d,\s-]+):(?P<path>/.*)")
"""Brokers, a colon, an absolute path."""


def read_log_dirs(
    value: Iterable[str | tuple[int, str]], problems: Problems
) -> tuple[tuple[int, str], ...]:
    """Return broker ids and paths of ``BROKERS:PATH`` texts, each once."""
    found: dict[tuple[int, str], None] = {}
    for one in value:
        if isinstance(one, str):
            found |= dict.fromkeys(_named_dirs(one, problems))
        else:
            broker, path = one
            found[broker, path] = None
    return tuple(found)


def _named_dirs(text: str, problems: Problems) -> list[tuple[int, str]]:
    match = LOG_DIR.fullmatch(text.strip())
    try:
        brokers = parse_broker_list(match["brokers"]) if match else ()
    except ValueError:
        brokers = ()
    if match is None or not brokers:
        rule = "must be brokers, a colon, and an absolute path"
        problems.refuse(text, rule, "write 4:/data/d1, or 1-3:/kafka/log{broker}")
        return []
    path = match["path"]
    return [(broker, path.replace("{broker}", str(broker))) for broker in brokers]


def read_factor_file(
    value: str | PathLike[str] | tuple[tuple[int, str], ...], problems: Problems
) -> tuple[tuple[int, str], ...]:
    """Return the factors and regular expressions of a file, or as they are given."""
    from planner.options.declared.replication_factors import read_factors

    if isinstance(value, tuple):
        return value
    try:
        return read_factors(Path(value))
    except BadInputError as error:
        problems.found += error.problems
        return ()


def read_defects(value: Iterable[str], problems: Problems) -> tuple[str, ...]:
    """Return the named defects."""
    from placement.operations.fix import Defect

    words = [word.strip() for text in value for word in str(text).split(",")]
    known = ", ".join(Defect)
    for word in words:
        if word not in set(Defect):
            problems.refuse(word, "must name what can be repaired", f"one of {known}")
    return tuple(word for word in words if word in set(Defect))


def read_topic_configs(
    value: Mapping[str, str] | Iterable[str], problems: Problems
) -> dict[str, str]:
    """Return topic configs by name."""
    pairs = value.items() if isinstance(value, Mapping) else None
    texts = list(value) if pairs is None else [f"{key}={text}" for key, text in pairs]
    for problem in topic_config_problems(texts):
        problems.refuse(*problem)
    return parse_topic_configs(texts)
