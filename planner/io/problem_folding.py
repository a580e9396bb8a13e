"""Folding of problems of one kind into the first one and their number."""

import re
from collections.abc import Iterable
from dataclasses import replace

from planner.errors import InputProblem

_DIGITS = re.compile(r"[0-9][0-9.,]*")
_PARTS = re.compile(r"[.,:\s]+")


def fold(problems: Iterable[InputProblem]) -> list[tuple[InputProblem, int]]:
    """
    Return the first problem of each kind, and the number of problems of that kind.

    Problems of one kind have the same file, column and rule, apart from row numbers and
    numbers in the rule.

    Examples
    --------
    >>> facts = {"file": "r.csv", "value": "x", "rule": "must be bytes", "remedy": ""}
    >>> cells = [InputProblem(place=f"line {n}, in", **facts) for n in (2, 7)]
    >>> [(problem.place, count) for problem, count in fold(cells)]
    [('line 2, in', 2)]
    """
    first: dict[tuple[str, str, str], InputProblem] = {}
    count: dict[tuple[str, str, str], int] = {}
    for problem in problems:
        kind = (problem.file, _column(problem.place), _DIGITS.sub("#", problem.rule))
        first.setdefault(kind, problem)
        count[kind] = count.get(kind, 0) + 1
    return [(problem, count[kind]) for kind, problem in first.items()]


def folded(problems: Iterable[InputProblem]) -> list[InputProblem]:
    """Return the first problem of each kind, with their number in its rule."""
    return [
        problem
        if count == 1
        else replace(
            problem, rule=f"{problem.rule}; {count:,} are so, this is the first"
        )
        for problem, count in fold(problems)
    ]


def _column(place: str) -> str:
    """Return the column that a place ends with, without the numbers of rows."""
    return _DIGITS.sub("#", _PARTS.split(place)[-1])
