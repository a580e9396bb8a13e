"""
Branch and bound with a witness for `core.verify.search_tree`: prices at every leaf.

Best-first search on the linear relaxation of the exact model: each branch fixes a
fractional pair of group and bin, until every leaf reaches the cost of the incumbent.
The bounds of the leaves follow from their duals, in exact integers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from placement.array_types import BoolArray, FloatArray
from placement.core.bounds.cover_bounds import Bands, aimed_bands
from placement.core.exact.linear.lp_columns import Rows, Tables, duals_of, whole_prices
from placement.core.exact.linear.mir_cuts import Cut, separated
from placement.core.exact.linear.node_lp import FORCE, LeafProgram, Vertex
from placement.core.model.problem import Movability, Problem
from placement.core.model.solution import Proof
from placement.core.verify.load_prices import (
    is_impossible,
    verify_distance,
    verify_prices,
)
from placement.core.verify.mir_cuts import RoundedRow, rounded_rows
from placement.core.verify.price_witness import Fixing, Known
from placement.core.verify.search_tree import widened_ends

WHOLE = 1e-6
"""Largest distance from 0 and 1 of a column that counts as integral."""
CLOSE = 1e-9
NEARLY = 1 - 1e-6
"""Share of an answer's distance (0-1) that is enough: relaxations are inexact."""
FEWER = 4
"""Divisor of the leaf limit for the first tree, before wider bands are tried."""
WIDTHS = 4
"""Largest number of widths of the bands to try."""
ANYTHING = 1e-12
"""Smallest distance that counts as positive."""
ROUNDS = 10
"""Largest number of rounds of cuts at the root."""
IsOver = Callable[[], bool]
NO_PRICES = {"denominator": 1, "above": [], "below": []}


def branched_cost(
    problem: Problem,
    bands: Bands,
    enough: int,
    most_leaves: int,
    is_over: IsOver = lambda: False,
) -> tuple[int, Proof | None]:
    """
    Return a lower bound on the cost of moving, and the tree that proves it.

    Parameters
    ----------
    problem
        Problem to bound; `model_scaling.fits_prices` must hold.
    bands
        Bands for which the bound holds.
    enough
        Cost of a known answer.
    most_leaves
        Largest number of leaves.
    is_over
        Function that returns whether to end now, with the bound of the tree so far.
    """
    tree = _Tree(problem, bands, copy=problem.least_price)
    value, proof = tree.grown(enough, most_leaves, is_over)
    return int(value), proof


