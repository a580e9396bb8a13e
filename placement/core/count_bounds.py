"""
Bounds on counts, computed again from their witnesses.

Stands on `core.counts` alone, not on the flows that found them.
"""

import numpy as np
import numpy.typing as npt

from placement.core.count_problem import CountProblem, CountProof, IntArray, sum_by


def peak_bound(problem: CountProblem, bins: IntArray) -> int:
    """
    Return what the largest load is at least, by a set of bins.

    Items of classes whose bins are all in the set lie there in any placement: one of
    the bins holds at least the mean of them.
    """
    return -(-_held(problem, bins) // len(np.unique(bins))) if len(bins) else 0


def share_bound(
    problem: CountProblem, bins: IntArray, capacity: npt.NDArray[np.float64]
) -> float:
    """Return what the largest load over capacity is at least, by a set of bins."""
    held = _held(problem, bins)
    return held / float(capacity[bins].sum()) if len(bins) else 0.0


def _held(problem: CountProblem, bins: IntArray) -> int:
    """Return the items of classes whose bins are all in a set."""
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
    Return what loads cost at least that are as even as can be.

    Notes
    -----
    With :math:`p_e` the price of an edge, dual values :math:`u_k` of classes and
    :math:`v_b` of bins such that :math:`w_e = u_k - v_b - p_e \le 1` on open edges, the
    prices and the items that lie where they were not come to at least
    :math:`\sum_k u_k n_k - \sum_e h_e \max(w_e, 0) - \sum_b \max(v_b l_b, v_b h_b)`, by
    weak duality of the least-cost flow. Items that had no bin are taken off. All dual
    values may rise by one amount; the best of these is taken.
    """
    class_price, bin_price = -proof.class_potential, -proof.bin_potential
    edge_class = problem.edge_class
    worth = class_price[edge_class] - bin_price[problem.edge_bin]
    if problem.price is not None:
        worth = worth - problem.price
    if (worth[proof.is_open] > 1).any():
        return 0
    home = np.where(proof.is_open, problem.home, 0)
    at_home = int((home * np.maximum(worth, 0)).sum())
    newcomers = int(problem.supply.sum() - problem.home.sum())
    best = 0
    for rise in np.unique(-bin_price).tolist():
        price = bin_price + rise
        full = np.maximum(price * proof.lowest, price * proof.highest).sum()
        bound = int(((class_price + rise) * problem.supply).sum()) - at_home - int(full)
        best = max(best, bound - newcomers)
    return best
