"""
Closed-form assignment: equal weights, and all members read the same topics.

All steps work on whole columns; a million partitions take some milliseconds.
"""

import heapq
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from assignment.assignors.claims import sole_owners
from assignment.assignors.sticky import are_subscriptions_equal
from assignment.balanced.balanced_topics import (
    MAX_EDGES_SAME,
    can_even_topics,
    even_topics,
)
from assignment.balanced.partition_classes import racks_count
from assignment.certificate import Certificate, bound_moved
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment
from assignment.rows import Rows
from placement.array_types import BoolArray, CountArray, IndexArray
from placement.core.counts.count_flow import LoadBounds
from placement.core.counts.kernels import largest_first
from placement.core.model.solution import Bounded, Proof

MAX_PAIRS = 20_000_000
"""Largest number of pairs of a topic and a member whose partitions are counted."""


@dataclass(frozen=True, slots=True)
class _Owned:
    """Partitions that members own and read, each listed once."""

    rows: Rows
    owner_idx: IndexArray
    is_clean: bool
    """Whether `rows` includes every claim of the members."""


def balance_same(group: Group) -> tuple[Assignment, Certificate] | None:
    """
    Return the assignment and its certificate; `None` if the group is of another kind.

    Parameters
    ----------
    group
        Group with equal weights. The result is `None` if subscriptions differ or racks
        count.
    """
    if racks_count(group) or not are_subscriptions_equal(group):
        return None
    is_topic_read = np.zeros(len(group.topics), dtype=np.bool_)
    is_topic_read[group.subscribed.of(0)] = True
    is_read = is_topic_read[group.partitions.topic_idx]
    num_read = int(np.count_nonzero(is_read))
    owned = _owned(group, is_read)
    goal = _goals(group, owned.rows.counts, num_read)
    least = int(np.maximum(owned.rows.counts - goal, 0).sum())
    if can_even_topics(group, MAX_EDGES_SAME) and num_read:
        # With equal capacities, any member may read one partition more.
        part = np.ones_like(goal) if group.has_equal_capacities else goal
        found = even_topics(group, part, _bounds(group, goal))
        assignment, least = found.assignment, found.solution.moves
    else:
        assignment = Assignment(_keep_and_deal(group, owned, goal, is_read))
    return assignment, _certificate(group, owned, assignment, goal, least)


def _bounds(group: Group, goal: CountArray) -> LoadBounds:
    """Return bounds of the counts; with equal capacities any count may be one more."""
    num_edges = group.num_members * int(group.is_read.sum())
    is_any = group.has_equal_capacities
    return LoadBounds(
        lowest=np.full_like(goal, goal.min()) if is_any else goal,
        highest=np.full_like(goal, goal.max()) if is_any else goal,
        is_open=np.ones(num_edges, dtype=np.bool_),
        peak_bins=np.arange(group.num_members),
    )


def _owned(group: Group, is_read: BoolArray) -> _Owned:
    owner_idx = sole_owners(group)
    is_owned = np.not_equal(owner_idx, ABSENT)
    is_clean = np.count_nonzero(is_owned) == len(group.owned.idx)
    if is_clean and not (is_owned & ~is_read).any():
        return _Owned(group.owned, owner_idx, is_clean=True)
    owner_idx[~is_read] = ABSENT
    rows, owner = group.owned.idx, group.owned.owner
    is_its = np.equal(owner_idx[rows], owner)
    counts = np.bincount(owner[is_its], minlength=group.num_members)
    start = np.concatenate([[0], np.cumsum(counts)])
    return _Owned(Rows(start, rows[is_its]), owner_idx, is_clean=False)


def _goals(group: Group, have: CountArray, num_read: int) -> CountArray:
    """Return ``(M,)`` target number of partitions of each member."""
    capacity = group.members.capacity
    if group.has_equal_capacities:
        low, extras = divmod(num_read, group.num_members)
        goal = np.full(group.num_members, low, dtype=np.int64)
        # Members that own most get the extras, so that fewest partitions move.
        goal[np.argsort(-have, kind="stable")[:extras]] += 1
        return goal
    return share_out(num_read, [Fraction(c) for c in capacity.tolist()], have)


