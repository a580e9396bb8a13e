r"""
Decomposition by node: one integer program per node (rack) of a separable level.

A level is separable if each of its nodes holds a fixed number of items of each group,
as three racks do at replication factor 3. Only the roles then link the nodes. With
these links relaxed each node is an independent problem. The sum of the optimal costs
:math:`c_n` of the nodes is a lower bound on the cost, and an optimal solution of each
node is optimal for all nodes together if the roles can be assigned within the bands.
A single model needs a proof for every combination of solutions of its nodes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from placement.core.arrangement import Arrangement, loads
from placement.core.bounds import Bands
from placement.core.exact.bands_model import BandsModel, places_in
from placement.core.exact.inside import Inside
from placement.core.exact.spread_rows import keep_spread
from placement.core.exact_rules import Pair
from placement.core.problem import Problem
from placement.core.value import distances

PART = 0.5
"""Part of the remaining work available to the distance problem of one node."""
LEAST_WORK = 1e-3
"""Smallest limit of one solve, in deterministic seconds."""

Limits = tuple[float, Callable[[], float | None]]
"""Deterministic seconds, and a function that returns the seconds to the deadline."""


@dataclass(slots=True)
class Apart:
    """
    Incumbent and lower bounds of all nodes together.

    Parameters
    ----------
    places
        Pairs of group and bin that hold an item in the incumbent.
    spent
        Deterministic seconds of all solves.
    units
        Lower bound on the cost of moves into each node, in whole units per move.
    cost
        Lower bound on the cost of all nodes together, in units of `Problem.cost`.
    deviation
        Lower bound on the largest distance outside the bands, in targets.
    """

    places: set[Pair]
    spent: float = 0.0
    units: list[int] = field(default_factory=list)
    cost: int = 0
    deviation: float = 0.0


def cheapest_apart(
    problem: Problem,
    nodes: Sequence[Inside],
    at: Arrangement,
    bands: Bands,
    limits: Limits,
    spread_from: Arrangement | None = None,
) -> Apart:
    """
    Minimize the cost of each node within the bands.

    Parameters
    ----------
    problem, nodes
        The problem and its separable nodes, from `nodes_apart`.
    at
        Feasible solution within the bands: the first incumbent.
    bands
        Bounds of the loads.
    limits
        Work and time limits of all nodes together.
    spread_from
        Arrangement whose counts of a collection per bin, or the soft caps if larger,
        are upper bounds; `None` without such bounds.
    """
    found, models = Apart(places_in(problem, at)), []
    for inside in nodes:
        model = BandsModel(problem, bands, inside)
        if spread_from is not None:
            keep_spread(model, problem, spread_from)
        model.suggest(at)
        models.append(model)
    is_least = True
    for number, model in enumerate(models):
        work = _share(limits[0] - found.spent, len(models) - number)
        is_least &= _cheapest(model, found, work, limits[1]())
    found.cost = sum(found.units) * models[0].unit
    if not is_least or models[0].unit == 1:
        return found
    for number, (model, units) in enumerate(zip(models, found.units, strict=True)):
        work = _share(limits[0] - found.spent, len(models) - number)
        found.cost += _last_digits(model, found, units, work, limits[1]())
    return found


def _share(work: float, parts: int) -> float:
    return max(work / parts, LEAST_WORK)


def _cheapest(
    model: BandsModel, found: Apart, work: float, seconds: float | None
) -> bool:
    """Minimize the cost of one node in whole units; return whether it is optimal."""
    solved = model.least_value(model.moves_cost(), work, seconds)
    found.units.append(0 if solved is None else solved[0] // model.steps)
    found.spent += model.spent
    if solved is None:
        return False
    _take(model, found)
    return solved[1]


def _last_digits(
    model: BandsModel, found: Apart, units: int, work: float, seconds: float | None
) -> int:
    """Minimize the cost of one node exactly; return the bound in excess of `units`."""
    places = {pair for pair in found.places if pair[1] in model.bins}
    most = model.cost_of(places) // model.unit - units
    rest, before = model.rest_of_cost(units, most), model.spent
    model.suggest_places(places)
    solved = model.least_value(rest, work, seconds)
    found.spent += model.spent - before
    if solved is None:
        return 0
    _take(model, found)
    return solved[0] // model.steps


def _take(model: BandsModel, found: Apart) -> None:
    """Replace the incumbent of a node by the solution of its model."""
    bins = set(model.bins)
    others = {pair for pair in found.places if pair[1] not in bins}
    found.places = others | model.places(model.solver)


def nearest_apart(
    problem: Problem, nodes: Sequence[Inside], at: Arrangement, limits: Limits
) -> Apart:
    """
    Minimize the distance of each node from its bands, in order of decreasing distance.

    The distance of a node is not reduced below the largest one of the nodes before it.

    Parameters
    ----------
    problem, nodes
        The problem and its separable nodes, from `nodes_apart`.
    at
        Current arrangement: the first incumbent.
    limits
        Work and time limits of all nodes together.
    """
    found, reached = Apart(places_in(problem, at)), 0.0
    off = distances(problem, loads(problem, at)).max(axis=1)
    far = [float(off[list(inside.bins)].max(initial=0.0)) for inside in nodes]
    for node in sorted(range(len(nodes)), key=lambda node: -far[node]):
        # The largest distance of any node counts, so the rest cannot reduce it.
        if far[node] <= reached:
            break
        work = max((limits[0] - found.spent) * PART, LEAST_WORK)
        model = BandsModel(problem, None, nodes[node])
        model.suggest(at)
        objective = model.distance(far[node], reached)
        solved = model.least_value(objective, work, limits[1]())
        found.spent += model.spent
        if solved is None:
            reached = far[node]
            continue
        _take(model, found)
        least, value = (
            solved[0] / model.fineness,
            model.solver.objective_value / model.fineness,
        )
        if least > reached:
            found.deviation = max(found.deviation, least)
        reached = max(reached, value)
    return found
