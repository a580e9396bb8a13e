"""
Decision of Kafka's controller for one partition whose replicas come and go.

The KRaft controller decides whether a reassignment is complete, which replicas are
eligible, the leader, the ISR and the eligible leader replicas (KIP-966). Answers of
Kafka's own class hold this oracle, and it holds `placement.failures.controller_events`,
which decides for all partitions at once.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from placement.failures.controller_decision import Election

NO_LEADER = -1

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """
    Registered state of a partition in the controller, as broker ids.

    Parameters
    ----------
    replicas
        Replicas, preferred leader first.
    isr
        In-sync replicas; empty only with eligible leader replicas enabled.
    elr, last_known_elr
        Eligible leader replicas and the last known ones (KIP-966). The latter holds
        the last leader of a partition that has none.
    leader
        Current leader, or `NO_LEADER`.
    adding, removing
        Replicas that an ongoing reassignment adds and removes.
    is_recovering
        Whether the leader was elected uncleanly and has not recovered yet.
    """

    replicas: Ids
    isr: Ids
    elr: Ids = ()
    last_known_elr: Ids = ()
    leader: int = NO_LEADER
    adding: Ids = ()
    removing: Ids = ()
    is_recovering: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChange:
    """
    Change that the controller records.

    Parameters
    ----------
    after
        Partition after the change.
    record
        Fields that the change record sets, by the names of `Registration`. A leader
        equal to the old one only raises the leader epoch.
    """

    after: Registration
    record: dict[str, Any]


def change_partition(
    before: Registration,
    *,
    alive: Collection[int],
    election: Election,
    min_isr: int,
    has_elr: bool,
    target_isr: Iterable[int] | None = None,
    unclean_shutdown: Collection[int] = (),
) -> PartitionChange:
    """
    Return the controller's change of a partition.

    Parameters
    ----------
    before
        Registered partition.
    alive
        Brokers that may lead: neither fenced nor shutting down, log dir online.
    election
        Type of election.
    min_isr
        min.insync.replicas in force for the topic.
    has_elr
        Whether eligible leader replicas are enabled.
    target_isr
        Requested ISR; `None`: the registered ISR.
    unclean_shutdown
        Brokers back from a crash, whose replicas may lack their last records.

    Notes
    -----
    Java keeps the eligible replicas in a hash set of small integers, which iterates in
    ascending order; here they are sorted.

    References
    ----------
    .. [1] KIP-966: Eligible Leader Replicas.
           https://cwiki.apache.org/confluence/x/mpOzDw
    """
    wanted = before.isr if target_isr is None else tuple(target_isr)
    goal = _complete_reassignment(replace(before, isr=wanted))
    if has_elr:
        goal = _eligible(before, goal, min_isr, unclean_shutdown)
    leader, is_unclean = _elect(before, goal, alive, election, has_elr=has_elr)
    record = _record(before, goal, leader, is_unclean=is_unclean, has_elr=has_elr)
    return PartitionChange(after=replace(before, **record), record=record)


def _complete_reassignment(goal: Registration) -> Registration:
    """Complete a reassignment if the replicas being added have caught up."""
    if not goal.adding and not goal.removing:
        return goal
    isr = tuple(b for b in goal.isr if b not in goal.removing)
    replicas = tuple(b for b in goal.replicas if b not in goal.removing)
    # With fewer added than removed, every replica that stays must be in sync.
    needed = replicas if len(goal.adding) < len(goal.removing) else goal.adding
    if (goal.removing and not isr) or not set(needed) <= set(isr):
        return goal
    return replace(goal, replicas=replicas, isr=isr, adding=(), removing=())


def _eligible(
    before: Registration,
    goal: Registration,
    min_isr: int,
    unclean_shutdown: Collection[int],
) -> Registration:
    """Set the ELR: replicas that leave an ISR below the minimum stay eligible."""
    if len(goal.isr) >= min_isr:
        return replace(goal, elr=())
    left = {*goal.elr, *before.isr} - set(goal.isr) - set(unclean_shutdown)
    return replace(goal, elr=tuple(sorted(left)))


def _elect(
    before: Registration,
    goal: Registration,
    alive: Collection[int],
    election: Election,
    *,
    has_elr: bool,
) -> tuple[int, bool]:
    """Return the leader, and whether its election may lose records."""
    eligible = set(goal.isr or goal.elr) & set(alive)
    first = goal.replicas[0]
    if election is Election.PREFERRED and first in eligible:
        return first, False
    candidates = (before.leader, *goal.replicas)
    for broker in candidates:
        if broker in eligible:
            return broker, False
    last = before.last_known_elr
    is_empty = not goal.isr and not goal.elr
    if has_elr and is_empty and len(last) == 1 and last[0] in alive:
        return last[0], True
    if election is Election.UNCLEAN:
        for broker in goal.replicas:
            if broker in alive:
                return broker, True
    return NO_LEADER, False


def _record(
    before: Registration,
    goal: Registration,
    leader: int,
    *,
    is_unclean: bool,
    has_elr: bool,
) -> dict[str, Any]:
    """Return the fields of the change record."""
    isr, elr = goal.isr, goal.elr
    is_led_anew = leader != before.leader
    is_forced = is_led_anew and is_unclean
    if is_forced or (is_led_anew and leader in elr):
        # No other replica certainly has the records of the new leader.
        isr, elr = (leader,), tuple(b for b in elr if b != leader)
    if is_forced or not has_elr:
        elr = ()
    record: dict[str, Any] = {}
    loses_replicas = not set(before.replicas) <= set(goal.replicas)
    if is_led_anew or loses_replicas:
        record["leader"] = leader
    # Without the ELR, the last member stays in the ISR when its broker dies.
    goal = replace(goal, elr=elr, isr=isr if isr or has_elr else before.isr)
    if is_forced and not before.is_recovering:
        record["is_recovering"] = True
    if has_elr:
        record |= _last_leader(before, leader)
    for name in ("isr", "elr", "replicas", "adding", "removing"):
        if getattr(goal, name) != getattr(before, name):
            record[name] = getattr(goal, name)
    return record


def _last_leader(before: Registration, leader: int) -> dict[str, Any]:
    """Return the change of the last known leader: set on its loss, else cleared."""
    is_lost = leader == NO_LEADER and before.leader != NO_LEADER
    if is_lost and before.last_known_elr != (before.leader,):
        return {"last_known_elr": (before.leader,)}
    if leader != NO_LEADER and before.last_known_elr:
        return {"last_known_elr": ()}
    return {}
