r"""
Nodes apart: what every node costs at least, and what costs that.

Where every node of a level (a rack) holds a fixed number of items of every group, as
three racks do of three replicas, nothing that happens in one node depends on another
one but for roles. With the roles of a node's bins free, each node is a problem of its
own: the least costs :math:`c_n` of all of them add up to a bound, and places that cost
just that are an answer wherever roles can be found for them. A model of the whole would
have to prove the same of all combinations of what its nodes might do.
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
"""Part of the work left that coming nearer may take in a node."""
LEAST_WORK = 1e-3
"""Deterministic seconds that anything may take."""

Limits = tuple[float, Callable[[], float | None]]
"""Deterministic seconds; and what tells the seconds left, where somebody waits."""


@dataclass(slots=True)
class Apart:
    """
    What is known of all nodes together.

    Parameters
    ----------
    places
        Which group has an item in which bin, the best known of each node.
    spent
        Deterministic seconds that it took.
    units
        What moves into each node cost at least, in whole units of each move.
    cost
        The same of all nodes together, to the last digit.
    deviation
        The largest distance outside the bands at least.
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
    Lower the cost of each node within bands, and say what that is at least.

    Parameters
    ----------
    problem, nodes
        As `nodes_apart` returned them.
    at
        An answer within the bands.
    bands
        That loads keep to.
    limits
        What it may take.
    spread_from
        Where no bin is to have more of a collection than here, or than its soft cap;
        `None`: anywhere.
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
    """Lower the cost of one node in whole units; tell whether that is the least."""
    told = model.least_value(model.moves_cost(), work, seconds)
    found.units.append(0 if told is None else told[0] // model.steps)
    found.spent += model.spent
    if told is None:
        return False
    _take(model, found)
    return told[1]


def _last_digits(
    model: BandsModel, found: Apart, units: int, work: float, seconds: float | None
) -> int:
    """Lower the cost of one node to the last digit; return what is beyond `units`."""
    places = {pair for pair in found.places if pair[1] in model.bins}
    most = model.cost_of(places) // model.unit - units
    rest, before = model.rest_of_cost(units, most), model.spent
    model.suggest_places(places)
    told = model.least_value(rest, work, seconds)
    found.spent += model.spent - before
    if told is None:
        return 0
    _take(model, found)
    return told[0] // model.steps


def _take(model: BandsModel, found: Apart) -> None:
    """Let a node be arranged as its model says."""
    bins = set(model.bins)
    others = {pair for pair in found.places if pair[1] not in bins}
    found.places = others | model.places(model.solver)


def nearest_apart(
    problem: Problem, nodes: Sequence[Inside], at: Arrangement, limits: Limits
) -> Apart:
    """
    Bring each node nearer to its bands, the furthest first, and no nearer than need be.

    Parameters
    ----------
    problem, nodes
        As `nodes_apart` returned them.
    at
        Where everything is.
    limits
        What it may take.
    """
    found, reached = Apart(places_in(problem, at)), 0.0
    off = distances(problem, loads(problem, at)).max(axis=1)
    far = [float(off[list(inside.bins)].max(initial=0.0)) for inside in nodes]
    for node in sorted(range(len(nodes)), key=lambda node: -far[node]):
        # Nothing is gained where a node comes nearer than another one can.
        if far[node] <= reached:
            break
        work = max((limits[0] - found.spent) * PART, LEAST_WORK)
        model = BandsModel(problem, None, nodes[node])
        model.suggest(at)
        objective = model.distance(far[node], reached)
        told = model.least_value(objective, work, limits[1]())
        found.spent += model.spent
        if told is None:
            reached = far[node]
            continue
        _take(model, found)
        least, value = (
            told[0] / model.fineness,
            model.solver.objective_value / model.fineness,
        )
        if least > reached:
            found.deviation = max(found.deviation, least)
        reached = max(reached, value)
    return found
