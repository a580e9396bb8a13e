"""Gate of admission: whether copies may begin now, and if not, why."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from math import inf

from planner.execution.cluster.running_cluster import Health
from planner.execution.run.controls import Controls
from planner.execution.run.run_choices import RunChoices
from planner.text.format import plural

GUARD_EVERY_S = 30.0
_GUARD_LIMIT_S = 60.0


def run_guard(command: str) -> str | None:
    """Return why a guard refuses, or `None` if it exits with 0."""
    try:
        done = subprocess.run(  # noqa: S602 - the operator's own command
            command, shell=True, check=False, timeout=_GUARD_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return f"the guard took longer than {_GUARD_LIMIT_S:g} s"
    return f"the guard exited with {done.returncode}" if done.returncode else None


def local_now() -> datetime:
    """Return the time of the clock, in the zone of this machine."""
    return datetime.now().astimezone()


@dataclass(slots=True, kw_only=True)
class Gate:
    """
    Reasons to admit no copy for now.

    Parameters
    ----------
    choices
        Choices of the operator.
    now_s
        Function that returns seconds on a monotonic clock.
    clock
        Function that returns the local time.
    guard
        Function that runs the guard and returns why it refuses.
    at_start
        Partitions in trouble when the run began.
    is_health_ignored, are_others_ignored
        Whether the operator ignores partitions in trouble, and reassignments of others.
    """

    choices: RunChoices
    now_s: Callable[[], float]
    at_start: Health
    clock: Callable[[], datetime] = local_now
    guard: Callable[[str], str | None] = run_guard
    are_others_ignored: bool = False
    health: Health = field(default_factory=Health)
    num_foreign: int = 0
    began_s: float = field(init=False)
    _guarded_s: float = field(init=False, default=-inf)
    _refusal: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.began_s, self.health = self.now_s(), self.at_start

    def reason(self, controls: Controls) -> str | None:
        """Return why no copy may begin now, or `None`."""
        if controls.is_paused:
            return "paused by the operator"
        if self.is_over:
            return "the longest duration is over"
        if self.seconds_left <= 0:
            return f"outside the hours {self.choices.window}"
        return self._trouble() or self._guarded()

    @property
    def is_over(self) -> bool:
        """Whether the longest duration is over."""
        most = self.choices.max_duration_s
        return most is not None and self.now_s() - self.began_s >= most

    @property
    def seconds_left(self) -> float:
        """Seconds in which a copy that begins now has to end."""
        most, window = self.choices.max_duration_s, self.choices.window
        left = inf if most is None else most - (self.now_s() - self.began_s)
        return left if window is None else min(left, window.seconds_left(self.clock()))

    def is_in_time(self, seconds: float) -> bool:
        """Return whether a copy that takes so long may begin now."""
        window = self.choices.window
        left = self.seconds_left
        # A copy longer than all hours of a day would never begin.
        is_too_long = window is not None and seconds > window.length_s
        return seconds <= left or (is_too_long and self.choices.max_duration_s is None)

    def rebase(self) -> None:
        """Take the replicas out of sync now as given: a broker is lost for good."""
        self.at_start = Health(
            offline=self.at_start.offline,
            under_min_isr=self.at_start.under_min_isr,
            under_replicated=max(
                self.at_start.under_replicated, self.health.under_replicated
            ),
        )

    def _trouble(self) -> str | None:
        if self.num_foreign and not self.are_others_ignored:
            what = plural(self.num_foreign, "partition")
            return f"another tool moves {what} that this plan does not"
        for name, words in (
            ("offline", "without a leader"),
            ("under_min_isr", "with fewer replicas in sync than min.insync.replicas"),
            ("under_replicated", "with a replica out of sync"),
        ):
            now, before = getattr(self.health, name), getattr(self.at_start, name)
            if now > before:
                return f"{plural(now, 'partition')} {words}, {before} at the start"
        return None

    def _guarded(self) -> str | None:
        if self.choices.guard is None:
            return None
        if self.now_s() - self._guarded_s >= GUARD_EVERY_S:
            self._refusal = self.guard(self.choices.guard)
            self._guarded_s = self.now_s()
        return self._refusal
