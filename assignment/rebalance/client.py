"""Member as a process, with its heartbeats, polls and metadata refreshes."""

from dataclasses import dataclass, field

from assignment.make_group import MemberSpec
from assignment.rebalance.timers import Timers


def next_after(now_ms: int, phase_ms: int, period_ms: int) -> int:
    """Return the first time after `now_ms` a whole number of periods from a phase."""
    return now_ms + period_ms - (now_ms - phase_ms) % period_ms


def last_until(now_ms: int, phase_ms: int, period_ms: int) -> int:
    """Return the last time up to `now_ms` a whole number of periods from a phase."""
    return now_ms - (now_ms - phase_ms) % period_ms


@dataclass(slots=True, eq=False)
class Client:
    """
    One run of a member's process.

    Parameters
    ----------
    row
        Row of the process among all processes of all members.
    name
        Name of the member in events; a dynamic member that returns has a new id and the
        same name.
    spec
        Id, instance id, rack, capacity, subscription.
    timers
        Timers of the member, in milliseconds.
    phase
        Offset of heartbeats, polls and metadata refreshes from `born_ms`, as a fraction
        of their periods.
    born_ms
        Start of the process in milliseconds.
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
    """Number of silences and returns, by which outdated timeouts are recognised."""

    def __post_init__(self) -> None:
        self.set_poll(self.timers.poll_ms, self._offset(self.timers.poll_ms))

    def _offset(self, period_ms: int) -> int:
        return self.born_ms + int(self.phase * period_ms)

    @property
    def is_static(self) -> bool:
        """Whether the member has a ``group.instance.id``."""
        return self.spec.instance_id is not None

    @property
    def is_reading(self) -> bool:
        """Whether the member sends heartbeats and polls, so that it reads messages."""
        return self.is_beating and self.is_polling

    def set_poll(self, poll_ms: int, phase_ms: int) -> None:
        """Set the period of polls, and the time of one of them, in milliseconds."""
        self.poll_ms, self.poll_phase_ms = poll_ms, phase_ms

    def next_beat(self, now_ms: int) -> int:
        """Return the time of the next heartbeat in milliseconds, if any is sent."""
        period = self.timers.heartbeat_interval_ms
        return next_after(now_ms, self._offset(period), period)

    def previous_beat(self, now_ms: int) -> int:
        """Return the time of the last heartbeat in milliseconds."""
        period = self.timers.heartbeat_interval_ms
        return max(self.born_ms, last_until(now_ms, self._offset(period), period))

    def next_poll(self, now_ms: int) -> int:
        """Return the time of the next poll in milliseconds, `now_ms` included."""
        return next_after(now_ms - 1, self.poll_phase_ms, self.poll_ms)

    def previous_poll(self, now_ms: int) -> int:
        """Return the time of the last poll in milliseconds."""
        return max(self.born_ms, last_until(now_ms, self.poll_phase_ms, self.poll_ms))

    def next_look(self, now_ms: int) -> int:
        """Return the time of the next metadata refresh in milliseconds."""
        period = self.timers.metadata_max_age_ms
        return next_after(now_ms, self._offset(period), period)
