"""Replication factors by topic: from a file and from options, for one cluster."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from placement.array_types import BoolArray
from placement.draft.draft import Note
from placement.model.cluster import ClusterState
from planner.errors import BadInputError, InputProblem
from planner.io.toml_records import read_toml
from planner.kafka_files.reassignment_file import read_json

Rules = tuple[tuple[int, str], ...]
"""Factors and regular expressions, in the order of the file."""
MOST_REPLICAS = 1000
REMEDY = 'write 3 = ["orders[.].*", "payments"], or the same as JSON'


def read_factors(path: Path) -> Rules:
    """
    Read a file of replication factors of topics, by regular expressions.

    TOML, or JSON if so named: a factor, and one expression or a list of expressions.

    Raises
    ------
    BadInputError
        With every problem of the file.
    """
    document = _read(path)
    if not isinstance(document, Mapping):
        raise _refusal([_problem(path, "", "must be an object", str(document)[:80])])
    rules: list[tuple[int, str]] = []
    problems: list[InputProblem] = []
    for key, value in document.items():
        factor, patterns = read_factor(key), _patterns(value)
        if factor is None:
            rule = f"keys must be replication factors from 1 to {MOST_REPLICAS}"
            problems.append(_problem(path, str(key), rule, str(key)))
        if patterns is None:
            rule = "must be a regular expression or a list of them"
            problems.append(_problem(path, str(key), rule, str(value)[:80]))
        problems += _bad_patterns(path, str(key), patterns or ())
        rules += [(factor or 0, pattern) for pattern in patterns or ()]
    if not rules and not problems:
        problems.append(_problem(path, "", "must have at least one factor"))
    if problems:
        raise _refusal(problems)
    return tuple(rules)


def _read(path: Path) -> object:
    if path.suffix == ".json":
        return read_json(path, remedy=REMEDY)
    return read_toml(path, lambda _, found: _refusal(found), remedy=REMEDY)


def read_factor(text: object) -> int | None:
    """Return a replication factor; `None` if the value is none."""
    match = re.fullmatch(r"[0-9]{1,4}", str(text))
    factor = int(match[0]) if match else 0
    return factor if 1 <= factor <= MOST_REPLICAS else None


def _patterns(value: object) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return None


def _bad_patterns(
    path: Path, place: str, patterns: Sequence[str]
) -> Iterator[InputProblem]:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            rule = f"must be a regular expression: {error}"
            yield _problem(path, place, rule, pattern)


def _problem(path: Path, place: str, rule: str, value: str = "") -> InputProblem:
    return InputProblem(
        file=str(path), place=place, value=value, rule=rule, remedy=REMEDY
    )


def _refusal(problems: Sequence[InputProblem]) -> BadInputError:
    return BadInputError("bad replication factors", problems)


def topic_factors(
    state: ClusterState,
    rules: Rules,
    factor: int | None,
    *,
    is_excluded: BoolArray | None,
    named: Sequence[str],
) -> tuple[dict[str, int], tuple[Note, ...]]:
    """
    Return the factor that each topic shall have, and notes on unused rules.

    Parameters
    ----------
    state
        The cluster.
    rules
        Rules of a file; they take precedence over `factor`.
    factor
        Factor of all topics that match no rule, or `None`.
    is_excluded
        ``(T,)`` true for topics that keep their factor, or `None`.
    named
        Topics named one by one: their factor may be below min.insync.replicas.

    Raises
    ------
    BadInputError
        With every topic that matches rules of different factors, or that could no
        longer be written with ``acks=all``.
    """
    topics = state.topics
    out = np.zeros(len(topics), np.bool_) if is_excluded is None else is_excluded
    problems: list[InputProblem] = []
    found: dict[str, int] = {}
    met: set[str] = set()
    compiled = [(wanted, re.compile(pattern)) for wanted, pattern in rules]
    for t, name in enumerate(topics.names):
        if out[t]:
            continue
        matching = [(n, one.pattern) for n, one in compiled if one.fullmatch(name)]
        met.update(pattern for _, pattern in matching)
        factors = {n for n, _ in matching} or ({factor} if factor else set())
        if len(factors) > 1:
            problems.append(_two_factors(name, matching))
        elif factors:
            found[name] = factors.pop()
            least = int(topics.min_insync_replicas[t])
            if found[name] < least and name not in named:
                problems.append(_below_min_isr(name, found[name], least))
    if problems:
        raise _refusal(problems)
    return found, tuple(
        Note(what="no-topic", message=f"{pattern!r} ({n}) matches no topic")
        for n, pattern in rules
        if pattern not in met
    )


def _two_factors(name: str, matching: Sequence[tuple[int, str]]) -> InputProblem:
    return InputProblem(
        file="--replication-factors",
        place=name,
        value=", ".join(f"{n}: {pattern}" for n, pattern in matching),
        rule="a topic may match the expressions of one factor",
        remedy="make the expressions narrower",
    )


def _below_min_isr(name: str, factor: int, least: int) -> InputProblem:
    return InputProblem.of_option(
        "--replication-factor",
        f"{name}: {factor}",
        f"must not be below min.insync.replicas {least}: nothing could be "
        "written with acks=all",
        f"lower it first, or name the topic: --topic {name}",
    )
