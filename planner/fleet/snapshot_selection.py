"""Snapshots of a fleet selected by cluster and time: --since, --until, --cluster."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from planner.errors import BadInputError, InputProblem
from planner.fleet.arrow_tables import EPOCH
from planner.text.suggest import near
from planner.text.units import parse_duration_ms

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME_RULE = "must be a day, a time, or an age such as 7d"
_TIME_REMEDY = "write 2026-11-21, 2026-11-21T08:00:00Z or 36h"


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSelection:
    """
    Selection of snapshots by cluster and span of time.

    Parameters
    ----------
    since, until
        Start (inclusive) and end (exclusive) of the span in microseconds since 1970;
        `None`: no limit.
    cluster
        Regular expression for the complete id of a cluster; `None`: every cluster.
    """

    since: int | None = None
    until: int | None = None
    cluster: re.Pattern[str] | None = None

    @property
    def is_all(self) -> bool:
        """Whether every snapshot is selected."""
        return self == ALL

    @property
    def without_since(self) -> Self:
        """Selection of the same clusters from their first snapshot on."""
        return replace(self, since=None)

    @property
    def days(self) -> tuple[str | None, str | None]:
        """First and last day of the span, such as ``2026-11-21``; `None`: no limit."""
        last = None if self.until is None else self.until - 1
        return (
            None if self.since is None else day_text(self.since),
            None if last is None else day_text(last),
        )

    def takes(self, cluster_id: str | None, micros: int) -> bool:
        """Return whether a snapshot is selected, by cluster and microseconds."""
        return self.selects_cluster(cluster_id) and self.selects_time(micros)

    def selects_cluster(self, cluster_id: str | None) -> bool:
        """Return whether the id of a cluster matches."""
        return self.cluster is None or bool(self.cluster.fullmatch(cluster_id or ""))

    def selects_time(self, micros: int) -> bool:
        """Return whether a time in microseconds since 1970 is in the span."""
        is_late = self.since is None or micros >= self.since
        return is_late and (self.until is None or micros < self.until)

    def clusters(self, known: Iterable[str | None]) -> list[str]:
        """
        Return the ids that match, sorted.

        Parameters
        ----------
        known
            Ids of all clusters.

        Raises
        ------
        BadInputError
            If `known` has ids, and none of them matches.
        """
        names = sorted({name for name in known if name is not None})
        found = [name for name in names if self.selects_cluster(name)]
        if names and not found and self.cluster is not None:
            rule, remedy = "must match a cluster's complete id", near(self._text, names)
            raise _refused(
                [InputProblem.of_option("--cluster", self._text, rule, remedy)]
            )
        return found

    @property
    def _text(self) -> str:
        return "" if self.cluster is None else self.cluster.pattern


ALL = SnapshotSelection()


def read_selection(
    since: str | None = None,
    until: str | None = None,
    cluster: str | None = None,
    *,
    now: datetime | None = None,
) -> SnapshotSelection:
    """
    Parse the options that select snapshots.

    Parameters
    ----------
    since, until
        A day, a time (UTC without a zone), or an age: ``2026-11-21``,
        ``2026-11-21T08:00Z``, ``7d``. The span includes `since` and excludes `until`;
        a day as `until` is included.
    cluster
        Regular expression for the complete id of a cluster.
    now
        Time, with a zone, from which ages are counted; `None`: the current time.

    Raises
    ------
    BadInputError
        With every problem of the options.

    Examples
    --------
    >>> day = read_selection("2026-11-21", "2026-11-21")
    >>> (day.until - day.since) / 3.6e9
    24.0
    """
    today, problems = now or datetime.now(UTC), list[InputProblem]()
    first = _moment("--since", since, today, problems)
    last = _moment("--until", until, today, problems)
    if last is not None and until is not None and _DAY.fullmatch(until.strip()):
        last += timedelta(days=1)
    if first is not None and last is not None and first >= last:
        rule = f"must be before --until {until}"
        problems.append(
            InputProblem.of_option("--since", since or "", rule, "swap them")
        )
    pattern = _pattern(cluster, problems)
    if problems:
        raise _refused(problems)
    return SnapshotSelection(since=_micros(first), until=_micros(last), cluster=pattern)


def _moment(
    option: str, text: str | None, now: datetime, problems: list[InputProblem]
) -> datetime | None:
    """Parse a time, and add a problem if it is invalid."""
    if text is None:
        return None
    try:
        return _parsed(text.strip(), now)
    except (ValueError, OverflowError):
        problems.append(InputProblem.of_option(option, text, _TIME_RULE, _TIME_REMEDY))
        return None


def _parsed(text: str, now: datetime) -> datetime:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return now - timedelta(milliseconds=parse_duration_ms(text))
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _pattern(text: str | None, problems: list[InputProblem]) -> re.Pattern[str] | None:
    if text is None:
        return None
    try:
        return re.compile(text)
    except re.error as error:
        rule = f"must be a regular expression: {error}"
        remedy = "correct it; it matches complete ids"
        problems.append(InputProblem.of_option("--cluster", text, rule, remedy))
        return None


def day_text(micros: int) -> str:
    """Return the day of a time in microseconds since 1970, in UTC."""
    return f"{EPOCH + timedelta(microseconds=micros):%Y-%m-%d}"


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - EPOCH) // timedelta(microseconds=1)


def _refused(problems: Sequence[InputProblem]) -> BadInputError:
    return BadInputError("cannot select snapshots", problems)
