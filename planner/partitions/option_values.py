"""Values of options, read with every problem kept."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite, nan

from planner.errors import InputProblem, raise_problems
from planner.text.units import parse_bytes, parse_rate
from planner.what_if.changes.amounts import parse_duration_ms

Amount = str | float | None
"""A quantity: a text with a unit, a number in its base unit, or nothing."""
Grouped = Mapping[str, str | float] | Sequence[str] | str | float | None
"""A quantity for each consumer group, or for all: ``["GROUP=VALUE", "VALUE"]``."""


def grouped_texts(values: Grouped) -> list[str]:
    """
    Return ``[GROUP=]VALUE`` texts of a quantity by group.

    Examples
    --------
    >>> grouped_texts({"billing": "5MB/s"}), grouped_texts(3)
    (['billing=5MB/s'], ['3'])
    """
    if values is None:
        return []
    if isinstance(values, Mapping):
        return [f"{name}={value}" for name, value in values.items()]
    return [values] if isinstance(values, str) else _listed(values)


def _listed(values: Sequence[str] | float) -> list[str]:
    return [f"{values}"] if isinstance(values, int | float) else list(values)


class ValueReader:
    """Reader of option values, which keeps a problem for each invalid one."""

    def __init__(self) -> None:
        self.problems: list[InputProblem] = []

    def refuse(self, option: str, value: object, rule: str, remedy: str) -> None:
        """Keep the problem of an option."""
        self.problems.append(InputProblem.of_option(option, value, rule, remedy))

    def raise_problems(self) -> None:
        """
        Raise every problem found, if any.

        Raises
        ------
        BadInputError
            If there is a problem.
        """
        raise_problems("bad options", self.problems)

    def rate(self, option: str, value: Amount) -> float:
        """Return bytes/s above 0; NaN if absent or invalid."""
        return self._positive(option, value, parse_rate, "write 50MB/s")

    def size(self, option: str, value: Amount) -> float:
        """Return bytes above 0; NaN if absent or invalid."""
        return self._positive(option, value, parse_bytes, "write 500GB or 2TiB")

    def seconds(self, option: str, value: Amount) -> float:
        """Return seconds above 0 of a duration; NaN if absent or invalid."""
        return self._positive(option, value, _seconds, "write 5ms, 30min or 7d")

    def number(self, option: str, value: float | None, low: float) -> float:
        """Return a finite number of at least `low`; NaN if absent or invalid."""
        if value is None:
            return nan
        if not isfinite(value) or value < low:
            rule = f"must be a number of {low:g} or more"
            self.refuse(option, value, rule, f"give {low:g} or more")
            return nan
        return float(value)

    def count(self, option: str, value: int | None) -> int | None:
        """Return a whole number of 1 or more; `None` if absent or invalid."""
        if value is not None and value < 1:
            self.refuse(option, value, "must be 1 or more", "give 1 or more")
            return None
        return value

    def by_group(
        self, option: str, values: Iterable[str], read: Callable[[str, str], float]
    ) -> dict[str, float]:
        """Return a value by group; that of the empty name is for all others."""
        found: dict[str, float] = {}
        for text in values:
            name, equals, value = text.rpartition("=")
            if equals and not name:
                rule = "must be VALUE, or GROUP=VALUE with a name"
                self.refuse(option, text, rule, "name the group, or leave out '='")
            elif name in found:
                rule = "must be given once for each group"
                self.refuse(option, text, rule, "leave out one of the two")
            else:
                found[name] = read(option, value)
        return found

    def whole(self, option: str, text: str) -> float:
        """Return a whole number of 1 or more from a text; NaN if invalid."""
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            self.refuse(option, text, "must be a number of 1 or more", "give 1 or more")
            return nan
        return float(text)

    def _positive(
        self, option: str, value: Amount, parse: Callable[[str], float], remedy: str
    ) -> float:
        if value is None:
            return nan
        try:
            amount = float(parse(value) if isinstance(value, str) else value)
        except ValueError as error:
            self.refuse(option, value, str(error), remedy)
            return nan
        if not 0 < amount < float("inf"):
            self.refuse(option, value, "must be above 0", remedy)
            return nan
        return amount


def _seconds(text: str) -> float:
    return parse_duration_ms(text) / 1000
