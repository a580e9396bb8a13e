"""Choices of an operator for the time of a run: hours, duration, guard, patience."""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from planner.errors import BadInputError
from planner.options.declared.option import Problems

_HOURS = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


@dataclass(frozen=True, slots=True)
class Hours:
    """
    Hours of a day in which copies may begin, in local time.

    Parameters
    ----------
    begin, end
        Times of the day; an end before the begin is on the next day.
    """

    begin: time
    end: time

    def seconds_left(self, now: datetime) -> float:
        """Return the seconds until the hours end; 0 outside them."""
        clock = now.time()
        if self.begin <= self.end:
            is_open = self.begin <= clock < self.end
        else:
            is_open = clock >= self.begin or clock < self.end
        if not is_open:
            return 0.0
        end = datetime.combine(now.date(), self.end, tzinfo=now.tzinfo)
        if end <= now:
            end += timedelta(days=1)
        return (end - now).total_seconds()

    @property
    def length_s(self) -> float:
        """Seconds from the begin to the end."""
        day = timedelta(days=1)
        some = datetime(2000, 1, 1)
        length = datetime.combine(some, self.end) - datetime.combine(some, self.begin)
        return (length % day or day).total_seconds()

    def __str__(self) -> str:
        return f"{self.begin:%H:%M}-{self.end:%H:%M}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChoices:
    """
    Choices of an operator for the time of a run.

    Parameters
    ----------
    window
        Hours in which copies may begin so that they end in time; `None`: always.
    max_duration_s
        Seconds after which no copy may run any more; `None`: no limit.
    guard
        Shell command that holds the admission while it exits with another code than 0.
    broker_grace_s
        Seconds that a broker may be down before its copies are set aside.
    patience_s
        Seconds to wait for a cluster that does not answer, or that is in trouble while
        nothing runs.
    poll_s
        Seconds between two looks at what runs.
    """

    window: Hours | None = None
    max_duration_s: float | None = None
    guard: str | None = None
    broker_grace_s: float = 120.0
    patience_s: float = 3600.0
    poll_s: float = 1.0


def read_hours(text: str, problems: Problems) -> Hours | None:
    """Return hours written as ``22:00-06:00``, or add a problem."""
    found = _HOURS.fullmatch(text.strip())
    numbers = [int(number) for number in found.groups()] if found else []
    if not numbers or max(numbers[::2]) > 23 or max(numbers[1::2]) > 59:
        problems.refuse(text, "must be hours of a day, as 22:00-06:00", "correct it")
        return None
    begin = time(numbers[0], numbers[1])
    end = time(numbers[2], numbers[3])
    if begin == end:
        problems.refuse(text, "must not end when it begins", "leave it out for all day")
        return None
    return Hours(begin, end)


def read_duration(text: str, problems: Problems) -> float | None:
    """Return seconds written as ``4h``, ``90m`` or ``1h30m``, or add a problem."""
    found = _DURATION.fullmatch(text.strip())
    parts = [int(part or 0) for part in found.groups()] if found else []
    seconds = sum(n * unit for n, unit in zip(parts, (3600, 60, 1), strict=False))
    if not seconds:
        rule = "must be a time above 0, as 4h, 90m or 1h30m"
        problems.refuse(text, rule, "correct it")
        return None
    return float(seconds)


def read_run_choices(
    *,
    window: str | None,
    max_duration: str | None,
    guard: str | None,
    broker_grace: str,
    patience: str,
) -> RunChoices:
    """
    Return the choices of an operator for the time of a run.

    Raises
    ------
    BadInputError
        With every choice that is wrong.
    """
    problems = {
        flag: Problems(flag)
        for flag in ("--window", "--max-duration", "--broker-grace", "--patience")
    }
    hours = None if window is None else read_hours(window, problems["--window"])
    duration = None
    if max_duration is not None:
        duration = read_duration(max_duration, problems["--max-duration"])
    grace = read_duration(broker_grace, problems["--broker-grace"])
    waits = read_duration(patience, problems["--patience"])
    found = [one for some in problems.values() for one in some.found]
    if found or grace is None or waits is None:
        msg = "bad options"
        raise BadInputError(msg, found)
    return RunChoices(
        window=hours,
        max_duration_s=duration,
        guard=guard,
        broker_grace_s=grace,
        patience_s=waits,
    )
