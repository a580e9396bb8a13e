"""Readers of amounts, resources, brokers and patterns, from texts or typed values."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args

from planner.errors import raise_problems
from planner.options.declared.broker_lists import broker_list
from planner.options.declared.option import Problems
from planner.options.declared.types import CopyOrder, ResourceName
from planner.text.units import (
    MOST_BYTES,
    parse_bytes,
    parse_fraction,
    parse_rate,
    rate_remedy,
)

RESOURCE_NAMES: tuple[str, ...] = get_args(ResourceName)
WITH_CAPACITY = ("disk", "in", "out", "cpu")
"""Resources that have capacities."""
WIDEST_BAND = 10
MOST_MOVES = 2**62
MOST_SECONDS = 7 * 24 * 3600


def read_brokers(
    value: str | Iterable[int], problems: Problems
) -> tuple[int, ...] | None:
    """Return the ids of a broker list; `None` if it is invalid or empty."""
    given = value if isinstance(value, str) else tuple(value)
    try:
        return broker_list(given) or None
    except ValueError as error:
        shown = given if isinstance(given, str) else ",".join(map(str, given))
        problems.refuse(shown, str(error), "write ids and ranges: 1,2,5-9")
        return None


def read_broker_lists(
    value: Iterable[str | int], problems: Problems
) -> tuple[int, ...]:
    """Return the ids of broker lists, or those given as numbers, one after another."""
    lists = [
        read_brokers(one if isinstance(one, str) else (one,), problems) for one in value
    ]
    return tuple(broker for ids in lists for broker in ids or ())


def read_size(value: str | float, problems: Problems) -> int | None:
    """Return a number of bytes; `None` if it is invalid."""
    try:
        return parse_bytes(value) if isinstance(value, str) else _bytes(value)
    except ValueError as error:
        problems.refuse(value, str(error), "write 500GB, 2TiB or 1000000")
        return None


def read_rate(value: str | float, problems: Problems) -> int | None:
    """Return a rate above 0 in bytes/s; `None` if it is invalid."""
    try:
        rate = parse_rate(value) if isinstance(value, str) else _bytes(value)
    except ValueError:
        rule = "must be bytes per second, such as 50MB/s"
        problems.refuse(value, rule, rate_remedy(value))
        return None
    if not rate:
        problems.refuse(value, "must be above 0", "write 50MB/s")
    return rate


def _bytes(value: float) -> int:
    """
    Return a number of bytes as an integer.

    Raises
    ------
    ValueError
        If it is negative, or 2^62 or more.
    """
    if not 0 <= value < MOST_BYTES:
        msg = "must be bytes, such as 500GB, 2TiB or 1000000"
        raise ValueError(msg if value < 0 else "must be less than 2^62 bytes")
    return round(value)


def read_count(value: int, problems: Problems) -> int:
    """Return a count of 0 or more."""
    if not 0 <= value < MOST_MOVES:
        rule = f"must be a number from 0 to {MOST_MOVES - 1}"
        problems.refuse(value, rule, "leave it out for no cap")
    return value


def read_cap(value: int, problems: Problems) -> int:
    """Return a cap of 1 or more on the copies of a wave."""
    if value < 1:
        problems.refuse(value, "must be 1 or more", "give 5, or leave it out")
    return value


def read_seconds(value: float, problems: Problems) -> float:
    """Return seconds above 0."""
    if not 0 < value <= MOST_SECONDS:
        rule = f"must be above 0 and at most {MOST_SECONDS:,}"
        problems.refuse(value, rule, "leave it out for no limit")
    return value


def read_order(value: str, problems: Problems) -> CopyOrder | None:
    """Return the order of copies; `None` if there is no such order."""
    known: tuple[CopyOrder, ...] = get_args(CopyOrder)
    for order in known:
        if order == value:
            return order
    remedy = f"one of {', '.join(known)}"
    problems.refuse(value, "must be an order of copies", remedy)
    return None


def read_resources(
    value: str | Iterable[str], problems: Problems
) -> tuple[ResourceName, ...]:
    """Return the named resources, in their usual order."""
    listed = value.split(",") if isinstance(value, str) else value
    names = [name.strip() for name in listed] or [""]
    for name in names:
        if name not in RESOURCE_NAMES:
            _refuse_resource(name, problems)
    known: tuple[ResourceName, ...] = get_args(ResourceName)
    return tuple(name for name in known if name in names)


def _refuse_resource(name: str, problems: Problems) -> None:
    known = ", ".join(RESOURCE_NAMES)
    problems.refuse(name, "must name a resource", f"one of {known}")


GivenFractions = float | Mapping[str, float] | Sequence[str]
"""A fraction for all resources, fractions by resource, or texts of the two."""


def read_bands(value: GivenFractions, problems: Problems) -> dict[str, float]:
    """Return fractions by resource; one without a name stands for all others."""
    for_all: dict[str, float] = {}
    named: dict[str, float] = {}
    for text, name, fraction in _fractions(value):
        if fraction is None or not 0 <= fraction <= WIDEST_BAND:
            rule = f"must be a fraction from 0 to {WIDEST_BAND}"
            problems.refuse(text, rule, "write 0.10, 10%, or disk=5%")
        elif not name:
            for_all = dict.fromkeys(RESOURCE_NAMES, fraction)
        elif name in RESOURCE_NAMES:
            named[name] = fraction
        else:
            _refuse_resource(name, problems)
    return for_all | named


def read_fractions(value: GivenFractions, problems: Problems) -> dict[str, float]:
    """Return fractions above 0 up to 1 by resource, of those that have capacities."""
    found: dict[str, float] = {}
    for text, name, fraction in _fractions(value):
        if name in WITH_CAPACITY and fraction is not None and 0 < fraction <= 1:
            found[name] = fraction
            continue
        known = ", ".join(WITH_CAPACITY)
        rule = f"must be RESOURCE=FRACTION, of {known} and above 0 up to 1"
        problems.refuse(text, rule, "write disk=0.8 or disk=80%")
    return found


def read_capacity_thresholds(value: GivenFractions) -> dict[str, float]:
    """
    Return thresholds of capacities by resource.

    Raises
    ------
    BadInputError
        With every threshold that names no capacity or no fraction above 0 up to 1.
    """
    problems = Problems("--capacity-threshold")
    found = read_fractions(value, problems)
    raise_problems("bad capacity threshold", problems.found)
    return found


def _fractions(value: GivenFractions) -> Iterator[tuple[str, str, float | None]]:
    """Yield the text, the name and the number of each fraction; `None`: no number."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield f"{name}={one!r}", name, _number(one)
    elif isinstance(value, int | float):
        yield repr(value), "", _number(value)
    else:
        for text in (value,) if isinstance(value, str) else value:
            name, _, number = text.rpartition("=")
            yield text, name, _number(number)


def _number(value: str | float) -> float | None:
    try:
        return parse_fraction(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return None


def read_pattern(value: str, problems: Problems) -> str | None:
    """Return a regular expression; `None` if it is invalid."""
    try:
        re.compile(value)
    except re.error as error:
        rule = f"must be a regular expression: {error}"
        problems.refuse(value, rule, "correct it; it matches whole names")
        return None
    return value


def read_patterns(value: Iterable[str], problems: Problems) -> tuple[str, ...]:
    """Return the valid regular expressions."""
    return tuple(one for one in value if read_pattern(one, problems) is not None)
