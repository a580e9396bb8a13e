"""Rebalance protocols, and the timers that determine the time of a rebalance."""

from dataclasses import dataclass
from enum import StrEnum


class Protocol(StrEnum):
    """Protocol by which partitions change owner."""

    EAGER = "eager"
    """Classic: all members revoke all partitions, then all are assigned anew."""
    COOPERATIVE = "cooperative"
    """Classic, KIP-429: only partitions that change owner are revoked, one round
    before they are assigned."""
    CONSUMER = "consumer"
    """KIP-848: the coordinator assigns, and members hand partitions over one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timers:
    """
    Timers of the members and of the coordinator.

    Parameters
    ----------
    session_timeout_ms
        Time without a heartbeat after which a member is removed. Positive.
    heartbeat_interval_ms
        Time between heartbeats, by which a member learns of a rebalance. Positive, and
        less than the session timeout.
    max_poll_interval_ms
        Time without a poll after which a member leaves, also the rebalance timeout.
        Positive.
    metadata_max_age_ms
        Time between metadata refreshes, by which members discover new partitions and
        topics. Positive.
    initial_delay_ms
        Time that an empty group waits for more members; classic protocols only. Not
        negative.
    poll_ms
        Time between polls of a member, which is its time to process a batch. Positive.

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
