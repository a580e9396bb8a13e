"""Our own assignor: as even as can be, then with as few moves as can be."""

from dataclasses import dataclass

import numpy as np

from assignment.balanced.balanced_counts import balance_counts
from assignment.balanced.balanced_same import balance_same
from assignment.balanced.balanced_weights import balance_weights
from assignment.balanced.partition_classes import classes_of
from assignment.certificate import Certificate
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment
from placement.core.model.solution import Bounded

DEFAULT_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """
    An assignment, and what is proven about it.

    Parameters
    ----------
    assignment
        Who reads what.
    certificate
        Proven lower bounds, with their witnesses.
    """

    assignment: Assignment
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Balanced:
    """
    Even members out as far as their subscriptions allow, then move as little as can be.

    Goals, in this order: the busiest member carries least; then loads are as even as
    can be (fewest members carry that much, then the next carries least, and so on);
    then as many partitions as possible are read in a rack that has a replica; then each
    topic is as even over its readers as can be (fewest partitions above a reader's
    share of the topic, rounded up, or lacking to it, rounded down); then as few as
    possible change hands. Where all partitions weigh the same and members can carry the
    same, all of that is exact, and proven. Where weights differ, members are brought
    within a tolerance, and the gap to the proven bound is said; in small groups what
    they carry above it is least, and then as few partitions as possible change hands
    (`balanced_exact`).

    Topics are evened out where no racks count, and up to 20,000 pairs of a member and a
    topic that it reads, or 300,000 where all read the same. Beyond, no partition
    changes hands for that; where all read the same, what is dealt goes round the
    members topic by topic.

    Constraints: only subscribed topics; each partition once.

    Algorithm: partitions that the same members may read are one class, and only how
    many of each class each member reads is looked for
    (`placement.core.counts.solve_counts`). Where all members read the same it is known
    at once. With weights: members that carry too much give up what fits their excess
    best, and what is free goes, heaviest first, to the member furthest below its share.

    Parameters
    ----------
    tolerance
        How far above its share of the weight a member may stay, as a fraction, rather
        than give up partitions; with equal weights nothing is tolerated.

    Examples
    --------
    Two members own three partitions each and a third joins: each gives it one.
    """

    tolerance: float = DEFAULT_TOLERANCE
    name: str = "balanced"

    def assign(self, group: Group) -> Assignment:
        """Return who reads what."""
        return self.solve(group).assignment

    def solve(self, group: Group) -> Answer:
        """Return who reads what, and what is proven about it."""
        if not group.num_partitions:
            return _nothing(group)
        is_counted = group.has_equal_weights
        if is_counted and (same := balance_same(group)) is not None:
            return Answer(*same)
        if not group.is_read.any():
            return _nothing(group)
        if is_counted and group.has_equal_capacities:
            return Answer(*balance_counts(group, classes_of(group)))
        return Answer(*balance_weights(group, classes_of(group), self.tolerance))


def _nothing(group: Group) -> Answer:
    """Return the answer where nobody reads anything."""
    nobody = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    none = Bounded(value=0, lower_bound=0)
    return Answer(Assignment(nobody), Certificate(busiest=none, moved=none))
