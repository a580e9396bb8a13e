"""
Bounds on counts, computed again from their witnesses.

Imports `core.counts.count_problem` alone, not the flows that find the witnesses.
"""

import numpy as np
import numpy.typing as npt

from placement.array_types import IntArray
from placement.core.counts.count_problem import CountProblem, CountProof, sum_by


def peak_bound(problem: CountProblem, bins: IntArray) -> int:
    """
    Return a lower bound on the largest load from a set of bins.

    In any placement, the set holds all items of the classes whose bins are all in the
    set. So one of the bins holds at least their mean.
    """
    return -(-_held(problem, bins) // len(np.unique(bins))) if len(bins) else 0


def share_bound(
    problem: CountProblem, bins: IntArray, capacity: npt.NDArray[np.float64]
) -> float:
    """Return a lower bound on the largest load over capacity from a set of bins."""
    held = _held(problem, bins)
    return held / float(capacity[bins].sum()) if len(bins) else 0.0


def _held(problem: CountProblem, bins: IntArray) -> int:
    """Return the number of items of classes whose bins are all in a set."""
    is_inside = np.zeros(problem.num_bins, dtype=np.bool_)
    is_inside[bins] = True
    num_inside = sum_by(
        is_inside[problem.edge_bin].astype(np.int64),
        problem.edge_class,
        problem.num_classes,
    )
    is_held = np.equal(num_inside, np.diff(problem.class_start))
    return int(problem.supply[is_held].sum())


def cost_bound(problem: CountProblem, proof: CountProof) -> int:
    r"""
    Return a lower bound on the cost of placements that are as even as possible.

    Notes
    -----
    An edge that holds :math:`c` items costs :math:`f_e(c)`: the price of each, 1 for
    each beyond those at home, and the share price for each beyond either end of the
    share. With dual values :math:`u_k` of classes and :math:`v_b` of bins the edges
    cost at least :math:`\sum_k u_k n_k + \sum_e \min_c (f_e(c) - (u_k - v_b) c) -
    \sum_b \max(v_b l_b, v_b h_b)`, by weak duality of the least-cost flow. The minimum
    of a piecewise linear convex function is at a breakpoint. Items without a home are
    no moves, and items up to the lower end of a share are not outside it: both are
    subtracted. The bound is the best over adding one constant to all dual values.
    """
    class_price, bin_price = -proof.class_potential, -proof.bin_potential
    on_edges = _least_on_edges(problem, proof, class_price, bin_price)
    if on_edges is None:
        return 0
    items = int(problem.supply.sum())
    newcomers = items - int(problem.home.sum())
    within = problem.share_price * (items - int(problem.shares[0].sum()))
    best = 0
    for rise in np.unique(-bin_price).tolist():
        price = bin_price + rise
        full = np.maximum(price * proof.lowest, price * proof.highest).sum()
        bound = (
            int(((class_price + rise) * problem.supply).sum()) + on_edges - int(full)
        )
        best = max(best, bound - newcomers - within)
    return best


def _least_on_edges(
    problem: CountProblem,
    proof: CountProof,
    class_price: IntArray,
    bin_price: IntArray,
) -> int | None:
    """Return the least reduced cost of all open edges; `None` if unbounded."""
    edges = proof.is_open
    worth = (class_price[problem.edge_class] - bin_price[problem.edge_bin])[edges]
    price = 0 if problem.price is None else problem.price[edges]
    if (worth > price + 1 + 2 * problem.share_price).any():
        return None
    home, low, high = (m[edges] for m in (problem.home, *problem.shares))

    def cost(count: IntArray) -> IntArray:
        beyond = np.maximum(count - low, 0) + np.maximum(count - high, 0)
        paid: IntArray = np.maximum(count - home, 0) + (price - worth) * count
        paid += problem.share_price * beyond
        return paid

    nothing = np.zeros(len(worth), dtype=np.int64)
    least = np.minimum.reduce([cost(count) for count in (nothing, home, low, high)])
    return int(least.sum())
