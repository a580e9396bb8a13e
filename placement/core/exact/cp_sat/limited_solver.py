"""CP-SAT with limits that end a solve at the same point on any machine."""

from ortools.sat.python import cp_model

SEED = 1
SECONDS_AT_LEAST, SECONDS_PER_WORK = 20.0, 60.0
"""About thirty times the usual seconds, for equal plans on a loaded machine."""


def limited_solver(
    work: float,
    seconds: float | None = None,
    seed: int = SEED,
    *,
    is_local: bool = False,
) -> cp_model.CpSolver:
    """
    Return a solver that ends at the same point on any machine.

    Parameters
    ----------
    work
        Limit in deterministic seconds.
    seconds
        Seconds to a deadline; `None`: no deadline.
    seed
        Seed of its random choices.
    is_local
        Whether to search neighbourhoods of the hint only, without any bound.
    """
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers, parameters.random_seed = 1, seed
    parameters.max_deterministic_time = work
    # CP-SAT 9.15 removes solutions as it compares linear constraints with each other,
    # and states optima and infeasibility that are wrong (google/or-tools#5293).
    parameters.presolve_inclusion_work_limit = 0
    # One worker takes turns between the kinds of neighbourhoods.
    parameters.use_lns_only = parameters.interleave_search = is_local
    # CP-SAT may raise a bound step by step and count hardly any work: limit seconds.
    longest = SECONDS_AT_LEAST + SECONDS_PER_WORK * work
    within = longest if seconds is None else min(longest, max(seconds, 0.0))
    parameters.max_time_in_seconds = within
    return solver


def complete_hint(
    model: cp_model.CpModel, work: float, seconds: float | None = None
) -> None:
    """
    Add the least values of all other variables to a hint, if it is feasible.

    Only a complete hint is a solution to CP-SAT from the start. It searches for the
    rest of others, and has spent whole work limits on distances that follow from places
    and roles.

    Parameters
    ----------
    model
        Model with an objective and a hint.
    work
        Work limit in deterministic seconds.
    seconds
        Seconds to a deadline; `None`: no deadline.
    """
    solver = limited_solver(work, seconds)
    solver.parameters.fix_variables_to_their_hinted_value = True
    if solver.solve(model) not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
        return
    values = solver.response_proto.solution
    hint = model.proto.solution_hint
    hint.vars.clear()
    hint.values.clear()
    hint.vars.extend(range(len(values)))
    hint.values.extend(values)
