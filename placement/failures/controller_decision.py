"""Controller decisions for many partitions together, as columns."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, RowArray
from placement.model.cluster import ABSENT, ClusterState, sum_rows
from placement.model.load import first_true

Kind = TypeVar("Kind", bound=np.generic)


class Election(StrEnum):
    """Type of leader election."""

    PREFERRED = "PREFERRED"
    """The first replica leads if it may, else as `ONLINE`."""
    ONLINE = "ONLINE"
    """The leader stays if it may lead, else the first replica that may lead does."""
    UNCLEAN = "UNCLEAN"
    """As `ONLINE`, but the first live replica leads where no replica may lead."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ElectionRules:
    """
    Rules that decide which replicas may lead.

    Parameters
    ----------
    has_elr
        Whether eligible leader replicas are enabled (KIP-966; the feature
        `eligible.leader.replicas.version`, on for new clusters since 4.1).
    is_unclean
        ``(T,)`` true for topics with unclean.leader.election.enable; `None`: none.
    """

    has_elr: bool = False
    is_unclean: BoolArray | None = None

    def of_partitions(self, state: ClusterState) -> BoolArray:
        """Return ``(P,)`` true where unclean leader election is enabled."""
        if self.is_unclean is None:
            return np.zeros(state.num_partitions, dtype=np.bool_)
        enabled: BoolArray = self.is_unclean[state.partitions.topic_idx]
        return enabled


