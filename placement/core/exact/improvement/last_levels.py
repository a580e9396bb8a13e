"""
Minimisation of the last levels of an answer within its bands: moves, then role changes.

A proof of the cost says nothing about the levels below it, so an answer of proven cost
may still have more moves or more role changes than another one of the same cost.
"""

from placement.core.bounds.cover_bounds import reached_bands
from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.improvement.improved_answer import Improved, better
from placement.core.exact.milp.spread_check import crowds
from placement.core.exact.time_limits import Left
from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem


def fewest_changes(
    problem: Problem, at: Arrangement, work: float, left: Left
) -> Arrangement:
    """
    Return an answer of no higher cost with the fewest moves, then role changes.

    Parameters
    ----------
    problem
        Problem to solve; `model_scaling.fits_bands` must hold.
    at
        Answer within its bands that keeps the hard rules.
    work
        Work limit of each of the two solves, in deterministic seconds.
    left
        Function that returns the seconds to a deadline; `None`: no deadline.
    """
    before, bands = home_arrangement(problem), reached_bands(problem, at)
    spread_from = at if crowds(problem, before, at) else before
    found = Improved(at=at, value=evaluate(problem, at), spread_from=spread_from)
    for measure in (BandsModel.num_moves, BandsModel.role_changes):
        model = BandsModel(problem, bands)
        model.keep_moves(found.value)
        model.suggest(found.at)
        outcome = model.least(measure(model), work, left())
        found = better(problem, found, outcome.at)
    return found.at
