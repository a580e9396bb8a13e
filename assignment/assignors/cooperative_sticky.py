"""The client's cooperative sticky assignor."""

from dataclasses import dataclass

import numpy as np

from assignment.assignors.sticky import give
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment


@dataclass(frozen=True, slots=True)
class CooperativeSticky:
    """
    Assign as `Sticky` does, but revoke a partition one round before it is reassigned.

    Goals: as `Sticky`; besides, members keep reading the partitions that they keep. A
    partition that goes to another member is unassigned in this round: its owner revokes
    the partition first, and the members rejoin. So a rebalance takes two rounds.

    Constraints: only subscribed topics; each partition at most once.

    Algorithm: as `Sticky`; then partitions that change owner are left unassigned.

    References
    ----------
    KIP-429; ``clients.consumer.CooperativeStickyAssignor`` of Apache Kafka 4.3.

    Examples
    --------
    C0 owns two partitions and C1 joins: C0 keeps one, and the other is unassigned until
    the next round assigns it to C1.
    """

    name: str = "cooperative-sticky"

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition in this round."""
        given = give(group)
        member_idx = given.member_idx.copy()
        member_idx[given.is_changing_hands] = ABSENT
        return Assignment(np.asarray(member_idx, dtype=np.int32))
