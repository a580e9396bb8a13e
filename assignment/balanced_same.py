"""
Equal weights, and all members reading the same topics: known at once.

Everything is done on whole columns; a million partitions take some milliseconds.
"""

import heapq
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from assignment.assignors.claims import sole_owners
from assignment.assignors.sticky import are_subscriptions_equal
from assignment.certificate import Certificate, bound_moved, busiest_value
from assignment.classes import racks_count
from assignment.group import ABSENT, Group, IndexArray, Rows
from assignment.outcome import Assignment
from placement.core.solution import Bounded, Proof

CountArray = npt.NDArray[np.int64]


def balance_same(group: Group) -> tuple[Assignment, Certificate] | None:
    """
    Return who reads what and the proof; `None` where the group is not of this kind.

    Parameters
    ----------
    group
        All of its partitions weigh the same. If not all members read the same topics,
        or racks count, there is nothing to return.
    """
    if racks_count(group) or not are_subscriptions_equal(group):
        return None
    is_read = group.is_read[group.partitions.topic_idx]
    num_read = int(np.count_nonzero(is_read))
    owned = _owned(group, is_read, num_read)
    have = owned.counts
    goal = _goals(group, have, num_read)
    member_idx = _keep_and_deal(group, owned, goal, is_read, num_read)
    assignment = Assignment(member_idx)
    moved = int(np.maximum(have - goal, 0).sum())
    return assignment, _certificate(group, assignment, num_read, moved)


def _owned(group: Group, is_read: npt.NDArray[np.bool_], num_read: int) -> Rows:
    """Return what each member owns that it reads, each partition once."""
    owner_idx = sole_owners(group)
    is_clean = np.count_nonzero(owner_idx != ABSENT) == len(group.owned.idx)
    if is_clean and num_read == group.num_partitions:
        return group.owned
    rows, owner = group.owned.idx, group.owned.owner
    is_its = np.equal(owner_idx[rows], owner) & is_read[rows]
    counts = np.bincount(owner[is_its], minlength=group.num_members)
    return Rows(np.concatenate([[0], np.cumsum(counts)]), rows[is_its])


def _goals(group: Group, have: CountArray, num_read: int) -> CountArray:
    """Return ``(M,)`` how many partitions each member is to read."""
    capacity = group.members.capacity
    if (capacity == capacity[0]).all():
        low, extras = divmod(num_read, group.num_members)
        goal = np.full(group.num_members, low, dtype=np.int64)
        # Those that own most get the extras: so most can stay where it is.
        goal[np.argsort(-have, kind="stable")[:extras]] += 1
        return goal
    return share_out(num_read, [Fraction(c) for c in capacity.tolist()], have)


def share_out(num_items: int, capacity: list[Fraction], have: CountArray) -> CountArray:
    """
    Share items out so that the largest count over capacity is least.

    Parameters
    ----------
    num_items
        How many items there are.
    capacity
        Of each member, exact and positive.
    have
        ``(M,)`` what members have; of equals the one that has more than it is to get
        comes first.

    Notes
    -----
    Jefferson's method: one item after the other goes where the ratio is lowest with it.
    It never gives less than the share rounded down, so it starts from there.
    """
    total = sum(capacity)
    goal = [int(num_items * c / total) for c in capacity]

    def place(member: int) -> tuple[Fraction, bool, int]:
        ratio = (goal[member] + 1) / capacity[member]
        return ratio, bool(have[member] <= goal[member]), member

    heap = [place(member) for member in range(len(goal))]
    heapq.heapify(heap)
    for _ in range(num_items - sum(goal)):
        member = heapq.heappop(heap)[2]
        goal[member] += 1
        heapq.heappush(heap, place(member))
    return np.array(goal, dtype=np.int64)


def _keep_and_deal(
    group: Group,
    owned: Rows,
    goal: CountArray,
    is_read: npt.NDArray[np.bool_],
    num_read: int,
) -> IndexArray:
    """Let members keep the first of what they own, and deal the rest out in runs."""
    members = np.arange(group.num_members, dtype=np.int32)
    have = owned.counts
    if not len(owned.idx) and num_read == group.num_partitions:
        return np.repeat(members, goal)
    member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    member_idx[owned.idx] = np.repeat(members, have)
    is_over = np.nonzero(have > goal)[0]
    starts, stops = owned.start[is_over] + goal[is_over], owned.start[is_over + 1]
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        member_idx[owned.idx[start:stop]] = ABSENT
    free = np.nonzero(np.equal(member_idx, ABSENT) & is_read)[0]
    member_idx[free] = np.repeat(members, np.maximum(goal - have, 0))
    return member_idx


def _certificate(
    group: Group, assignment: Assignment, num_read: int, moved: int
) -> Certificate:
    # The closed form is exact: the value is its own bound, and the witness says why.
    value = busiest_value(group, assignment)
    share = {"partitions": num_read, "members": group.num_members}
    return Certificate(
        busiest=Bounded(
            value=value, lower_bound=value, proof=Proof(kind="count", witness=share)
        ),
        moved=bound_moved(group, assignment, moved, Proof(kind="count", witness=share)),
    )
