"""Distance of each separable node from its bands, minimised node by node by CP-SAT."""

from collections.abc import Sequence

from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.cp_sat.placement_variables import places_in
from placement.core.exact.cp_sat.spread_rows import keep_spread
from placement.core.exact.decomposition.node_solutions import NodeSolutions
from placement.core.exact.separable_levels import NodeBins
from placement.core.exact.time_limits import LEAST_WORK, Limits
from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.objective import distances, evaluate
from placement.core.model.problem import Problem

PART = 0.5
"""Share of the remaining work for the distance problem of one node (0-1)."""


def nearest_by_node(
    problem: Problem,
    nodes: Sequence[NodeBins],
    at: Arrangement,
    limits: Limits,
    spread_from: Arrangement | None = None,
) -> NodeSolutions:
    """
    Minimise the distance of each node from its bands, in order of decreasing distance.

    The distance of a node is not reduced below the largest one of the nodes before it.

    Parameters
    ----------
    problem, nodes
        Problem and its separable nodes, from `separable_nodes`.
    at
        Current arrangement: the first incumbent.
    limits
        Work and time limits of all nodes together.
    spread_from
        Arrangement whose counts of a collection per bin, or the soft caps if larger,
        are upper limits; `None`: no limits.
    """
    known = evaluate(problem, at).cost
    found, reached = NodeSolutions(places_in(problem, at), known), 0.0
    off = distances(problem, loads(problem, at)).max(axis=1)
    far = [float(off[list(inside.bins)].max(initial=0.0)) for inside in nodes]
    for node in sorted(range(len(nodes)), key=lambda node: -far[node]):
        # The largest distance of any node counts: the remaining nodes are near enough.
        if far[node] <= reached:
            break
        work = max((limits[0] - found.spent) * PART, LEAST_WORK)
        model = BandsModel(problem, None, nodes[node])
        model.suggest(at)
        if spread_from is not None:
            keep_spread(model, problem, spread_from)
        objective = model.distance(far[node], reached)
        solved = model.least_value(objective, work, limits[1]())
        found.spent += model.spent
        if solved is None:
            reached = far[node]
            continue
        found.take_places(nodes[node], model.places(model.solver))
        least, value = (
            solved[0] / model.fineness,
            model.solver.objective_value / model.fineness,
        )
        if least > reached:
            found.deviation = max(found.deviation, least)
        reached = max(reached, value)
    return found
