"""Readers of the amounts of options, each of which records what is wrong."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite, nan
from typing import Any

from planner.options.declared.option import Problems, Reader
from planner.text.units import parse_bytes, parse_duration_ms, parse_rate, rate_remedy

Amount = str | float | None
"""A quantity: a text with a unit, a number in its base unit, or nothing."""
Grouped = Mapping[str, str | float] | Sequence[str] | str | float | None
"""A quantity for each consumer group, or for all: ``["GROUP=VALUE", "VALUE"]``."""


def read_count(value: int, problems: Problems) -> int:
    """Return a whole number of 1 or more."""
    if value < 1:
        problems.refuse(value, "must be 1 or more", "give 1 or more")
    return value


def read_number(value: float, problems: Problems) -> float:
    """Return a finite number of 1 or more; NaN if invalid."""
    if isfinite(value) and value >= 1:
        return float(value)
    problems.refuse(value, "must be a number of 1 or more", "give 1 or more")
    return nan


def read_whole(text: str, problems: Problems) -> float:
    """Return a whole number of 1 or more from a text, such as 3 or 3.0; NaN if none."""
    whole = text.removesuffix(".0")
    if whole.isascii() and whole.isdigit() and int(whole) >= 1:
        return float(whole)
    problems.refuse(text, "must be a number of 1 or more", "give 1 or more")
    return nan


def _read_amount(
    value: str | float,
    problems: Problems,
    *,
    parse: Callable[[str], float],
    remedy: str,
) -> float:
    """Return an amount above 0; NaN if invalid."""
    try:
        amount = float(parse(value) if isinstance(value, str) else value)
    except ValueError as error:
        problems.refuse(value, str(error), remedy)
        return nan
    if not 0 < amount < float("inf"):
        problems.refuse(value, "must be above 0", remedy)
        return nan
    return amount


def _seconds(text: str) -> float:
    return parse_duration_ms(text) / 1000


def read_rate(value: str | float, problems: Problems) -> float:
    """Return a rate above 0 in bytes/s; NaN if invalid."""
    return _read_amount(value, problems, parse=parse_rate, remedy=rate_remedy(value))


read_size = partial(_read_amount, parse=parse_bytes, remedy="write 500GB or 2TiB")
read_seconds = partial(_read_amount, parse=_seconds, remedy="write 5ms, 30min or 7d")


def by_group(read: Reader) -> Reader:
    """
    Return a reader of values by consumer group; that of the empty name is for others.

    Parameters
    ----------
    read
        Reader of one value.

    Examples
    --------
    >>> by_group(read_rate)({"billing": "5MB/s"}, Problems("--read"))
    {'billing': 5000000.0}
    >>> by_group(read_whole)(3, Problems("--consumers"))
    {'': 3.0}
    """

    def read_each(given: Grouped, problems: Problems) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for text in _grouped_texts(given):
            name, equals, value = text.rpartition("=")
            if equals and not name:
                rule = "must be VALUE, or GROUP=VALUE with a name"
                problems.refuse(text, rule, "name the group, or leave out '='")
            elif name in found:
                rule = "must be given once for each group"
                problems.refuse(text, rule, "leave out one of the two")
            else:
                found[name] = read(value, problems)
        return found

    return read_each


def _grouped_texts(given: Grouped) -> Sequence[str]:
    if isinstance(given, Mapping):
        return [f"{name}={value}" for name, value in given.items()]
    if isinstance(given, str):
        return [given]
    return [f"{given}"] if isinstance(given, int | float) else list(given or ())
