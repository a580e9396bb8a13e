"""
Conditions of `--fail-on`: ``disk.max_use > 0.85 or rack > 0 and not cpu.cv < 1``.

::

    condition  = term {"or" term}
    term       = factor {"and" factor}
    factor     = "not" factor | "(" condition ")" | comparison
    comparison = name (">" | ">=" | "<" | "<=" | "==" | "!=") number

A name is ``RESOURCE.FIGURE``, a violation, or a number of the whole cluster; a number
may have a unit: ``500GB``, ``2TiB``, ``50MB/s``, ``85%``, ``36h``.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, NoReturn, Protocol

from placement.model.load import RESOURCES
from placement.score import VIOLATIONS, ResourceScore
from planner.errors import InputProblem, raise_problems

OPTION = "--fail-on"
TOTALS = (
    "brokers",
    "partitions",
    "replicas",
    "data_age_s",
    "min_bytes_to_balance",
    "num_hot_spots",
)
FIGURES = tuple(field.name for field in fields(ResourceScore))
NAMES = (
    *(f"{resource}.{figure}" for resource in RESOURCES for figure in FIGURES),
    *VIOLATIONS,
    *(f"violations.{rule}" for rule in VIOLATIONS),
    *TOTALS,
)
"""Names that a condition may use."""

MOST_DEPTH = 50
"""Largest depth of nested parentheses and `not`."""
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_DECIMAL = {unit: 1000.0**n for n, unit in enumerate(("", "k", "M", "G", "T", "P"))}
_BINARY = {f"{unit}i": 1024.0 ** (n + 1) for n, unit in enumerate("KMGTP")}
UNITS: Mapping[str, float] = {
    "": 1.0,
    "%": 0.01,
    **{f"{prefix}B": factor for prefix, factor in (_DECIMAL | _BINARY).items()},
    "KB": 1000.0,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)(?P<unit>[A-Za-z]+|%)?(?P<per>/s)?"
    r"|(?P<name>[A-Za-z_][\w.]*)|(?P<sign>[<>]=?|==|!=|\(|\)))"
)
_WORDS = ("and", "or", "not")


class Condition(Protocol):
    """A condition on the figures of a score."""

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Return whether the condition holds for a document of `score`."""
        ...


class UnknownFigureError(LookupError):
    """A figure that is unknown in this snapshot."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of a figure with a number."""

    name: str
    sign: str
    number: float

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Compare the figure; raise `UnknownFigureError` where it is unknown."""
        return COMPARISONS[self.sign](figure(document, self.name), self.number)


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction; parts after the first false one are not evaluated."""

    parts: tuple[Condition, ...]

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Evaluate the parts in order."""
        return all(part.holds(document) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction; parts after the first true one are not evaluated."""

    parts: tuple[Condition, ...]

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Evaluate the parts in order."""
        return any(part.holds(document) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of a condition."""

    part: Condition

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Evaluate the part and negate it."""
        return not self.part.holds(document)


def figure(document: Mapping[str, Any], name: str) -> float:
    """
    Return one figure of a document of `score`.

    Raises
    ------
    UnknownFigureError
        If the figure is unknown in the snapshot; unknown is never 0.
    """
    resource, _, field = name.partition(".")
    if resource == "violations" or name in VIOLATIONS:
        return float(document["violations"][field or name])
    if not field:
        value = document[name]
        if value is None:
            raise UnknownFigureError(name)
        return float(value)
    figures = document["resources"][resource]
    if field != "known_fraction" and not figures["known_fraction"]:
        raise UnknownFigureError(name)
    value = figures[field]
    if value is None:
        raise UnknownFigureError(name)
    return float(value)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    value: float
    at: int


class _BadConditionError(ValueError):
    def __init__(self, at: int, found: str, rule: str, remedy: str) -> None:
        super().__init__(rule)
        self.problem = InputProblem.of_option(
            f"{OPTION}, character {at + 1}", found, rule, remedy
        )


def parse_conditions(
    texts: Sequence[str],
    names: Collection[str] = NAMES,
    absent: Mapping[str, str] = MappingProxyType({}),
    *,
    kind: str = "a score",
) -> dict[str, Condition]:
    """
    Parse the conditions of the command line.

    Parameters
    ----------
    texts
        Texts of the conditions.
    names
        Names that conditions may use.
    absent
        Names that are unknown for this document, each with a remedy.
    kind
        Kind of document that has the names, for messages.

    Raises
    ------
    BadInputError
        If any condition is invalid; has the first error of each, and every unknown
        name.

    Examples
    --------
    >>> conditions = parse_conditions(["disk.max_use > 85%"])
    >>> document = {"resources": {"disk": {"max_use": 0.9, "known_fraction": 1.0}}}
    >>> conditions["disk.max_use > 85%"].holds(document)
    True
    """
    conditions: dict[str, Condition] = {}
    problems: list[InputProblem] = []
    for text in texts:
        problems += _unknown_names(text, names, absent, kind)
        try:
            conditions[text] = _Parser(text).parse()
        except _BadConditionError as error:
            problems.append(error.problem)
    raise_problems("bad condition", problems)
    return conditions


def evaluate(
    conditions: Mapping[str, Condition], document: Mapping[str, Any], *, file: str
) -> list[dict[str, Any]]:
    """
    Evaluate every condition on one score.

    Raises
    ------
    BadInputError
        If a condition depends on an unknown figure. A monitor must not report success
        without data.
    """
    answers, problems = [], []
    for text, condition in conditions.items():
        try:
            answers.append({"condition": text, "holds": condition.holds(document)})
        except UnknownFigureError as error:
            problems.append(_unknown_figure(str(error.args[0]), text, file))
    raise_problems(f"conditions cannot be evaluated on {file}", problems)
    return answers


def evaluate_known(
    conditions: Mapping[str, Condition], document: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return each condition and whether it holds; `None` if a figure is unknown."""
    found = []
    for text, condition in conditions.items():
        holds, unknown = None, None
        try:
            holds = condition.holds(document)
        except UnknownFigureError as error:
            unknown = str(error.args[0])
        found.append({"condition": text, "holds": holds, "unknown": unknown})
    return found


