"""Our own assignor, which minimises the imbalance and then the number of moves."""

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
    Assignment with its proven lower bounds.

    Parameters
    ----------
    assignment
        Member of each partition.
    certificate
        Proven lower bounds, with their witnesses.
    """

    assignment: Assignment
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Balanced:
    """
    Balance members as far as their subscriptions allow, then move fewest partitions.

    Goals, in lexicographic order: minimise the largest load; then balance the loads
    (fewest members carry the largest load, then minimise the next largest load, and so
    on); then maximise the partitions read in a rack that has a replica; then balance
    each topic over its readers (fewest partitions above a reader's share of the topic,
    rounded up, or missing to the share, rounded down); then minimise the partitions
    that change owner. Where all weights and all capacities are equal, the result is
    exact and proven optimal. Where weights differ, members stay within a tolerance, and
    the gap to the proven bound is reported; in small groups the excess over the
    tolerance is minimal, and then the fewest partitions change owner
    (`balanced_exact`).

    Topics are balanced where no racks count, up to 20,000 pairs of a member and a topic
    that it reads, or 300,000 where all members read the same topics. In larger groups
    no partition changes owner for that goal; where all members read the same topics,
    unassigned partitions are assigned round robin, topic by topic.

    Constraints: only subscribed topics; each partition once.

    Algorithm: partitions that the same members may read form one class, and the
    decision variables are the counts per class and member
    (`placement.core.counts.solve_counts`). Where all members read the same topics, the
    counts have a closed form. With weights: overloaded members release the partitions
    that cover their excess best, and unassigned partitions go, heaviest first, to the
    member furthest below its fair share.

    Parameters
    ----------
    tolerance
        Excess of a load over its fair share, as a fraction of the share, up to which a
        member keeps its partitions. Not used with equal weights and capacities.

    Examples
    --------
    Two members own three partitions each and a third joins: each releases one to it.
    """

    tolerance: float = DEFAULT_TOLERANCE
    name: str = "balanced"

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition."""
        return self.solve(group).assignment

    def solve(self, group: Group) -> Answer:
        """Return the member of each partition, and the proven lower bounds."""
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
    """Return the answer for a group without readers."""
    nobody = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    none = Bounded(value=0, lower_bound=0)
    return Answer(Assignment(nobody), Certificate(busiest=none, moved=none))
