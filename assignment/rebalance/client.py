"""A member as a process: when it beats, when it polls, whether it does."""

from dataclasses import dataclass, field

from assignment.make_group import MemberSpec
from assignment.rebalance.timers import Timers


def next_after(now_ms: int, phase_ms: int, period_ms: int) -> int:
    """Return the first time after now that lies a whole number of periods off."""
    return now_ms + period_ms - (now_ms - phase_ms) % period_ms


def last_until(now_ms: int, phase_ms: int, period_ms: int) -> int:
    """Return the last such time up to now."""
    return now_ms - (now_ms - phase_ms) % period_ms


@dataclass(slots=True, eq=False)
class Client:
    """
    One life of one member.

    Parameters
    ----------
    row
        Its row among all lives of all members.
    name
        What events call it; a dynamic member that comes back has a new id, and the
        same name.
    spec
        Id, instance id, rack, capacity, subscription.
    timers
        How it is set.
    phase
        Where in their periods its heartbeats, polls and looks at the metadata fall, as
        a fraction; 0 is the time of `born_ms`.
    born_ms
        When it started.
    """

    row: int
    name: str
    spec: MemberSpec
    timers: Timers
    phase: float = 0.0
    born_ms: int = 0
    poll_ms: int = field(init=False)
    poll_phase_ms: int = field(init=False)
    is_beating: bool = True
    is_polling: bool = True
    silence: int = 0
    """Counts the times that it fell silent, so that old alarms are known as old."""

    def __post_init__(self) -> None:
        self.set_poll(self.timers.poll_ms, self._offset(self.timers.poll_ms))

    def _offset(self, period_ms: int) -> int:
        return self.born_ms + int(self.phase * period_ms)

    @property
    def is_static(self) -> bool:
        """Whether it has a ``group.instance.id``."""
        return self.spec.instance_id is not None

    @property
    def is_reading(self) -> bool:
        """Whether it gets on with what it has."""
        return self.is_beating and self.is_polling

    def set_poll(self, poll_ms: int, phase_ms: int) -> None:
        """Poll every so often from now on."""
        self.poll_ms, self.poll_phase_ms = poll_ms, phase_ms

    def next_beat(self, now_ms: int) -> int:
        """Return when it beats next, if it does."""
        period = self.timers.heartbeat_interval_ms
        return next_after(now_ms, self._offset(period), period)

    def previous_beat(self, now_ms: int) -> int:
        """Return when it beat last."""
        period = self.timers.heartbeat_interval_ms
        return max(self.born_ms, last_until(now_ms, self._offset(period), period))

    def next_poll(self, now_ms: int) -> int:
        """Return when it polls next, now included, if it does."""
        return next_after(now_ms - 1, self.poll_phase_ms, self.poll_ms)

    def previous_poll(self, now_ms: int) -> int:
        """Return when it polled last."""
        return max(self.born_ms, last_until(now_ms, self.poll_phase_ms, self.poll_ms))

    def next_look(self, now_ms: int) -> int:
        """Return when it looks at the metadata next."""
        period = self.timers.metadata_max_age_ms
        return next_after(now_ms, self._offset(period), period)
