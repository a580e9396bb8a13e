"""Equal weights: topics evened out over their readers, then as few moves as can be."""

from dataclasses import dataclass, replace

import numpy as np

from assignment.balanced.partition_classes import (
    Classes,
    RowArray,
    classes_of,
    hand_out,
    racks_count,
)
from assignment.group import ABSENT, BoolArray, Group
from assignment.outcome import Assignment
from placement.core.counts.count_bounds import cost_bound
from placement.core.counts.count_flow import LoadBounds, least_cost
from placement.core.counts.count_problem import CountProblem, CountSolution
from placement.errors import ProofError

MAX_EDGES = 20_000
"""Topics subscribed, over all members, up to which topics come before moves."""
MAX_EDGES_SAME = 300_000
"""The same where all members read the same topics: then few partitions have to move."""


@dataclass(frozen=True, slots=True, eq=False)
class EvenTopics:
    """
    An assignment that evens topics out within given loads, and what is proven of it.

    Parameters
    ----------
    assignment
        The member of each partition.
    solution
        Partitions of each topic and member: as few as can be outside of the members'
        shares of a topic, and then as few moves as can be. Proven.
    """

    assignment: Assignment
    solution: CountSolution


def can_even_topics(group: Group, max_edges: int = MAX_EDGES) -> bool:
    """Return whether topics are evened out exactly: no racks, and not too many pairs."""
    return len(group.subscribed.idx) <= max_edges and not racks_count(group)


def even_topics(
    group: Group, part: RowArray, bounds: LoadBounds, classes: Classes | None = None
) -> EvenTopics:
    """
    Even every topic out over its readers, without another load of any member.

    A reader's share of a topic is proportional to its part, rounded down or up.

    Parameters
    ----------
    group
        A group with equal weights and without racks.
    part
        ``(M,)`` weights of the members, in proportion to their capacity.
    bounds
        Bounds of the number of partitions of each member; `is_open` by the edges of
        `classes`, or of pairs of topic and member where subscriptions are equal.
    classes
        Topics by who may read them.

    Raises
    ------
    ProofError
        If the dual values do not prove that nothing is better.
    """
    topics = classes_of(group, by_topic=True)
    if classes is not None:
        bounds = replace(bounds, is_open=_of_topics(bounds.is_open, classes, topics))
    problem = _problem(group, topics, part)
    solution = least_cost(problem, bounds)
    if (bound := cost_bound(problem, solution.proof)) != solution.cost:
        msg = f"bound {bound} does not meet the topics' value {solution.cost}"
        raise ProofError(msg)
    return EvenTopics(Assignment(hand_out(topics, solution.count)), solution)


def _of_topics(by_class: BoolArray, classes: Classes, topics: Classes) -> BoolArray:
    """Return what edges of classes say, for the edges of their topics."""
    is_read = np.not_equal(topics.class_idx, ABSENT)
    class_of = np.zeros(topics.num_classes, dtype=np.int64)
    class_of[topics.class_idx[is_read]] = classes.class_idx[is_read]
    width = np.diff(topics.start)
    offset = np.arange(len(topics.member_idx)) - np.repeat(topics.start[:-1], width)
    found: BoolArray = by_class[np.repeat(classes.start[class_of], width) + offset]
    return found


def _problem(group: Group, topics: Classes, part: RowArray) -> CountProblem:
    is_owned = np.not_equal(topics.edge_idx, ABSENT)
    is_read = np.not_equal(topics.class_idx, ABSENT)
    num_edges, num_topics = len(topics.member_idx), topics.num_classes
    supply = np.bincount(topics.class_idx[is_read], minlength=num_topics)
    of_topic = np.repeat(np.arange(num_topics), np.diff(topics.start))
    parts = part[topics.member_idx]
    whole = np.bincount(of_topic, parts, num_topics).astype(np.int64)
    shared, whole = supply[of_topic] * parts, np.maximum(whole, 1)[of_topic]
    home = np.bincount(topics.edge_idx[is_owned], minlength=num_edges)
    return CountProblem(
        num_bins=group.num_members,
        class_start=topics.start,
        edge_bin=topics.member_idx,
        supply=supply.astype(np.int64),
        home=home,
        share_low=shared // whole,
        share_high=-(-shared // whole),
        # One partition outside of a share is worse than all moves together.
        share_price=int(is_owned.sum()) + 1,
    )