def branched_distance(
    problem: Problem, enough: float, most_leaves: int, is_over: IsOver = lambda: False
) -> tuple[float, Proof | None]:
    """
    Return a lower bound on the distance outside the bands, and its proof.

    Cuts hardly tighten the least distance of a relaxation. Proving wider bands
    infeasible gives a larger bound: this starts with bands as wide as the answer needs,
    then tries narrower ones.
    """
    tree = _Tree(problem, aimed_bands(problem), copy=0)
    if not np.isfinite(enough):
        return tree.grown(enough, most_leaves, is_over)
    best, proof = tree.grown(enough, most_leaves // FEWER, is_over)
    nearest, furthest = best, enough * NEARLY
    tried = furthest
    for _ in range(WIDTHS):
        if tried <= best or is_over():
            break
        beyond = _proven_beyond(problem, tried, most_leaves, is_over)
        if beyond is None:
            furthest = tried
        else:
            best, proof, nearest = tried, beyond, tried
        tried = (nearest + furthest) / 2
    return best, proof


def _proven_beyond(
    problem: Problem, distance: float, most_leaves: int, is_over: IsOver
) -> Proof | None:
    """Return a proof that no arrangement is within a distance; `None`: not proven."""
    ends = widened_ends(problem, distance)
    aimed = aimed_bands(problem)
    has_band = problem.bins.target > 0
    bands = Bands(
        np.where(has_band, ends[0], aimed.lower),
        np.where(has_band, ends[1], aimed.upper),
    )
    value, proof = _Tree(problem, bands, copy=0).grown(ANYTHING, most_leaves, is_over)
    if proof is None or value <= 0:
        return None
    witness = proof.witness
    tree = witness if "nodes" in witness else {"nodes": [witness]}
    return Proof(kind="milp-dual", witness={**tree, "distance": distance})


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """Node of the tree: its fixings, its bound with witness, and its branching pair."""

    fixings: tuple[Fixing, ...]
    value: float
    leaf: dict[str, Any]
    split: tuple[int, int, bool] | None
    vertex: Vertex | None = None


def _both(case: _Case) -> tuple[tuple[Fixing, ...], ...]:
    """Return the fixings of both children of a node: in the bin, and not in it."""
    assert case.split is not None  # noqa: S101 - as the caller made sure
    group, b, is_role = case.split
    return tuple(
        (*case.fixings, Fixing(group, b, is_role, is_there))
        for is_there in (True, False)
    )


def _cut_entry(cut: Cut) -> dict[str, Any]:
    """Return a cut as an entry of the witness."""
    return {
        "bin": cut.bin,
        "resource": cut.resource,
        "side": "lower" if cut.is_lower else "upper",
        "divisor": cut.divisor,
        "items": list(cut.items),
        "roles": list(cut.roles),
    }


class _Tree:
    def __init__(self, problem: Problem, bands: Bands, copy: int) -> None:
        self._problem, self._bands, self._copy = problem, bands, copy
        tables = Tables.of(problem)
        target = problem.bins.target
        self._unit = np.where(target > 0, target, 1.0)
        self._scale = max(float(problem.cost.max(initial=1)), 1.0)
        self._rows = Rows(problem, tables, self._columns(tables))
        copies = self._rows.costs() / self._scale if copy else np.zeros(len(self._rows))
        force = FORCE if copy else 1.0
        self._program = LeafProgram(self._rows, bands, self._unit, copies, force)
        self._cuts: list[Cut] = []
        self._rounded: list[RoundedRow] = []

    def grown(
        self, enough: float, most_leaves: int, is_over: IsOver
    ) -> tuple[float, Proof | None]:
        """Branch until all leaves reach `enough`; return the bound and its proof."""
        first = self._root(enough, is_over)
        cases, nodes = [first], [first.leaf]
        waiting = [(first.value, 0)]
        while waiting[0][0] < enough * (1 - CLOSE) and len(nodes) < 2 * most_leaves:
            row = waiting[0][1]
            if cases[row].split is None or is_over():
                break
            heappop(waiting)
            nodes[row] = self._branch(cases[row], len(nodes))
            for fixings in _both(cases[row]):
                case = self._case(fixings, cases[row].leaf)
                heappush(waiting, (case.value, len(nodes)))
                cases.append(case)
                nodes.append(case.leaf)
        value = waiting[0][0]
        if not 0 < value < float("inf"):
            return 0, None
        if len(nodes) == 1 and not self._cuts:
            return value, Proof(kind="lambda", witness=nodes[0])
        cuts = {"cuts": [_cut_entry(cut) for cut in self._cuts]} if self._cuts else {}
        return value, Proof(kind="milp-dual", witness={"nodes": nodes, **cuts})

    def _root(self, enough: float, is_over: IsOver) -> _Case:
        """Solve the root, and add cuts for some rounds."""
        case = self._case((), NO_PRICES)
        for _ in range(ROUNDS):
            if case.vertex is None or case.value >= enough * (1 - CLOSE):
                break
            if is_over() or not self._cut(case.vertex):
                break
            case = self._case((), case.leaf)
        return self._without_loose(case)

    def _without_loose(self, case: _Case) -> _Case:
        """Drop cuts without a price at the root: every node would carry them."""
        sold = dict(case.leaf.get("rounded", ()))
        kept = np.zeros(len(self._cuts), dtype=np.bool_)
        kept[list(sold)] = True
        if case.vertex is not None:
            kept[: len(case.vertex.of_cuts)] |= case.vertex.of_cuts != 0
        if kept.all():
            return case
        self._program.keep(kept)
        places = np.nonzero(kept)[0].tolist()
        self._cuts = [self._cuts[place] for place in places]
        self._rounded = [self._rounded[place] for place in places]
        prices = [[row, sold[p]] for row, p in enumerate(places) if p in sold]
        return replace(case, leaf={**case.leaf, "rounded": prices})

    def _cut(self, vertex: Vertex) -> bool:
        """Add cuts that separate a vertex; return whether there were any."""
        if len(self._problem.extra):
            return False
        problem, bands, known = self._problem, self._bands, set(self._cuts)
        deepest = separated(problem, self._rows, bands, vertex.columns, vertex.outside)
        made = [row for row in deepest if row.cut not in known]
        for row in made:
            self._program.add(row)
        cuts = [row.cut for row in made]
        self._cuts += cuts
        cut_rows = [_cut_entry(cut) for cut in cuts]
        self._rounded += rounded_rows(problem, bands.lower, bands.upper, cut_rows)
        return bool(made)

    def _branch(self, case: _Case, row: int) -> dict[str, Any]:
        assert case.split is not None  # noqa: S101 - as the caller made sure
        group, b, is_role = case.split
        node = {"group": group, "bin": b, "role": is_role}
        return {**node, "there": row, "elsewhere": row + 1}

    def _case(self, fixings: tuple[Fixing, ...], above: dict[str, Any]) -> _Case:
        """
        Solve the relaxation of a node, and compute the bound of its duals.

        `above`: prices of the parent node, which are valid here, too.
        """
        if is_impossible(self._problem, fixings):
            return _Case(fixings, float("inf"), {}, None)
        inherited, found = self._proven(above, fixings), self._program.solved(fixings)
        if found is None:
            return _Case(fixings, inherited, above, None)
        leaf = self._priced(found)
        value, split = self._proven(leaf, fixings), self._split(found.columns)
        if value < inherited:
            return _Case(fixings, inherited, above, split, found)
        return _Case(fixings, value, leaf, split, found)

    def _priced(self, found: Vertex) -> dict[str, Any]:
        """Return the duals of a vertex as integer prices."""
        scale = self._scale if self._copy else 1.0
        prices = duals_of(found.marginals * scale, self._program.place, self._unit)
        rounded = [
            (max(-marginal, 0.0) * scale / self._unit[row.bin, row.resource], row.most)
            for marginal, row in zip(found.of_cuts.tolist(), self._rounded, strict=True)
        ]
        return whole_prices(self._problem, prices, self._copy, rounded)

    def _proven(self, leaf: dict[str, Any], fixings: tuple[Fixing, ...]) -> float:
        known = Known(fixings, self._rounded)
        ends = self._bands.lower, self._bands.upper
        if not self._copy:
            return verify_distance(self._problem, leaf, known, ends)
        return verify_prices(self._problem, *ends, leaf, known=known)

    def _columns(self, tables: Tables) -> BoolArray:
        """Return ``(G, N)`` pairs with columns: for fixed groups, their own bins."""
        may_move = np.zeros(self._problem.num_groups, dtype=np.bool_)
        free = np.not_equal(self._problem.movability, Movability.NEVER)
        may_move[self._problem.group_of[free]] = True
        pairs: BoolArray = tables.may & (tables.is_home | may_move[:, None])
        return pairs

    def _split(self, columns: FloatArray) -> tuple[int, int, bool] | None:
        """Return the most fractional pair of group and bin, items before roles."""
        rows, num_bins = self._rows, self._problem.num_bins
        pair = rows.groups * num_bins + rows.bins
        pairs, place = np.unique(pair, return_inverse=True)
        for is_role in (False, True):
            part = columns * (rows.leads if is_role else 1.0)
            share = np.bincount(place.reshape(-1), part, len(pairs))
            worth = np.minimum(share, 1 - share)
            if worth.max(initial=0.0) > WHOLE:
                worth *= self._problem.cost[pairs // num_bins] / self._scale + WHOLE
                group, b = divmod(int(pairs[np.argmax(worth)]), num_bins)
                return group, b, is_role
        return None
