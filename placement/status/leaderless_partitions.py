"""Partitions without a leader: their last complete replicas, and their recovery."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray
from placement.failures.partition_health import unclean_losses
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState


class Rescue(StrEnum):
    """Recovery of a partition that loses the fewest records."""

    ELECTION = "election"
    """A live replica has every committed record: the controller may elect it."""
    START = "start-broker"
    """All replicas with every committed record are offline: one must return."""
    LAST_LEADER = "start-last-leader"
    """No replica is known to have every record; the last known leaders have most."""
    UNCLEAN = "unclean-election"
    """Only replicas that may lack records are live."""
    ANY = "start-any-broker"
    """All replicas are offline, and it is unknown which have every record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderless:
    """
    Partition without a leader.

    Parameters
    ----------
    partition_idx
        Row of the partition.
    isr, elr, last_known_elr
        Broker ids, in the order of the replica list.
    out_of_sync
        Ids of live brokers whose replica may lack records.
    rescue
        Recovery that loses the fewest records.
    brokers
        Ids of the candidates of that recovery: one is elected, or one must return.
    unclean_leader
        Id of the broker that an unclean election would choose; `None` without a live
        replica.
    lost_bytes
        Lower bound on the bytes that an unclean election loses: the difference between
        the logs of the last and the new leader; `None` where unknown.
    """

    partition_idx: int
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    out_of_sync: tuple[int, ...]
    rescue: Rescue
    brokers: tuple[int, ...]
    unclean_leader: int | None
    lost_bytes: int | None


def find_leaderless(
    state: ClusterState, is_offline: BoolArray, can_lead: BoolArray
) -> list[Leaderless]:
    """
    Return the partitions without a leader, by topic and number.

    Parameters
    ----------
    state
        Current cluster.
    is_offline
        ``(R,)`` true for replicas that do not serve.
    can_lead
        ``(R,)`` true for replicas that may be elected without loss.
    """
    losses = unclean_losses(state)
    return [
        _leaderless(state, is_offline, can_lead, int(p), int(leader), int(lost))
        for p, leader, lost in zip(
            losses.partition_idx, losses.leader_idx, losses.lost_bytes, strict=True
        )
    ]


def _leaderless(
    state: ClusterState,
    is_offline: BoolArray,
    can_lead: BoolArray,
    p: int,
    leader: int,
    lost: int,
) -> Leaderless:
    replicas = state.replicas
    rows = slice(*replicas.start[p : p + 2].tolist())
    ids = state.brokers.ids[replicas.broker_idx[rows]]

    def named(flags: npt.NDArray[np.bool_]) -> tuple[int, ...]:
        return tuple(ids[flags].tolist())

    in_sync, eligible = replicas.is_in_sync[rows], replicas.is_eligible[rows]
    last, off = replicas.is_last_known_eligible[rows], is_offline[rows]
    whole = in_sync | eligible
    ways = {
        Rescue.ELECTION: named(can_lead[rows]),
        Rescue.START: named(whole & off),
        Rescue.LAST_LEADER: named(last & off),
        Rescue.UNCLEAN: named(~off),
    }
    rescue = next((way for way, some in ways.items() if some), Rescue.ANY)
    has_leader = leader != ABSENT
    return Leaderless(
        partition_idx=p,
        isr=named(in_sync),
        elr=named(eligible),
        last_known_elr=named(last),
        out_of_sync=named(~off & ~whole),
        rescue=rescue,
        brokers=ways.get(rescue) or tuple(ids.tolist()),
        unclean_leader=int(state.brokers.ids[leader]) if has_leader else None,
        lost_bytes=lost if has_leader and lost != UNKNOWN else None,
    )
