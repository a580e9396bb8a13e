"""
Interchangeable items on bins: as even as can be, then as cheap as can be.

The cost is the sum of moves, of the prices of edges, and of the deviations of the
counts from the target interval of each class and bin.

Items of a class weigh the same and may lie in the same bins, so only how many of each
class lie in each bin matters. Loads are *as even as can be* when the largest is least,
then as few bins as possible have it, then the second largest is least, and so on:
decreasingly minimal. All such loads have the same sorted values, and the least sum of
any convex function of the loads.

Evenness is found by maximum flows between bins above and below the mean of their part,
which either even the part out or split it in two that have nothing to exchange
[1]_ [2]_. The cost is then made least by successive shortest paths from where the items
are: a least-cost flow whose potentials are the proof.

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
    Place the items as evenly as can be, and among such placements most cheaply.

    Notes
    -----
    Exact. Ties go to the lowest bins and edges; the same problem gives the same answer.
    """
    even = even_out(problem, Network.of(problem))
    return least_cost(problem, bounds_of(even), even.count)


def even_bounds(problem: CountProblem) -> LoadBounds:
    """Return the bounds of the loads in every placement that is as even as can be."""
    return bounds_of(even_out(problem, Network.of(problem)))
