"""Quorum of the controllers: leader, voters, and the number that may still fail."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from placement.failures.controller_majority import Voter
from placement.model.cluster import ClusterState
from planner.snapshot.snapshot_document import Snapshot

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
        Voters that have not fetched from the leader for `SILENT_MS`, or never, and
        voters without a time that are in the process of a broker that is not live.
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
    def is_lost(self) -> bool:
        """Whether too few voters are heard of for a majority."""
        return len(self.voters) - len(self.silent) < self.majority

    @property
    def may_fail(self) -> int | None:
        """Number of further voters that may fail; `None` without times of fetches."""
        if not self.has_fetch_ages:
            return None
        return max(len(self.voters) - len(self.silent) - self.majority, 0)


def quorum_of(snapshot: Snapshot, state: ClusterState) -> QuorumStatus | None:
    """Return the quorum of the controllers; `None` without voters."""
    voting = _voting(snapshot)
    if not voting:
        return None
    leaders = [int(one["id"]) for one in voting if one.get("leader")]
    voters = zip(voting, voters_of(snapshot, state), strict=True)
    return QuorumStatus(
        leader=leaders[0] if leaders else None,
        voters=tuple(sorted(int(one["id"]) for one in voting)),
        silent=tuple(sorted(int(one["id"]) for one, it in voters if it.is_silent)),
        has_fetch_ages=_has_fetch_ages(voting),
    )


def voters_of(snapshot: Snapshot, state: ClusterState) -> list[Voter]:
    """Return the voters; a voter in the process of a broker has the broker's rack."""
    brokers = state.brokers
    racks = {
        int(broker): brokers.racks[rack]
        for broker, rack in zip(brokers.ids, brokers.rack_idx, strict=True)
    }
    stopped = set(brokers.ids[~brokers.is_live].tolist())
    voting = _voting(snapshot)
    has_fetch_ages = _has_fetch_ages(voting)
    return [_voter(one, racks, stopped, has_fetch_ages) for one in voting]


def _voting(snapshot: Snapshot) -> list[Mapping[str, Any]]:
    return [one for one in snapshot.controllers if one.get("voter") is not False]


def _has_fetch_ages(voting: Sequence[Mapping[str, Any]]) -> bool:
    return any(one.get("fetch_age_ms") is not None for one in voting)


def _voter(
    controller: Mapping[str, Any],
    racks: Mapping[int, str | None],
    stopped: Collection[int],
    has_fetch_ages: bool,
) -> Voter:
    node, age_ms = int(controller["id"]), controller.get("fetch_age_ms")
    is_broker = node in racks and controller.get("combined") is not False
    is_silent = is_broker and node in stopped
    if has_fetch_ages:
        # The leader fetches from no other voter.
        is_silent = not controller.get("leader") and _is_silent(age_ms)
    return Voter(
        broker_id=node if is_broker else None,
        rack=controller.get("rack") or (racks[node] if is_broker else None),
        is_silent=is_silent,
    )


def _is_silent(age_ms: int | None) -> bool:
    return age_ms is None or age_ms > SILENT_MS
