"""Equal weights: topics balanced over their readers, then fewest moves."""

from dataclasses import dataclass, replace

import numpy as np

from assignment.balanced.partition_classes import (
    Classes,
    classes_of,
    hand_out,
    racks_count,
)
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment
from placement.array_types import BoolArray, RowArray
from placement.core.counts.count_bounds import cost_bound
from placement.core.counts.count_flow import LoadBounds, least_cost
from placement.core.counts.count_problem import CountProblem, CountSolution
from placement.errors import ProofError

MAX_EDGES = 20_000
"""Largest number of subscriptions, over all members, with topics before moves."""
MAX_EDGES_SAME = 300_000
"""`MAX_EDGES` where all members read the same topics and few partitions move."""


@dataclass(frozen=True, slots=True, eq=False)
class EvenTopics:
    """
    Assignment that balances topics within given bounds of the loads, with its proof.

    Parameters
    ----------
    assignment
        Member of each partition.
    solution
        Number of partitions of each topic and member: proven fewest partitions outside
        the members' shares of a topic, and then fewest moves.
    """

    assignment: Assignment
    solution: CountSolution


def can_even_topics(group: Group, max_edges: int = MAX_EDGES) -> bool:
    """Return whether topics are balanced exactly: no racks, and few enough pairs."""
    return len(group.subscribed.idx) <= max_edges and not racks_count(group)


def even_topics(
    group: Group, part: RowArray, bounds: LoadBounds, classes: Classes | None = None
) -> EvenTopics:
    """
    Balance every topic over its readers, within bounds of the members' counts.

    A reader's share of a topic is proportional to its part, rounded down or up.

    Parameters
    ----------
    group
        A group with equal weights and without racks.
    part
        ``(M,)`` integer weights of the members, such as 1 each or their target counts.
    bounds
        Bounds of the number of partitions of each member. `is_open` refers to the edges
        of `classes`, or to pairs of topic and member where subscriptions are equal.
    classes
        Partitions by the members that may read them; `None` if subscriptions are equal.

    Raises
    ------
    ProofError
        If the dual values do not prove the solution optimal.
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
    """Return values of the edges of classes for the edges of their topics."""
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
        # One partition outside of a share costs more than all moves together.
        share_price=int(is_owned.sum()) + 1,
    )
