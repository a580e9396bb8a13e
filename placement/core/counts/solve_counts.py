"""
Placement of interchangeable items on bins: most even loads first, then least cost.

The cost is the sum of moves, of the prices of edges, and of the deviations of the
counts from the target interval of each class and bin.

Items of a class weigh the same and may be in the same bins, so only the number of items
of each class in each bin matters. Loads are *as even as possible* (decreasingly
minimal) if the largest load is least, then the number of bins with it, then the second
largest load, and so on. All such loads have the same sorted values and the least sum of
any convex function of the loads.

Maximum flows between bins above and below the mean of their part either even out the
part or split it into two that cannot exchange items [1]_ [2]_. Successive shortest
paths from the present bins then minimise the cost: a least-cost flow whose potentials
are the proof.

References
----------
.. [1] Frank, A. and Murota, K. (2022). Decreasing minimization on M-convex sets:
       background and structures. *Mathematical Programming* 195: 977-1025.
       https://doi.org/10.1007/s10107-021-01722-2
.. [2] Harvey, N. J. A., Ladner, R. E., Lovász, L. and Tamir, T. (2006). Semi-matchings
       for bipartite graphs and load balancing. *Journal of Algorithms* 59(1): 53-78.
       https://doi.org/10.1016/j.jalgor.2005.01.003
"""

from placement.core.counts.count_flow import LoadBounds, bounds_of, even_out, least_cost
from placement.core.counts.count_network import Network
from placement.core.counts.count_problem import CountProblem, CountSolution


def solve_evenly(problem: CountProblem) -> CountSolution:
    """
    Place the items as evenly as possible, at least cost among such placements.

    Notes
    -----
    Exact. Ties go to the lowest bins and edges; equal problems give equal answers.
    """
    even = even_out(problem, Network.of(problem))
    return least_cost(problem, bounds_of(even), even.count)


def even_bounds(problem: CountProblem) -> LoadBounds:
    """Return the bounds of the loads in every placement that is as even as possible."""
    return bounds_of(even_out(problem, Network.of(problem)))
