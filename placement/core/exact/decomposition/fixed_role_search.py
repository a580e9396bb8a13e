"""
Search for places node by node, with each role fixed to its present node.

If places found without roles admit no roles within the bands, each node keeps the roles
it has in a known answer. Its loads are then exact, and the node is solved alone. The
search alternates between places and roles: between two searches, roles return to their
initial holders as far as possible, which gives the nodes other roles.
"""

from collections.abc import Sequence

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.cp_sat.placement_variables import (
    Pair,
    arranged,
    places_in,
    with_roles_kept,
)
from placement.core.exact.cp_sat.roles_model import roles_within
from placement.core.exact.one_node.node_relaxation import solve_relaxation
from placement.core.exact.one_node.node_rows import NodeRows
from placement.core.exact.one_node.node_search import NodeSearch
from placement.core.exact.separable_levels import NodeBins
from placement.core.exact.time_limits import Limits
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import NOWHERE, Problem

TURNS = 3
"""Largest number of searches over all nodes."""
TURN = 0.7
"""Share of the remaining work for one search, except the last (0-1)."""
ROLES = 0.1
"""Share of the work for the roles between two searches (0-1)."""
WORTH_IT = 1e-4
"""Share of the cost that a search must save for another one (0-1)."""


class FixedRoles:
    """
    Search that lowers the cost within the bands, alternating places and roles.

    Parameters
    ----------
    problem, nodes
        Problem and its separable nodes, from `separable_nodes`.
    bands
        Bounds of the loads.
    spread_from
        Arrangement whose counts of a collection per bin, or the soft caps if larger,
        are upper limits.
    closed
        Relative gap at which a node counts as optimal.
    """

    def __init__(
        self,
        problem: Problem,
        nodes: Sequence[NodeBins],
        bands: Bands,
        spread_from: Arrangement,
        closed: float,
    ) -> None:
        self._problem, self._nodes, self._bands = problem, nodes, bands
        self._spread_from, self._closed = spread_from, closed
        self.spent = 0.0

    def improved(self, at: Arrangement, limits: Limits) -> Arrangement:
        """
        Return an arrangement within the bands that costs no more.

        Parameters
        ----------
        at
            Arrangement within the bands: the first incumbent.
        limits
            Work and time limits of all turns.
        """
        work, left = limits
        cost = evaluate(self._problem, at).cost
        for turn in range(TURNS):
            part = TURN if turn < TURNS - 1 else 1.0
            at = self._searched(at, ((work - self.spent) * part, left))
            before, cost = cost, evaluate(self._problem, at).cost
            if before - cost <= cost * WORTH_IT or self.spent >= work:
                break
            given, used = roles_within(
                self._problem,
                at,
                self._bands,
                self._spread_from,
                work * ROLES,
                left(),
            )
            self.spent += used
            at = at if given is None else given
        return at

    def _searched(self, at: Arrangement, limits: Limits) -> Arrangement:
        """Search each node for cheaper places with its present roles."""
        work, left = limits
        places, end = places_in(self._problem, at), self.spent + work
        leads_at = _bins_of_roles(self._problem, at)
        for number, node in enumerate(self._nodes):
            share = (end - self.spent) / (len(self._nodes) - number)
            leads = np.isin(leads_at, node.bins)
            rows = NodeRows(self._problem, self._bands, node, self._spread_from, leads)
            columns = rows.columns_of(at)
            found = self._of_node(rows, columns, (share, left))
            places = (places - rows.pairs(columns)) | rows.pairs(found)
        return _with_roles(self._problem, self._nodes, places, leads_at)

    def _of_node(self, rows: NodeRows, columns: BoolArray, limits: Limits) -> BoolArray:
        """Return the columns of a node after its search."""
        relaxed = solve_relaxation(rows)
        if relaxed is None or not rows.holds(columns):
            return columns
        search = NodeSearch(rows, relaxed, self._closed)
        found = search.searched(columns, limits)
        self.spent += found.spent
        return found.columns


def _bins_of_roles(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(G,)`` bin of each role holder; `NOWHERE`: none."""
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
    """Return an arrangement in which each role stays in its node."""
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
