"""Lower bound on the use of a cap on all moves, by the model of hard rules."""

import math
from dataclasses import replace
from typing import Any

from ortools.sat.python import cp_model

from placement.core.exact.cp_sat.hard_rules_model import BITS, RulesModel
from placement.core.exact.model_scaling import CAP_FIELDS
from placement.core.exact.work_limit import ExactWork
from placement.core.model.problem import NO_LIMIT, Problem


def least_spent(problem: Problem, what: str, work: ExactWork) -> int | None:
    """
    Return a lower bound on the use of one cap, with the other caps enforced.

    Parameters
    ----------
    problem
        Problem for which `model_scaling.fits_rules` holds; its bands are ignored.
    what
        Name of the cap, a key of `model_scaling.caps_of`.
    work
        Remaining work of CP-SAT; it is reduced.

    Returns
    -------
    Bound in units of the cap; `None` if the other caps are infeasible, too.
    """
    if work.rules <= 0:
        return 0
    free: dict[str, Any] = {CAP_FIELDS[what]: NO_LIMIT}
    model = RulesModel(replace(problem, **free))
    spent = model.spent_of(what)
    unit = max(max(spent.values(), default=0) >> BITS, 1)
    prices = [price // unit for price in spent.values()]
    terms = [model.at[pair] for pair in spent]
    model.model.minimize(cp_model.LinearExpr.weighted_sum(terms, prices))
    status = model.run(work.rules)
    work.rules -= model.solver.response_proto.deterministic_time
    if status == cp_model.INFEASIBLE:
        return None
    if status == cp_model.OPTIMAL:
        return round(model.solver.objective_value) * unit
    # CP-SAT returns a float; prices are in units, rounded down.
    return max(math.floor(model.solver.best_objective_bound), 0) * unit