def share_out(num_items: int, capacity: list[Fraction], have: CountArray) -> CountArray:
    """
    Apportion items so that the largest ratio of count to capacity is minimal.

    Parameters
    ----------
    num_items
        Number of items.
    capacity
        Capacity of each member, exact and positive.
    have
        ``(M,)`` number of items each member has now. Of members with equal ratios, one
        that has more items than its apportionment so far comes first.

    Notes
    -----
    Jefferson's method: each item in turn goes to the member whose ratio with the item
    is lowest. The method never gives less than the share rounded down, so the counts
    start from there.
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
    group: Group, owned: _Owned, goal: CountArray, is_read: BoolArray
) -> IndexArray:
    """
    Revoke what members own above their goals, and assign the rest round robin.

    Revoked partitions are evenly spaced over the list of each owner, and free ones are
    assigned in the order of their topics, so that each topic is spread over members.
    """
    member_idx, have = owned.owner_idx, owned.rows.counts
    member_idx[_given_up(owned.rows, np.maximum(have - goal, 0))] = ABSENT
    free = np.nonzero(np.equal(member_idx, ABSENT) & is_read)[0]
    lack = np.maximum(goal - have, 0)
    if have.any() and (size := len(group.topics) * group.num_members) <= MAX_PAIRS:
        _deal_apart(group, member_idx, free, lack, size)
    else:
        member_idx[free] = _in_rounds(lack)
    return member_idx


def _given_up(rows: Rows, excess: CountArray) -> CountArray:
    """Return the partitions to revoke, evenly spaced over the list of each owner."""
    owner = np.repeat(np.arange(len(excess)), excess)
    first = np.cumsum(excess) - excess
    nth = np.arange(len(owner)) - first[owner]
    # Owners start at different positions, so that they do not all revoke one topic.
    have = rows.counts[owner]
    at = (nth * have + (owner * have) // max(len(excess), 1)) // excess[owner]
    given: CountArray = rows.idx[rows.start[owner] + at].astype(np.int64)
    return given


def _in_rounds(lack: CountArray) -> IndexArray:
    """Return ``(N,)`` members in turn, each as often as the partitions it lacks."""
    if lack.max(initial=0) - lack.min(initial=0) <= 1 and (np.diff(lack) <= 0).all():
        return (np.arange(lack.sum()) % max(len(lack), 1)).astype(np.int32)
    members = np.repeat(np.arange(len(lack), dtype=np.int32), lack)
    first = np.cumsum(lack) - lack
    turn = np.arange(len(members)) - first[members]
    return members[np.argsort(turn, kind="stable")]


def _deal_apart(
    group: Group, member_idx: IndexArray, free: CountArray, lack: CountArray, size: int
) -> None:
    """Assign partitions in turn, skipping members that have enough of a topic."""
    members = group.num_members
    topic_idx = group.partitions.topic_idx
    kept = np.nonzero(np.not_equal(member_idx, ABSENT))[0]
    pairs = topic_idx[kept].astype(np.int64) * members + member_idx[kept]
    held = np.bincount(pairs, minlength=size)
    most = -(-group.topics.num_partitions // members)
    first_pair, takers = np.arange(len(most)) * members, np.nonzero(lack)[0]
    columns = (free, topic_idx, first_pair, most, held, lack, takers, member_idx)
    largest_first.run_sized(largest_first.deal_in_turn, size, *columns)


def _certificate(
    group: Group,
    owned: _Owned,
    assignment: Assignment,
    goal: CountArray,
    least: int,
) -> Certificate:
    # The closed form is exact: the value is its own bound, proven by the witness.
    value = float((goal * group.partitions.weight[0] / group.members.capacity).max())
    share = {"partitions": int(goal.sum()), "members": group.num_members}
    proof = Proof(kind="count", witness=share)
    if owned.is_clean:
        counted = Bounded(value=least, lower_bound=least, proof=proof)
    else:
        counted = bound_moved(group, assignment, least, proof)
    busiest = Bounded(value=value, lower_bound=value, proof=proof)
    return Certificate(busiest=busiest, moved=counted)
