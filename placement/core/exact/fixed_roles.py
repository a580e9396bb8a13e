"""
Search of the places of all nodes, each role staying in the node where it is.

Where places found without roles leave no roles within the bands, every node is given
the roles it has in a known answer: its loads are exact then, and it is solved alone.
Roles and places take turns: between two searches as many roles as can be go back to
whom held them, which leaves each node others.
"""

from collections.abc import Sequence

import numpy as np

from placement.core.arrangement import Arrangement
from placement.core.bounds import Bands
from placement.core.exact.node_relaxation import solve_relaxation
from placement.core.exact.node_rows import NodeRows
from placement.core.exact.node_search import searched
from placement.core.exact.roles_model import roles_within
from placement.core.exact.separable import NodeBins
from placement.core.exact.work_limits import Limits
from placement.core.exact_places import Pair, arranged, places_in, with_roles_kept
from placement.core.problem import NOWHERE, IntArray, Problem
from placement.core.value import evaluate

TURNS = 3
"""Searches of all nodes."""
ROLES = 0.1
"""Part of the work for the roles between two of them."""
WORTH_IT = 1e-4
"""Part of the cost that a turn has to save for another one."""


def cheaper_in_turns(
    problem: Problem,
    nodes: Sequence[NodeBins],
    known: tuple[Arrangement, Arrangement],
    bands: Bands,
    limits: Limits,
    closed: float,
) -> tuple[Arrangement, float]:
    """
    Lower the cost within the bands; return the work it took as well.

    Parameters
    ----------
    problem, nodes
        The problem and its separable nodes, from `separable_nodes`.
    known
        An answer within the bands, and the arrangement whose counts of a collection
        per bin, or the soft caps if larger, are upper limits.
    bands
        Bounds of the loads.
    limits
        Work and time limits.
    closed
        Relative gap at which a node counts as optimal.
    """
    at, spread_from = known
    work, left = limits
    spent, cost = 0.0, evaluate(problem, at).cost
    for turn in range(TURNS):
        share = (work - spent) / (TURNS - turn)
        found, used = _searched(
            problem, nodes, (at, spread_from), bands, (share, left), closed
        )
        spent += used
        before, at, cost = cost, found, evaluate(problem, found).cost
        if before - cost <= cost * WORTH_IT or spent >= work:
            break
        given, used = roles_within(problem, at, bands, work * ROLES)
        spent += used
        at = at if given is None else given
    return at, spent


def _searched(
    problem: Problem,
    nodes: Sequence[NodeBins],
    known: tuple[Arrangement, Arrangement],
    bands: Bands,
    limits: Limits,
    closed: float,
) -> tuple[Arrangement, float]:
    """Search each node for cheaper places, with the roles that it has."""
    at, spread_from = known
    places, spent = places_in(problem, at), 0.0
    leads_at = _bins_of_roles(problem, at)
    for number, node in enumerate(nodes):
        leads = np.isin(leads_at, node.bins)
        rows = NodeRows(problem, bands, node, spread_from, leads)
        relaxed, columns = solve_relaxation(rows), rows.columns_of(at)
        if relaxed is None or not rows.holds(columns):
            continue
        share = (limits[0] - spent) / (len(nodes) - number)
        found, used = searched(rows, relaxed, columns, closed, (share, limits[1]))
        spent += used
        places = (places - rows.pairs(columns)) | rows.pairs(found)
    return _with_roles(problem, nodes, places, leads_at), spent


def _bins_of_roles(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(G,)`` the bin of the item with the role, `NOWHERE`: none."""
    leads_at = np.full(problem.num_groups, NOWHERE, dtype=np.int64)
    has_role = np.not_equal(at.role_of, NOWHERE)
    leads_at[has_role] = at.bin_of[at.role_of[has_role]]
    return leads_at


def _with_roles(
    problem: Problem,
    nodes: Sequence[NodeBins],
    places: set[Pair],
    leads_at: IntArray,
) -> Arrangement:
    """Return an arrangement in which each role is in the node where it was."""
    node_of = np.full(problem.num_bins, NOWHERE, dtype=np.int64)
    for number, node in enumerate(nodes):
        node_of[list(node.bins)] = number
    stay = {(g, b) for g, b in enumerate(leads_at.tolist()) if (g, b) in places}
    stayed = {group for group, _ in stay}
    holders = stay | {
        (group, b)
        for group, b in places
        if leads_at[group] >= 0
        and group not in stayed
        and node_of[b] == node_of[leads_at[group]]
    }
    return with_roles_kept(problem, arranged(problem, places, holders))
