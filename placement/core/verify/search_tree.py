"""
Verify a branch-and-bound bound from prices of load at every leaf of the tree.

A node branches on an item of a group, or its role: in a bin, or not in the bin. The
smallest bound of all leaves holds for every arrangement. Rounding cuts hold at every
node. Imports the problem and the verifiers of prices and cuts alone.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from placement.array_types import IntArray
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.verify.load_prices import (
    is_impossible,
    verify_distance,
    verify_prices,
)
from placement.core.verify.mir_cuts import rounded_rows
from placement.core.verify.price_witness import Fixing, Known

Leaf = Mapping[str, Any]
NO_ARRANGEMENT = float("inf")


def verify_tree(
    problem: Problem, lower: IntArray, upper: IntArray, witness: Mapping[str, Any]
) -> int:
    """
    Return the lower bound on cost that a branch-and-bound tree proves.

    Parameters
    ----------
    problem
        Problem whose arrangements the bound covers.
    lower, upper
        ``(N, R)`` ends of the bands for which the bound is claimed.
    witness
        ``nodes``, the root first. A branch has ``group``, ``bin``, ``role`` (whether it
        fixes the group's role), and ``there`` and ``elsewhere``: rows of later nodes. A
        leaf has the prices that `verify_prices` takes, or is empty where its fixings
        are infeasible. Optional ``cuts``: rounding cuts that may have prices, as
        `mir_cuts.rounded_rows` takes them.
    """
    rows = rounded_rows(problem, lower, upper, witness.get("cuts", ()))

    def proven(leaf: Leaf, fixings: tuple[Fixing, ...]) -> float:
        return verify_prices(problem, lower, upper, leaf, known=Known(fixings, rows))

    least = _least(problem, witness["nodes"], proven)
    return 0 if least == NO_ARRANGEMENT else int(least)


def verify_distance_tree(problem: Problem, witness: Mapping[str, Any]) -> float:
    """
    Return the lower bound on distance that a branch-and-bound tree proves.

    Where the witness has a ``distance``, its prices refer to bands widened by it. If no
    arrangement fits into the widened bands, that distance is a lower bound.
    """
    beyond = witness.get("distance")
    bands = widened_ends(problem, beyond or 0.0)
    rows = rounded_rows(problem, *bands, witness.get("cuts", ()))

    def proven(leaf: Leaf, fixings: tuple[Fixing, ...]) -> float:
        return verify_distance(problem, leaf, Known(fixings, rows), bands)

    least = _least(problem, witness["nodes"], proven)
    if least == NO_ARRANGEMENT:
        return 0.0
    if beyond is None:
        return least
    return float(beyond) if least > 0 else 0.0


def widened_ends(problem: Problem, distance: float) -> tuple[IntArray, IntArray]:
    """Return ``(N, R)`` ends of the bands, widened by a distance in targets."""
    bins = problem.bins
    lower, upper = bins.lower.copy(), bins.upper.copy()
    for b, r in np.argwhere(bins.target > 0).tolist():
        more = int(Fraction(distance) * Fraction(float(bins.target[b, r])))
        lower[b, r] = max(0, int(lower[b, r]) - more)
        upper[b, r] = min(NO_LIMIT, int(upper[b, r]) + more)
    return lower, upper


def _least(
    problem: Problem,
    nodes: Sequence[Mapping[str, Any]],
    proven: Callable[[Leaf, tuple[Fixing, ...]], float],
) -> float:
    """Return the smallest bound of all leaves; 0 if the tree is malformed."""
    waiting: list[tuple[int, tuple[Fixing, ...]]] = [(0, ())]
    least = NO_ARRANGEMENT
    while waiting:
        row, fixings = waiting.pop()
        node = nodes[row]
        if "group" not in node:
            least = min(least, _of_leaf(problem, node, fixings, proven))
            continue
        for is_there, name in ((True, "there"), (False, "elsewhere")):
            if not row < node[name] < len(nodes):
                return 0.0
            case = Fixing(node["group"], node["bin"], node["role"], is_there)
            waiting.append((node[name], (*fixings, case)))
    return least


def _of_leaf(
    problem: Problem,
    leaf: Leaf,
    fixings: tuple[Fixing, ...],
    proven: Callable[[Leaf, tuple[Fixing, ...]], float],
) -> float:
    if leaf:
        return proven(leaf, fixings)
    return NO_ARRANGEMENT if is_impossible(problem, fixings) else 0.0
