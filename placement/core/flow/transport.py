r"""
Counts alone, solved exactly as a transport problem of groups, nodes and bins.

If every item weighs the same in a resource, only the count of each bin matters. Groups
supply their items, nodes of the capped level and bins take them within caps and bands,
and an item that stays at home is free:

.. math::

    g \to (g, \text{node}) \to b \to \text{sink}, \quad
    0 \le f_{gb} \le 1, \quad l_b \le \sum_g f_{gb} \le u_b.

Such flows are integral, so the least-cost flow is the cheapest arrangement. Its
potentials are prices of a place in each bin, from which `core.verify.load_prices`
verifies optimality (docs/theory.md, "Counts as a minimum-cost flow"). Interchangeable
groups are one class in the network (`core.presolve.symmetry`).
"""

import numpy as np

from placement.array_types import IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.flow.transport_network import Network
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Problem
from placement.core.model.search_budget import Effort
from placement.core.model.solution import Proof
from placement.core.verify.load_prices import verify_prices

MAX_PAIRS = 50_000_000
"""Largest number of (group, bin) pairs, which limits the size of boolean tables."""


def counted_resource(problem: Problem) -> int | None:
    """Return the first resource with a band in which all items weigh the same."""
    for r in np.nonzero((problem.bins.target > 0).any(axis=0))[0].tolist():
        weight, role = problem.weight[:, r], problem.role_weight[:, r]
        is_same = bool((weight == weight.max(initial=0)).all()) and weight.any()
        if is_same and not role.any() and not problem.extra[:, r].any():
            return int(r)
    return None


def is_transport(problem: Problem) -> bool:
    """Return whether a flow of counts is a relaxation of a problem and small enough."""
    cap = problem.levels[0].group_cap
    return (
        0 < problem.num_groups * problem.num_bins <= MAX_PAIRS
        and counted_resource(problem) is not None
        and cap is not None
        and bool((cap == 1).all())
        and sum(level.group_cap is not None for level in problem.levels[1:]) <= 1
        and all(level.price == problem.price_across for level in problem.levels)
        and bool((problem.home >= 0).all())
    )


def is_counts_alone(problem: Problem) -> bool:
    """Return whether only counts of items and counts of roles are balanced."""
    if not is_transport(problem):
        return False
    counted = counted_resource(problem)
    for r in np.nonzero((problem.bins.target > 0).any(axis=0))[0].tolist():
        weight, role = problem.weight[:, r], problem.role_weight[:, r]
        is_role = not weight.any() and bool((role == role[0]).all())
        if r != counted and not is_role:
            return False
    return True


def solve_counts(problem: Problem, bands: Bands, most_cells: int) -> Arrangement | None:
    """
    Place the items by the least-cost flow.

    Parameters
    ----------
    problem
        Problem for which `is_transport` holds. Roles stay with their items; capacities
        of other resources are ignored. The soft caps on collections, beside the items
        already in a bin, are kept if feasible.
    bands
        Bands that the counted resource must keep.
    most_cells
        Largest number of choices of classes.

    Returns
    -------
    Arrangement of least cost, with few moves among equals; `None` if none is within the
    bands or the network is too large.
    """
    price = problem.cost * problem.price_across + problem.price_per_move
    # Drop the caps on collections before the bands.
    for minds_spread in {len(problem.collection_cap) > 0: None, False: None}:
        solved = _solved(problem, bands, price, (most_cells, minds_spread))
        if solved is not None:
            return solved[0].arrangement(solved[1])
    return None


def flow_proof(
    problem: Problem, bands: Bands, cost: IntArray, most_cells: int
) -> Proof | None:
    """
    Return prices that prove the cost of the cheapest flow; see `verify.load_prices`.

    Parameters
    ----------
    problem, bands, most_cells
        As for `solve_counts`.
    cost
        ``(G,)`` cost of a move; ones to bound the number of moves.
    """
    solved = _solved(problem, bands, cost, (most_cells, False))
    if solved is None:
        return None
    return Proof(kind="flow-dual", witness=solved[0].prices(solved[1]))


def flow_bound(
    problem: Problem,
    bands: Bands,
    effort: Effort,
    known: tuple[int, Proof | None],
    *,
    counts_moves: bool = False,
) -> tuple[int, Proof | None]:
    """
    Return a lower bound and its proof, by a flow over all bins if it proves more.

    Parameters
    ----------
    problem, bands
        As for `solve_counts`, but for any problem.
    effort
        Budget that limits the size of the flow.
    known
        Known bound and its proof.
    counts_moves
        Whether the bound is on the number of moves; else on their cost.
    """
    cells = effort.flow_cells
    if not is_counts_alone(problem):
        is_wanted = effort.proves_moves or problem.price_per_move > 0
        cells = effort.proof_cells if counts_moves and is_wanted else 0
    if not cells or not is_transport(problem):
        return known
    price = problem.cost * problem.price_across
    cost = np.ones_like(price) if counts_moves else price
    proof = flow_proof(problem, bands, cost, cells)
    if proof is None:
        return known
    lower, upper, witness = bands.lower, bands.upper, proof.witness
    value = verify_prices(problem, lower, upper, witness, counts_moves=counts_moves)
    return (value, proof) if value > known[0] else known


def _solved(
    problem: Problem, bands: Bands, cost: IntArray, how: tuple[int, bool]
) -> tuple[Network, IntArray] | None:
    """Return a network and its flow; `how`: size limit, and use of collection caps."""
    most_cells, minds_spread = how
    resource = counted_resource(problem)
    if resource is None:
        msg = "no resource in which all items weigh the same"
        raise ValueError(msg)
    # Full bins take no items in a cheap arrangement; allow that only if needed.
    for takes_all in (False, True):
        network = Network(
            problem,
            resource,
            bands,
            cost,
            takes_all=takes_all,
            minds_spread=minds_spread,
        )
        flow = network.solved(most_cells)
        if flow is not None:
            return network, flow
    return None
