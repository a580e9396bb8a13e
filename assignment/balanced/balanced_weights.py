"""
Assignment of partitions of different weights, or to members of different capacities.

The relaxation splits every partition into many small parts and is solved exactly, by
counts. Its loads are the fair shares, and its largest load is a lower bound for every
assignment. Members above their fair share and the tolerance release partitions that
cover the excess. Unassigned partitions go, heaviest first, to the reader furthest below
its fair share. Local search then improves the busiest member by single moves and swaps.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assignment.balanced.balanced_counts import num_given_up
from assignment.balanced.balanced_exact import Said, exactly
from assignment.balanced.load_swaps import improve
from assignment.balanced.partition_classes import Classes
from assignment.certificate import (
    Certificate,
    bound_busiest,
    bound_moved,
    busiest_value,
)
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment, is_moved
from placement.array_types import IndexArray, RateArray, RowArray
from placement.core.counts.count_bounds import share_bound
from placement.core.counts.count_flow import share_evenly, shares
from placement.core.counts.count_problem import CountProblem
from placement.core.counts.kernels import largest_first
from placement.core.model.solution import Bounded, Proof

PARTS = float(1 << 44)
"""Number of parts that the total weight is split into, finer than rounding errors."""
MAX_ROUNDS = 5
"""Rounds of releases and assignments: a heavy partition may lift its new member over
the limit, which then releases lighter ones."""


@dataclass(frozen=True, slots=True)
class _Shares:
    """Fair share of each member, lower bound of the largest load, and its witness."""

    share: RateArray
    bound: float
    members: RowArray


def balance_weights(
    group: Group, classes: Classes, tolerance: float
) -> tuple[Assignment, Certificate]:
    """
    Return the member of each partition, and the certificate.

    Parameters
    ----------
    group
        Any group.
    classes
        Partitions by the members that may read them.
    tolerance
        Allowed excess of a load over its fair share, as a fraction of the share.
    """
    fair = _fair_shares(group, classes)
    everything = np.full(group.num_members, np.inf)
    limit = fair.share * (1 + tolerance)
    assignment = Assignment(_fill_up(group, classes, fair, everything))
    if (assignment.load(group) > limit).any():
        evened = Assignment(_fill_up(group, classes, fair, limit))
        # Moves must reduce the largest load by more than rounding errors.
        busiest = busiest_value(group, assignment)
        if busiest_value(group, evened) < busiest * (1 - 1e-9):
            assignment = evened
    if not np.not_equal(classes.owner_idx, ABSENT).any():
        # Without owners no partition changes owner, so the limit is the fair share.
        limit = fair.share
    exact = exactly(group, classes, assignment.member_idx, limit, fair.share)
    better, said = Assignment(exact.member_idx), exact.said
    if _is_worth_it(group, assignment, better):
        assignment = better
    elif said is not None:
        # The bound holds only for assignments with less excess than this one.
        said = replace(said, moved=None)
    certificate = _certificate(group, classes, fair, assignment)
    if said is not None:
        certificate = _with_solver(group, certificate, said, limit, fair.share)
    return assignment, certificate


def _is_worth_it(group: Group, known: Assignment, better: Assignment) -> bool:
    """Return whether another assignment is no busier and moves only for a gain."""
    before, after = busiest_value(group, known), busiest_value(group, better)
    if after > before * (1 + 1e-9):
        return False
    # Moves must reduce the largest load by more than rounding errors.
    moves_anyway = is_moved(group, known).any() or not is_moved(group, better).any()
    return bool(moves_anyway) or after < before * (1 - 1e-9)


def _fill_up(
    group: Group, classes: Classes, fair: _Shares, limit: RateArray
) -> IndexArray:
    """Return the member of each partition if members keep partitions up to a limit."""
    member_idx = classes.owner_idx.copy()
    load = _loads(group, member_idx)
    for _ in range(MAX_ROUNDS):
        # A partition above the limit by itself stays, and the others are released.
        bounds = np.maximum(limit, _heaviest(group, member_idx))
        _release(group, member_idx, load, bounds)
        is_free = np.equal(member_idx, ABSENT) & np.not_equal(classes.class_idx, ABSENT)
        if not is_free.any():
            break
        _deal(group, classes, fair, np.nonzero(is_free)[0], load, member_idx)
    improve(group, classes, member_idx, limit=limit)
    return member_idx


def _loads(group: Group, member_idx: IndexArray) -> RateArray:
    weight, members = group.partitions.weight, group.num_members
    summed = np.bincount(member_idx + 1, weight, members + 1)[1:]
    return summed.astype(np.float64)


def _fair_shares(group: Group, classes: Classes) -> _Shares:
    """Return the fair shares from the relaxation, which splits partitions."""
    is_read = np.not_equal(classes.class_idx, ABSENT)
    weight, of_class = group.partitions.weight[is_read], classes.class_idx[is_read]
    total = float(weight.sum())
    capacity = group.members.capacity
    if total == 0:
        return _Shares(np.ones(group.num_members), 0.0, np.zeros(0, dtype=np.int64))
    supply = np.bincount(of_class, weight, classes.num_classes) * (PARTS / total)
    problem = CountProblem(
        num_bins=group.num_members,
        class_start=classes.start,
        edge_bin=classes.member_idx,
        # Rounding down makes a lower bound on the parts one on the weights.
        supply=np.floor(supply).astype(np.int64),
        home=np.zeros(len(classes.member_idx), dtype=np.int64),
    )
    network = share_evenly(problem, capacity)
    share = shares(network, capacity) * (total / PARTS)
    part = network.part[: group.num_members]
    busiest = np.nonzero(np.equal(part, part[np.argmax(share / capacity)]))[0]
    bound = share_bound(problem, busiest, capacity) * (total / PARTS)
    # Shares of 0 are raised, because loads are divided by shares.
    least = total / PARTS * capacity
    return _Shares(np.maximum(share, least), bound, busiest)


def _heaviest(group: Group, member_idx: IndexArray) -> RateArray:
    """Return ``(M,)`` weight of the heaviest partition of each member."""
    heaviest = np.zeros(group.num_members + 1)
    np.maximum.at(heaviest, member_idx, group.partitions.weight)
    return heaviest[:-1]


def _release(
    group: Group, member_idx: IndexArray, load: RateArray, limit: RateArray
) -> None:
    """Release partitions that cover the excess of members over their limits."""
    is_over = load > limit
    if not is_over.any():
        return
    rows = np.nonzero(np.not_equal(member_idx, ABSENT))[0]
    rows = rows[is_over[member_idx[rows]]]
    weight = group.partitions.weight
    order = rows[np.lexsort((-weight[rows], member_idx[rows]))]
    start = np.searchsorted(member_idx[order], np.arange(group.num_members + 1))
    columns = (order, weight, start, load, limit, member_idx)
    largest_first.run_sized(largest_first.release, len(weight), *columns)


def _deal(
    group: Group,
    classes: Classes,
    fair: _Shares,
    free: RowArray,
    load: RateArray,
    member_idx: IndexArray,
) -> None:
    """Assign partitions, heaviest first, to readers furthest below their shares."""
    weight = group.partitions.weight
    order = free[np.argsort(-weight[free], kind="stable")]
    loads = (order, weight, load, fair.share)
    if classes.num_classes == 1:
        full = load / fair.share
        # A sorted line is a heap.
        who = classes.member_idx
        line = who[np.lexsort((who, full[who]))]
        largest_first.run_sized(
            largest_first.deal_to_lowest, len(weight), *loads, line, member_idx
        )
    else:
        edges = (classes.class_idx, classes.start, classes.member_idx)
        largest_first.run_sized(
            largest_first.deal_to_readers, len(weight), *loads, *edges, member_idx
        )


def _certificate(
    group: Group, classes: Classes, fair: _Shares, assignment: Assignment
) -> Certificate:
    busiest = bound_busiest(group, assignment)
    if busiest.lower_bound < fair.bound <= busiest.value:
        members = [group.members.ids[member] for member in fair.members.tolist()]
        proof = Proof(kind="flow-dual", witness={"members": members})
        busiest = Bounded(value=busiest.value, lower_bound=fair.bound, proof=proof)
    least, witness = _least_moved(group, classes, busiest.value)
    moved = bound_moved(
        group,
        assignment,
        least + num_given_up(group, classes),
        Proof(kind="cover", witness=witness),
    )
    return Certificate(busiest=busiest, moved=moved)


def _with_solver(
    group: Group,
    certificate: Certificate,
    said: Said,
    limit: RateArray,
    share: RateArray,
) -> Certificate:
    """Return the certificate, raised to the bounds that CP-SAT states."""
    busiest, moved = certificate.busiest, certificate.moved
    if said.excess > 0:
        # Some member has this excess; the lowest ratio bounds whichever it is.
        least = ((limit + said.excess * share) / group.members.capacity).min()
        busiest = busiest.with_solver(float(least), said.solver)
    if moved is not None and said.moved is not None:
        moved = moved.with_solver(said.moved, said.solver)
    return Certificate(busiest=busiest, moved=moved)


def _least_moved(
    group: Group, classes: Classes, busiest: float
) -> tuple[int, dict[str, Any]]:
    """
    Return the number of partitions that must leave members above the largest load.

    Each such member releases at least as many partitions as its heaviest ones that
    cover the excess. The second value is the number per member.
    """
    load = _loads(group, classes.owner_idx)
    # Rounding errors of sums must not make a move look necessary.
    excess = load - busiest * group.members.capacity * (1 + 1e-9)
    needed: dict[str, Any] = {}
    for member in np.nonzero(excess > 0)[0].tolist():
        weight = group.partitions.weight[np.equal(classes.owner_idx, member)]
        covered = np.cumsum(np.sort(weight)[::-1])
        needed[group.members.ids[member]] = int(
            np.searchsorted(covered, excess[member]) + 1
        )
    return sum(needed.values()), needed