def is_usable(state: ClusterState) -> BoolArray:
    """Return ``(R,)`` true for replicas that are not offline."""
    usable: BoolArray = ~state.is_offline
    return usable


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Decision:
    """
    Input of a controller decision.

    Parameters
    ----------
    target
        ``(R,)`` true for replicas of the requested ISR.
    usable
        ``(R,)`` true for replicas that may lead.
    crashed
        ``(R,)`` true for replicas back from a crash, which may lack their last records.
    """

    target: BoolArray
    usable: BoolArray
    crashed: BoolArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Part:
    """Chosen partitions and their replicas, as compressed rows of their own."""

    chosen: RowArray
    rows: RowArray
    start: RowArray

    def has(self, flags: BoolArray) -> BoolArray:
        """Return true for chosen partitions with a flagged replica."""
        return sum_rows(flags, self.start) > 0

    def spread(self, flags: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """Return the value of each replica's partition."""
        return np.repeat(flags, np.diff(self.start))

    def flag_at(self, rows: RowArray) -> BoolArray:
        """Return true for the replicas at `rows`, where `ABSENT` is ignored."""
        flags = np.zeros(len(self.rows), dtype=np.bool_)
        flags[rows[rows != ABSENT]] = True
        return flags


def _part(state: ClusterState, chosen: RowArray) -> _Part:
    start = state.replicas.start
    counts = start[chosen + 1] - start[chosen]
    own = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(counts, out=own[1:])
    rows = np.repeat(start[chosen] - own[:-1], counts) + np.arange(own[-1])
    return _Part(chosen=chosen, rows=rows, start=own)


def decide(
    state: ClusterState,
    chosen: RowArray,
    decision: Decision,
    rules: ElectionRules,
    *,
    election: Election = Election.ONLINE,
) -> ClusterState:
    """Return the cluster after the controller has decided on each chosen partition."""
    if not len(chosen):
        return state
    part, replicas = _part(state, chosen), state.replicas
    target, before = decision.target[part.rows], replicas.is_in_sync[part.rows]
    elr = replicas.is_eligible[part.rows]
    size = sum_rows(target, part.start)
    if rules.has_elr:
        topic = state.partitions.topic_idx[chosen]
        least = np.minimum(state.topics.min_insync_replicas[topic], np.diff(part.start))
        left = (elr | before) & ~target & ~decision.crashed[part.rows]
        elr = left & part.spread(size < least)
    leading, is_unclean = _elected(
        state, part, (target, elr), decision, rules, election
    )
    was = _leading_rows(state, part)
    anew = leading != was
    at_leader = part.flag_at(leading)
    # Only the new leader certainly has all of its records.
    alone = part.spread(anew & (part.has(elr & at_leader) | is_unclean))
    isr = np.where(alone, at_leader, target)
    is_empty = ~part.has(isr)
    if not rules.has_elr:
        isr = np.where(part.spread(is_empty), before, isr)
    gone = at_leader & part.spread(anew) | part.spread(anew & is_unclean)
    elr = elr & ~gone & rules.has_elr
    last = _last_leaders(state, part, leading, was, rules)
    return _written(state, part, (isr, elr, last), leading)


def _elected(
    state: ClusterState,
    part: _Part,
    members: tuple[BoolArray, BoolArray],
    decision: Decision,
    rules: ElectionRules,
    election: Election,
) -> tuple[RowArray, BoolArray]:
    """Return the leaders, as rows of `part`, and true where records may be lost."""
    target, elr = members
    usable = decision.usable[part.rows]
    has_isr = part.has(target)
    eligible = usable & np.where(part.spread(has_isr), target, elr)
    leading = first_true(eligible, part.start)
    was = _leading_rows(state, part)
    stays = (was != ABSENT) & eligible[was]
    leading = np.where(stays, was, leading)
    if election is Election.PREFERRED:
        leading = np.where(eligible[part.start[:-1]], part.start[:-1], leading)
    clean = leading != ABSENT
    if rules.has_elr:
        known = state.replicas.is_last_known_eligible[part.rows]
        is_one = np.equal(sum_rows(known, part.start), 1) & ~has_isr & ~part.has(elr)
        last = first_true(known & usable, part.start)
        leading = np.where(~clean & is_one, last, leading)
    may_lose = rules.of_partitions(state)[part.chosen]
    may_lose = may_lose | (election is Election.UNCLEAN)
    if election is Election.PREFERRED:
        may_lose = np.zeros_like(may_lose)
    anyone = first_true(usable, part.start)
    leading = np.where(np.equal(leading, ABSENT) & may_lose, anyone, leading)
    return leading, ~clean & (leading != ABSENT)


def _leading_rows(state: ClusterState, part: _Part) -> RowArray:
    """Return the row in `part` of each partition's current leader, or `ABSENT`."""
    leader = part.spread(state.partitions.leader_idx[part.chosen])
    leads = np.equal(state.replicas.broker_idx[part.rows], leader)
    return first_true(leads, part.start)


def _last_leaders(
    state: ClusterState,
    part: _Part,
    leading: RowArray,
    was: RowArray,
    rules: ElectionRules,
) -> BoolArray:
    """Return flags of last known leaders: set without a leader, cleared with one."""
    last = state.replicas.is_last_known_eligible[part.rows]
    if not rules.has_elr:
        return last
    is_led = leading != ABSENT
    is_lost = ~is_led & (was != ABSENT)
    kept = last & ~part.spread(is_led | is_lost)
    found: BoolArray = kept | (part.flag_at(was) & part.spread(is_lost))
    return found


def _written(
    state: ClusterState,
    part: _Part,
    members: tuple[BoolArray, BoolArray, BoolArray],
    leading: RowArray,
) -> ClusterState:
    names = ("is_in_sync", "is_eligible", "is_last_known_eligible")
    columns = {name: getattr(state.replicas, name).copy() for name in names}
    for column, flags in zip(columns.values(), members, strict=True):
        column[part.rows] = flags
    broker = state.replicas.broker_idx[part.rows]
    leader = state.partitions.leader_idx.copy()
    leader[part.chosen] = np.where(leading == ABSENT, ABSENT, broker[leading])
    return replace(
        state,
        replicas=replace(state.replicas, **columns),
        partitions=replace(state.partitions, leader_idx=leader),
    )
