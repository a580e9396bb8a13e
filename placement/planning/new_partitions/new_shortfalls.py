"""Shortfalls of new partitions that a search with these partitions in place misses."""

from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray
from placement.core.bounds.shortfalls import MAX_SHORTFALLS
from placement.core.model.solution import Shortfall, Status
from placement.draft.draft import Draft
from placement.model.load import RESOURCES, loads_of
from placement.model.rack_violations import rack_broken
from placement.planning.outcome.column_shortfalls import (
    overfull_columns,
    with_rules_named,
)
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.hard_levels import hard_capacities


def with_missing(
    placed: PlannedPlacement, draft: Draft, is_new: BoolArray
) -> PlannedPlacement:
    """
    Return a placement with the shortfalls of its new partitions that a search misses.

    To the search, new partitions exist already. It reports no shortfall for a partition
    that cannot move, for example because a replica is on a dead broker.
    """
    solution = placed.solution
    astray = _astray(placed, draft, is_new)
    over = [
        *_overfull(placed, is_new),
        *_crowded(placed, is_new),
        *overfull_columns(placed.draft, placed.reassignment, is_new),
    ]
    known = {(one.what, one.group, one.bin) for one in solution.shortfalls}
    missing = [
        one for one in (*astray, *over) if (one.what, one.group, one.bin) not in known
    ]
    status = solution.status
    if over and placed.has_met_rules:
        status = Status.PARTIAL
    if astray:
        status = Status.INFEASIBLE
    shortfalls = (*solution.shortfalls, *missing)
    solution = replace(solution, status=status, shortfalls=shortfalls)
    return replace(placed, solution=with_rules_named(placed.draft, solution))


def _astray(
    placed: PlannedPlacement, draft: Draft, is_new: BoolArray
) -> list[Shortfall]:
    """Return shortfalls of new partitions on brokers that may receive no replicas."""
    replicas = placed.reassignment.after().replicas
    is_closed = ~draft.may_receive[replicas.broker_idx]
    is_closed &= is_new[replicas.partition_idx]
    have, factors = int(draft.may_receive.sum()), np.diff(replicas.start)
    return [
        Shortfall(
            what="bins",
            have=have,
            need=int(factors[p]),
            group=int(p),
            level="broker",
            is_proven=True,
        )
        for p in np.unique(replicas.partition_idx[is_closed])[:MAX_SHORTFALLS]
        if have < factors[p]
    ]


def _crowded(placed: PlannedPlacement, is_new: BoolArray) -> list[Shortfall]:
    """Return shortfalls of new partitions that break the rack rule."""
    after, settings = placed.reassignment.after(), placed.draft.settings
    if "rack" in settings.lifted or "rack" in settings.soft:
        return []
    broken = rack_broken(after, placed.draft.holds) & is_new
    start, racks = after.replicas.start, after.brokers.rack_idx
    found = []
    for p in np.nonzero(broken)[0][:MAX_SHORTFALLS].tolist():
        rows = after.replicas.broker_idx[start[p] : start[p + 1]]
        have = len(np.unique(racks[rows]))
        found.append(
            Shortfall(what="spread", have=have, need=len(rows), group=p, level="rack")
        )
    return found


def _overfull(placed: PlannedPlacement, is_new: BoolArray) -> list[Shortfall]:
    """Return shortfalls of brokers that new replicas load beyond a capacity."""
    after, draft = placed.reassignment.after(), placed.draft
    load, _ = loads_of(after)
    most, adds = hard_capacities(draft), np.zeros_like(load)
    rows = np.nonzero(is_new[after.replicas.partition_idx])[0]
    of = after.replicas.partition_idx[rows]
    np.add.at(adds, after.replicas.broker_idx[rows], draft.weights.replica[of])
    led = np.nonzero(is_new & (after.partitions.leader_idx >= 0))[0]
    np.add.at(adds, after.partitions.leader_idx[led], draft.weights.leader[led])
    return [
        Shortfall(
            what="capacity",
            have=int(most[b, r]),
            need=int(load[b, r]),
            bin=int(b),
            resource=str(RESOURCES[r]),
            level="broker",
        )
        for b, r in np.argwhere((load > most) & (adds > 0))[:MAX_SHORTFALLS]
    ]
