"""Proven lower bounds of an assignment's largest load and number of moves."""

from dataclasses import dataclass

import numpy as np

from assignment.group import ABSENT, Group
from assignment.outcome import Assignment, is_moved
from placement.array_types import RateArray
from placement.core.model.solution import Bounded, Proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """
    Values of an assignment with proven lower bounds.

    Parameters
    ----------
    busiest
        Largest ratio of a member's load to its capacity. The bound holds for every
        assignment.
    moved
        Number of partitions that change owner; `None` if not computed. The bound holds
        for assignments that are as balanced, or whose busiest member is no busier.
    """

    busiest: Bounded
    moved: Bounded | None = None


def busiest_value(group: Group, assignment: Assignment) -> float:
    """Return the largest ratio of a member's load to its capacity."""
    use = assignment.load(group) / group.members.capacity
    return float(use.max(initial=0.0))


def bound_busiest(group: Group, assignment: Assignment) -> Bounded:
    """
    Return the largest load with a lower bound that is quick to compute.

    The bound applies to any assignor. Unassigned partitions, as in the first round of a
    cooperative rebalance, do not count.

    Returns
    -------
    The value, and the largest of three bounds: total weight over total capacity of the
    readers (``water-fill``); the heaviest partition on its reader of largest capacity
    (``heaviest``); and, by the pigeonhole principle, the lightest k + 1 of the kM + 1
    heaviest partitions, as one of M members has at least k + 1 of them (``count``).
    """
    value = busiest_value(group, assignment)
    is_given = np.not_equal(assignment.member_idx, ABSENT)
    is_given &= group.is_read[group.partitions.topic_idx]
    if not is_given.any():
        return Bounded(value=value, lower_bound=0.0)
    weight = np.where(is_given, group.partitions.weight, 0.0)
    readers = _readers(group)
    bounds = [_spread(weight, readers), _heaviest(group, weight)]
    bounds.append(_pigeonhole(weight[is_given], readers))
    bound, proof = max(bounds, key=lambda each: each[0])
    # Bound and value are sums in different orders, so rounding errors may put the bound
    # above the value. The bound must not exceed it.
    if value < bound <= value * (1 + 1e-9):
        bound = value
    return Bounded(value=value, lower_bound=bound, proof=proof)


_Bound = tuple[float, Proof]


def _readers(group: Group) -> RateArray:
    """Return ``(M,)`` capacities of members with topics to read; 0 for others."""
    reads = np.zeros(group.num_members, dtype=np.bool_)
    reads[group.subscribed.owner[group.is_read[group.subscribed.idx]]] = True
    return np.where(reads, group.members.capacity, 0.0)


def _spread(weight: RateArray, readers: RateArray) -> _Bound:
    total = float(weight.sum())
    capacity = float(readers.sum())
    witness = {"weight": total, "capacity": capacity}
    return total / capacity, Proof(kind="water-fill", witness=witness)


def _heaviest(group: Group, weight: RateArray) -> _Bound:
    subscribed, capacity = group.subscribed, group.members.capacity
    roomiest = np.zeros(len(group.topics))
    if (capacity == capacity[0]).all():
        roomiest[subscribed.idx] = capacity[0]
    else:
        np.maximum.at(roomiest, subscribed.idx, capacity[subscribed.owner])
    at = roomiest[group.partitions.topic_idx]
    use = np.divide(weight, at, out=np.zeros(len(at)), where=at > 0)
    row = int(use.argmax())
    return float(use[row]), Proof(
        kind="heaviest", witness={"partition": group.name_of(row)}
    )


def _pigeonhole(weight: RateArray, readers: RateArray) -> _Bound:
    weight = np.sort(weight)[::-1]
    members = int(np.count_nonzero(readers))
    running = np.concatenate([[0.0], np.cumsum(weight)])
    each = np.arange(1, (len(weight) - 1) // members + 1)
    ends = each * members + 1
    sums = running[ends] - running[ends - each - 1]
    best = int(sums.argmax()) if len(sums) else 0
    bound = float(sums[best]) if len(sums) else 0.0
    witness = {"members": members, "partitions": best + 2}
    return bound / float(readers.max()), Proof(kind="count", witness=witness)


def bound_moved(
    group: Group, assignment: Assignment, least: int, proof: Proof
) -> Bounded:
    """
    Return the number of partitions that change owner, with its lower bound.

    Parameters
    ----------
    group, assignment
        The group, which holds the previous owners, and the new assignment.
    least
        Lower bound if each partition counts as owned by at most one member.
    proof
        Proof of the lower bound.
    """
    moved = int(np.count_nonzero(is_moved(group, assignment)))
    # A partition with several claimants may go from the member that counts as its owner
    # to another claimant without counting as moved.
    claimed = np.bincount(group.owned.idx, minlength=group.num_partitions)
    bound = max(0, least - int(np.count_nonzero(claimed > 1)))
    return Bounded(value=moved, lower_bound=bound, proof=proof)
