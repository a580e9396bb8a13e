"""Quorum of the controllers: leader, voters, and the number that may still fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SILENT_MS = 10_000
"""Age of a voter's last fetch from which on it counts as gone: Kafka's voters fetch
twice a second and hold an election after two seconds of silence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumStatus:
    """
    The controllers' quorum.

    Parameters
    ----------
    leader
        Id of the active controller; `None` where unknown.
    voters
        Ids of the voters, ascending.
    silent
        Voters that have not fetched from the leader for `SILENT_MS`, or never.
    has_fetch_ages
        Whether the snapshot has the times of the voters' last fetches.
    """

    leader: int | None
    voters: tuple[int, ...]
    silent: tuple[int, ...]
    has_fetch_ages: bool

    @property
    def majority(self) -> int:
        """Number of voters that a change of metadata needs."""
        return len(self.voters) // 2 + 1

    @property
    def may_fail(self) -> int | None:
        """Number of further voters that may fail; `None` without times of fetches."""
        if not self.has_fetch_ages:
            return None
        return max(len(self.voters) - len(self.silent) - self.majority, 0)


def quorum_of(controllers: Sequence[Mapping[str, Any]]) -> QuorumStatus | None:
    """Return the quorum of a snapshot's controllers; `None` without voters."""
    voters = [one for one in controllers if one.get("voter") is not False]
    if not voters:
        return None
    ages = {int(one["id"]): one.get("fetch_age_ms") for one in voters}
    has_fetch_ages = any(age is not None for age in ages.values())
    leaders = [int(one["id"]) for one in voters if one.get("leader")]
    return QuorumStatus(
        leader=leaders[0] if leaders else None,
        voters=tuple(sorted(ages)),
        silent=tuple(sorted(node for node, age in ages.items() if _is_silent(age)))
        if has_fetch_ages
        else (),
        has_fetch_ages=has_fetch_ages,
    )


def _is_silent(age_ms: int | None) -> bool:
    return age_ms is None or age_ms > SILENT_MS
