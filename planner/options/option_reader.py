"""Parser of a plan's options, which keeps every problem."""

import re
from collections.abc import Sequence

from placement.draft.draft import DEFAULT_THRESHOLDS
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, Resource
from planner.errors import BadInputError, InputProblem
from planner.text.units import parse_bytes, parse_fraction, parse_rate

WIDEST_BAND = 10
MOST_MOVES = 2**62
MOST_SECONDS = 7 * 24 * 3600
MOST_BROKERS = 100_000
"""Largest length of a range of broker ids; a longer one is taken for a typing error."""


class OptionReader:
    """
    Parser of options that keeps every problem.

    Parameters
    ----------
    state
        The cluster; `None`: brokers and topics are not looked up.
    """

    def __init__(self, state: ClusterState | None) -> None:
        self.state = state
        self.problems: list[InputProblem] = []

    def refuse(self, option: str, value: object, rule: str, remedy: str) -> None:
        """Record a problem of an option."""
        self.problems.append(
            InputProblem(
                file="command line",
                place=option,
                value=str(value),
                rule=rule,
                remedy=remedy,
            )
        )

    def raise_problems(self) -> None:
        """
        Raise the recorded problems, if any.

        Raises
        ------
        BadInputError
            With every problem.
        """
        if self.problems:
            msg = "bad options"
            raise BadInputError(msg, self.problems)

    def brokers(self, option: str, text: str | None) -> tuple[int, ...] | None:
        """Return the broker ids of a list; `None` if not given."""
        if text is None:
            return None
        try:
            ids = parse_broker_list(text)
        except ValueError as error:
            self.refuse(option, text, str(error), "write ids and ranges: 1,2,5-9")
            return None
        if self.state is None:
            return ids
        rows = self.state.brokers.rows_of(ids)
        unknown = [i for i, row in zip(ids, rows, strict=True) if row < 0]
        if unknown:
            known = ",".join(map(str, self.state.brokers.ids.tolist()[:50]))
            self.refuse(
                option,
                ",".join(map(str, unknown)),
                "brokers must be in the snapshot",
                f"it has {known or 'none'}",
            )
        return ids

    def bytes_of(self, option: str, text: str | None) -> int | None:
        """Return a number of bytes; `None` if not given."""
        if text is None:
            return None
        try:
            return parse_bytes(text)
        except ValueError as error:
            self.refuse(option, text, str(error), "write 500GB, 2TiB or 1000000")
            return None

    def count(self, option: str, value: int | None) -> int | None:
        """Return a count of 0 or more; `None` if not given."""
        if value is not None and not 0 <= value < MOST_MOVES:
            rule = f"must be a number from 0 to {MOST_MOVES - 1}"
            self.refuse(option, value, rule, "leave it out for no cap")
        return value

    def seconds(self, option: str, value: float | None) -> float | None:
        """Return seconds above 0; `None` if not given."""
        if value is not None and not 0 < value <= MOST_SECONDS:
            rule = f"must be above 0 and at most {MOST_SECONDS:,}"
            self.refuse(option, value, rule, "leave it out for no limit")
        return value

    def bands(self, texts: Sequence[str]) -> dict[Resource, float]:
        """Parse ``[RESOURCE=]FRACTION``; no name stands for all other resources."""
        for_all: dict[Resource, float] = {}
        named: dict[Resource, float] = {}
        for text in texts:
            name, has_name, number = text.rpartition("=")
            value = _number(number)
            if value is None or not 0 <= value <= WIDEST_BAND:
                rule = f"must be a fraction from 0 to {WIDEST_BAND}"
                self.refuse("--band", text, rule, "write 0.10, 10%, or disk=5%")
            elif not has_name:
                for_all = dict.fromkeys(RESOURCES, value)
            elif name in set(RESOURCES):
                named[Resource(name)] = value
            else:
                self._unknown_resource("--band", name)
        return for_all | named

    def rate(self, option: str, text: str | None) -> int | None:
        """Parse a rate above 0, in bytes/s; `None` if not given."""
        if text is None:
            return None
        try:
            value = parse_rate(text)
        except ValueError as error:
            self.refuse(option, text, str(error), "write 50MB/s")
            return None
        if not value:
            self.refuse(option, text, "must be above 0", "write 50MB/s")
        return value

    def thresholds(self, texts: Sequence[str]) -> dict[Resource, float]:
        """Parse ``RESOURCE=FRACTION`` of the resources that have capacities."""
        return self.fractions("--capacity-threshold", texts)

    def fractions(self, option: str, texts: Sequence[str]) -> dict[Resource, float]:
        """Parse ``RESOURCE=FRACTION`` of the resources that have capacities."""
        found: dict[Resource, float] = {}
        for text in texts:
            name, _, number = text.rpartition("=")
            value = _number(number)
            if name in DEFAULT_THRESHOLDS and value is not None and 0 < value <= 1:
                found[Resource(name)] = value
                continue
            known = ", ".join(DEFAULT_THRESHOLDS)
            rule = f"must be RESOURCE=FRACTION, of {known} and above 0 up to 1"
            self.refuse(option, text, rule, "write disk=0.8 or disk=80%")
        return found

    def resources(self, text: str | None) -> tuple[Resource, ...] | None:
        """Return the named resources; `None` if not given."""
        if text is None:
            return None
        names = [name.strip() for name in text.split(",")]
        for name in names:
            if name not in set(RESOURCES):
                self._unknown_resource("--resources", name)
        return tuple(resource for resource in RESOURCES if resource in names)

    def _unknown_resource(self, option: str, name: str) -> None:
        known = ", ".join(RESOURCES)
        self.refuse(option, name, "must name a resource", f"one of {known}")

    def pattern(self, option: str, text: str | None) -> re.Pattern[str] | None:
        """Return a compiled regular expression; `None` if not given or invalid."""
        if text is None:
            return None
        try:
            return re.compile(text)
        except re.error as error:
            rule = f"must be a regular expression: {error}"
            self.refuse(option, text, rule, "mend it; it matches whole names")
            return None

    def names(self, topics: Sequence[str]) -> set[str]:
        """Return the named topics; record a problem for each unknown one."""
        known = set(topics if self.state is None else self.state.topics.names)
        for name in topics:
            if name not in known:
                rule = "topics must be in the snapshot"
                self.refuse("--topic", name, rule, "check the name")
        return set(topics)


def parse_broker_list(text: str) -> tuple[int, ...]:
    """
    Parse a broker list: ids and ranges joined by commas.

    Raises
    ------
    ValueError
        If the text is no such list, or names a broker twice.

    Examples
    --------
    >>> parse_broker_list("1,5-7")
    (1, 5, 6, 7)
    """
    ids = read_broker_ids(text)
    if len(set(ids)) != len(ids):
        msg = "must name each broker once"
        raise ValueError(msg)
    return ids


def read_broker_ids(text: str) -> tuple[int, ...]:
    """
    Parse ids and ranges joined by commas, keeping duplicates.

    Raises
    ------
    ValueError
        If the text is no such list.
    """
    ids: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,10})(?:-(\d{1,10}))?\s*", part)
        if match is None:
            msg = "must be broker ids"
            raise ValueError(msg)
        low = int(match[1])
        high = int(match[2]) if match[2] is not None else low
        if high < low or high - low > MOST_BROKERS or high >= 2**31:
            msg = "ranges must ascend, ids must fit 32 bits"
            raise ValueError(msg)
        ids += range(low, high + 1)
    return tuple(ids)


def _number(text: str) -> float | None:
    try:
        return parse_fraction(text)
    except ValueError:
        return None
