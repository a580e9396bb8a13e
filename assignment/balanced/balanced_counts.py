"""Exact assignment by counts of classes: equal weights, different subscriptions."""

import numpy as np

from assignment.balanced.balanced_topics import can_even_topics, even_topics
from assignment.balanced.partition_classes import Classes, hand_out
from assignment.certificate import Certificate, bound_moved, busiest_value
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment
from placement.core.counts.count_bounds import cost_bound, peak_bound
from placement.core.counts.count_problem import CountProblem, CountSolution
from placement.core.counts.solve_counts import even_bounds, solve_evenly
from placement.core.model.solution import Bounded, Proof
from placement.errors import ProofError


def balance_counts(group: Group, classes: Classes) -> tuple[Assignment, Certificate]:
    """
    Return the member of each partition, and the certificate.

    Parameters
    ----------
    group
        Group with equal weights and equal capacities.
    classes
        Partitions by the members that may read them.
    """
    problem = count_problem(group, classes)
    if can_even_topics(group):
        each = np.ones(group.num_members, dtype=np.int64)
        found = even_topics(group, each, even_bounds(problem), classes)
        return found.assignment, _certificate(
            group, classes, problem, found.solution, found.assignment
        )
    solution = solve_evenly(problem)
    if (bound := cost_bound(problem, solution.proof)) != solution.cost:
        msg = f"bound {bound} does not meet the counts' value {solution.cost}"
        raise ProofError(msg)
    assignment = Assignment(hand_out(classes, solution.count))
    return assignment, _certificate(group, classes, problem, solution, assignment)


def count_problem(group: Group, classes: Classes) -> CountProblem:
    """Return the classes as items and the members as bins."""
    is_owned = np.not_equal(classes.edge_idx, ABSENT)
    is_read = np.not_equal(classes.class_idx, ABSENT)
    num_edges = len(classes.member_idx)
    supply = np.bincount(classes.class_idx[is_read], minlength=classes.num_classes)
    price = classes.price
    if price is not None:
        # A replica in the rack is worth more than all moves together.
        price = price * (int(is_owned.sum()) + 1)
    return CountProblem(
        num_bins=group.num_members,
        class_start=classes.start,
        edge_bin=classes.member_idx,
        supply=supply.astype(np.int64),
        home=np.bincount(classes.edge_idx[is_owned], minlength=num_edges),
        price=price,
    )


def _certificate(
    group: Group,
    classes: Classes,
    problem: CountProblem,
    solution: CountSolution,
    assignment: Assignment,
) -> Certificate:
    proof = solution.proof
    peak, highest = peak_bound(problem, proof.peak_bins), solution.load.max(initial=0)
    if peak != highest:
        msg = f"bound {peak} does not meet the largest load {highest}"
        raise ProofError(msg)
    value = busiest_value(group, assignment)
    members = [group.members.ids[member] for member in proof.peak_bins.tolist()]
    # Members revoke partitions they no longer subscribe to in any assignment.
    given_up = num_given_up(group, classes)
    # With prices, the proof covers the cost and not the number of moves.
    least = given_up + (solution.moves if problem.price is None else 0)
    return Certificate(
        busiest=Bounded(
            value=value,
            lower_bound=value,
            proof=Proof(kind="flow-dual", witness={"members": members}),
        ),
        moved=bound_moved(
            group,
            assignment,
            least,
            Proof(kind="flow-dual", witness={"cost": solution.cost}),
        ),
    )


def num_given_up(group: Group, classes: Classes) -> int:
    """Return the number of partitions whose owner no longer reads their topic."""
    is_left = np.zeros(group.num_partitions, dtype=np.bool_)
    is_left[group.owned.idx] = True
    is_left &= np.not_equal(classes.class_idx, ABSENT)
    is_left &= np.equal(classes.owner_idx, ABSENT)
    return int(np.count_nonzero(is_left))
