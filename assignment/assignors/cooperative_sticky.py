"""The client's cooperative sticky assignor."""

from dataclasses import dataclass

import numpy as np

from assignment.assignors.sticky import give
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment


@dataclass(frozen=True, slots=True)
class CooperativeSticky:
    """
    As `Sticky`, but nothing changes hands in one step.

    Goals: as `Sticky`; besides, nobody stops reading what it keeps. A partition that
    goes to another member is given to nobody in this round: its owner gives it up
    first, and the members rejoin to get it. So a rebalance takes two rounds.

    Constraints: only subscribed topics; each partition at most once.

    Algorithm: as `Sticky`; then partitions that change hands are taken out.

    References
    ----------
    KIP-429; ``clients.consumer.CooperativeStickyAssignor`` of Apache Kafka 4.3.

    Examples
    --------
    C0 owns two partitions and C1 joins: C0 keeps one, and the other is nobody's until
    the next round gives it to C1.
    """

    name: str = "cooperative-sticky"

    def assign(self, group: Group) -> Assignment:
        """Return who reads what in this round."""
        given = give(group)
        member_idx = given.member_idx.copy()
        member_idx[given.is_changing_hands] = ABSENT
        return Assignment(np.asarray(member_idx, dtype=np.int32))