def _unknown_figure(name: str, text: str, file: str) -> InputProblem:
    resource = name.partition(".")[0]
    guard = f"{resource}.known_fraction < 0.95 or {text}"
    remedy = f"measure it, or write '{guard}'" if "." in name else "measure it"
    return InputProblem(
        file=file,
        place=name,
        value="unknown",
        rule=f"{OPTION} needs a figure that is unknown in the snapshot",
        remedy=remedy,
    )


def _tokens(text: str) -> Iterator[_Token]:
    at, stop = 0, len(text.rstrip())
    while at < stop:
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].strip()
            at = stop - len(rest)
            rule = "must be names, numbers, comparisons, and, or, not"
            raise _BadConditionError(at, rest[:40], rule, "write disk.max_use > 0.85")
        start = match.start(match.lastgroup or 0)
        if match["number"] is not None:
            yield _number(match)
        elif match["name"] is not None:
            kind = "word" if match["name"] in _WORDS else "name"
            yield _Token(kind, match["name"], 0.0, start)
        else:
            yield _Token("sign", match["sign"], 0.0, start)
        at = match.end()
    yield _Token("end", "", 0.0, stop)


def _number(match: re.Match[str]) -> _Token:
    unit, start = match["unit"] or "", match.start("number")
    if unit not in UNITS:
        close = get_close_matches(unit, UNITS, n=1, cutoff=0.4)
        hint = f"; did you mean {close[0]}?" if close else ""
        known = ", ".join(u for u in UNITS if u)
        raise _BadConditionError(
            start, match.group().strip(), "must have a known unit", f"of {known}{hint}"
        )
    return _Token("number", match.group(), float(match["number"]) * UNITS[unit], start)


def _unknown_names(
    text: str, names: Collection[str], absent: Mapping[str, str], kind: str
) -> Iterator[InputProblem]:
    """Yield a problem for every unknown name."""
    try:
        tokens = list(_tokens(text))
    except _BadConditionError:
        return
    for token in tokens:
        if token.kind != "name" or (token.text in names and token.text not in absent):
            continue
        rule, remedy = f"must be a figure of {kind}", absent.get(token.text, "")
        if token.text in absent:
            rule = "the figure is not known here"
        elif close := get_close_matches(token.text, names, n=3):
            remedy = f"did you mean {' or '.join(close)}?"
        else:
            remedy = "see docs"
        yield _BadConditionError(token.at, token.text, rule, remedy).problem


class _Parser:
    """Recursive-descent parser of one condition; it does not validate names."""

    def __init__(self, text: str) -> None:
        self._left = list(_tokens(text))[::-1]
        self._depth = 0

    def parse(self) -> Condition:
        condition = self._condition()
        if self._next.kind != "end":
            self._refuse("must end here, or go on with and, or")
        return condition

    @property
    def _next(self) -> _Token:
        return self._left[-1]

    def _refuse(self, rule: str) -> NoReturn:
        found = self._next.text or "the end"
        raise _BadConditionError(
            self._next.at, found, rule, "write disk.max_use > 0.85"
        )

    def _takes(self, text: str) -> bool:
        if self._next.kind in {"word", "sign"} and self._next.text == text:
            self._left.pop()
            return True
        return False

    def _condition(self) -> Condition:
        parts = [self._term()]
        while self._takes("or"):
            parts.append(self._term())
        return Or(tuple(parts)) if len(parts) > 1 else parts[0]

    def _term(self) -> Condition:
        parts = [self._factor()]
        while self._takes("and"):
            parts.append(self._factor())
        return And(tuple(parts)) if len(parts) > 1 else parts[0]

    def _factor(self) -> Condition:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self._refuse(f"must not nest more than {MOST_DEPTH} deep")
        factor = self._inner()
        self._depth -= 1
        return factor

    def _inner(self) -> Condition:
        if self._takes("not"):
            return Not(self._factor())
        if self._takes("("):
            condition = self._condition()
            if not self._takes(")"):
                self._refuse("must close its parenthesis")
            return condition
        return self._comparison()

    def _comparison(self) -> Condition:
        if self._next.kind != "name":
            self._refuse("must be a figure of a score")
        name = self._left.pop().text
        if self._next.text not in COMPARISONS:
            self._refuse("must compare: >, >=, <, <=, ==, !=")
        sign = self._left.pop().text
        if self._next.kind != "number":
            self._refuse("must be a number")
        return Comparison(name, sign, self._left.pop().value)
