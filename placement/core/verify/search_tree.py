"""
Re-check a bound of branch and bound: prices of load at every leaf of its tree.

At a node two cases are told apart: an item of a group, or its role, lies in a bin, or
it does not. What every leaf proves of its cases all arrangements have in common; rows
that rounding proves hold in all cases. This module imports the problem, and what checks
prices and such rows, and nothing else of the core.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.verify.load_prices import (
    is_impossible,
    verify_distance,
    verify_prices,
)
from placement.core.verify.mir_cuts import rounded_rows
from placement.core.verify.price_witness import Fixing, Known

IntArray = npt.NDArray[np.int64]
Leaf = Mapping[str, Any]
NO_ARRANGEMENT = float("inf")


def verify_tree(
    problem: Problem, lower: IntArray, upper: IntArray, witness: Mapping[str, Any]
) -> int:
    """
    Return the cost that a tree of cases proves.

    Parameters
    ----------
    problem
        What the bound is about.
    lower, upper
        ``(N, R)`` the bands for which it is claimed.
    witness
        ``nodes``, the root first. A branch has ``group``, ``bin``, ``role`` (whether it
        is about the group's role), and ``there`` and ``elsewhere``: rows of nodes that
        come later. A leaf has prices as `verify_prices` takes them, or is empty where
        its cases cannot be. ``cuts``, if there are any: rows that may have prices, as
        `verify_rounding.rounded_rows` takes them.
    """
    rows = rounded_rows(problem, lower, upper, witness.get("cuts", ()))

    def proven(leaf: Leaf, fixings: tuple[Fixing, ...]) -> float:
        return verify_prices(problem, lower, upper, leaf, known=Known(fixings, rows))

    least = _least(problem, witness["nodes"], proven)
    return 0 if least == NO_ARRANGEMENT else int(least)


def verify_distance_tree(problem: Problem, witness: Mapping[str, Any]) -> float:
    """
    Return the distance outside the bands that a tree of cases proves.

    Where the witness has a ``distance``, its prices are about bands that are wider by
    that much: if something stays outside of these, nothing comes as near.
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
    """Return ``(N, R)`` ends of bands, so many targets further; loads are whole."""
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
    """Return the least that any leaf proves; 0 where the tree is none."""
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
