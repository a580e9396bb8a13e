"""The client's sticky assignor."""

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
    Keep what members own, and even the counts out.

    Goals: counts as even as the subscriptions allow, then as few partitions as possible
    that change hands. Neither is always reached where subscriptions differ: each move
    is chosen for itself, so chains over several topics are not seen.

    Constraints: only subscribed topics; each partition once.

    Algorithm: what members say they own is settled by generation (`settle_claims`).
    Where all subscribe to the same topics, quotas are known beforehand
    (`assign_constrained`); else partitions are moved one by one until no move makes
    counts more even (`assign_general`). Racks count as in KIP-881.

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
        """Return who reads what."""
        return Assignment(give(group).member_idx)


def give(group: Group) -> Given:
    """Return who reads what, and what changes hands, by the algorithm that fits."""
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
    # Mostly they are written alike; only then sorting them is saved.
    if (lists == lists[0]).all():
        return True
    lists = np.sort(lists, axis=1)
    return bool((lists == lists[0]).all())
