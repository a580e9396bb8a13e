"""The protocols, and the timers that decide how long a rebalance takes."""

from dataclasses import dataclass
from enum import StrEnum


class Protocol(StrEnum):
    """How partitions change hands."""

    EAGER = "eager"
    """Classic: everybody gives up everything, then all is handed out."""
    COOPERATIVE = "cooperative"
    """Classic, KIP-429: only what changes hands is given up, in a round of its own."""
    CONSUMER = "consumer"
    """KIP-848: the coordinator assigns, and moves partitions one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timers:
    """
    Timers of the members and of the coordinator.

    Parameters
    ----------
    session_timeout_ms
        After so long without a heartbeat a member is out. Positive.
    heartbeat_interval_ms
        Between heartbeats, by which a member hears of a rebalance. Positive, and less
        than the session timeout.
    max_poll_interval_ms
        A member that does not poll for so long leaves. Positive. It is also how long a
        rebalance waits for its members.
    metadata_max_age_ms
        How often members look for new partitions and topics. Positive.
    initial_delay_ms
        How long an empty group waits for more members; classic only. Not negative.
    poll_ms
        Between the polls of a member: what it takes to process a batch. Positive.

    Raises
    ------
    ValueError
        If a timer is out of its range.
    """

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    metadata_max_age_ms: int = 300_000
    initial_delay_ms: int = 3_000
    poll_ms: int = 100

    def __post_init__(self) -> None:
        positive = (
            self.session_timeout_ms,
            self.heartbeat_interval_ms,
            self.max_poll_interval_ms,
            self.metadata_max_age_ms,
            self.poll_ms,
        )
        if min(positive) <= 0 or self.initial_delay_ms < 0:
            msg = f"timers must be positive, got {self}"
            raise ValueError(msg)
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            msg = (
                f"heartbeat_interval_ms must be less than session_timeout_ms, got "
                f"{self.heartbeat_interval_ms} and {self.session_timeout_ms}"
            )
            raise ValueError(msg)
