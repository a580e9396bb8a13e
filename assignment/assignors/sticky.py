"""Sticky assignor of the Kafka client."""

from dataclasses import dataclass

import numpy as np

from assignment.assignors.claims import settle_claims
from assignment.assignors.sticky_constrained import Given, assign_constrained
from assignment.assignors.sticky_general import assign_general
from assignment.group import Group
from assignment.outcome import Assignment


@dataclass(frozen=True, slots=True)
class Sticky:
    """
    Balance the counts and keep owned partitions in place.

    Goals: counts as even as the subscriptions allow, then as few partitions as possible
    that change owner. Neither goal is always reached where subscriptions differ: each
    move is chosen greedily, so chains of moves over several topics are missed.

    Constraints: only subscribed topics; each partition once.

    Algorithm: conflicting claims to partitions are resolved by generation
    (`settle_claims`). Where all members subscribe to the same topics, quotas are known
    beforehand (`assign_constrained`); else partitions move one by one until no move
    makes the counts more even (`assign_general`). Racks count as in KIP-881.

    References
    ----------
    KIP-54, KIP-341, KIP-881; ``clients.consumer.StickyAssignor`` of Apache Kafka 4.3.

    Examples
    --------
    Topics of 1, 2 and 3 partitions; C0 reads the first, C1 the first two, C2 all: C0
    gets one partition, C1 two, C2 three. When C0 leaves, one partition moves.
    """

    name: str = "sticky"

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition."""
        return Assignment(give(group).member_idx)


def give(group: Group) -> Given:
    """Return the sticky assignment and the partitions in it that change owner."""
    claims = settle_claims(group)
    if are_subscriptions_equal(group):
        return assign_constrained(group, claims)
    return assign_general(group, claims)


def are_subscriptions_equal(group: Group) -> bool:
    """Return whether all members name the same topics, existing or not."""
    counts = group.subscribed.counts
    if (counts != counts[0]).any():
        return False
    lists = group.subscribed.idx.reshape(len(counts), -1)
    # Members usually list topics in the same order, which saves sorting.
    if (lists == lists[0]).all():
        return True
    lists = np.sort(lists, axis=1)
    return bool((lists == lists[0]).all())
