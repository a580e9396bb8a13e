"""Random assignor, a baseline for the others."""

from dataclasses import dataclass

import numpy as np

from assignment.assignors.order import topics_by_name
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment


@dataclass(frozen=True, slots=True)
class Random:
    """
    Assign each partition to one of its subscribers, all equally likely.

    Goals: none. The result is the baseline for the other assignors.

    Constraints: only subscribed topics; each partition once.

    Algorithm: one draw per partition, topics by name; the same seed gives the same
    assignment.

    Parameters
    ----------
    seed
        Seed of the random number generator.

    Examples
    --------
    With one member, that member gets everything.
    """

    seed: int = 0
    name: str = "random"

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition."""
        rng = np.random.default_rng(self.seed)
        member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
        subscribers = group.subscribers
        for topic in topics_by_name(group):
            rows = group.partitions_of(topic)
            who = subscribers.of(topic)
            member_idx[rows] = who[rng.integers(len(who), size=len(rows))]
        return Assignment(member_idx)
