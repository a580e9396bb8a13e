"""Whether a small cluster has a plan that meets every hard goal, by CP-SAT."""

from dataclasses import replace

import numpy as np

from placement.core.exact.model_scaling import Found
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem
from placement.draft.draft import Draft, Settings
from placement.log_dirs.overfull_dirs import overfull_dirs
from placement.model.load import RESOURCES
from placement.model.targets import find_targets
from placement.planning.band_fixpoint import loads_before
from placement.planning.decode import to_reassignment
from placement.planning.elastic.hard_goals import fixed_bands
from placement.planning.encode import build_problem
from placement.planning.outcome.prior_violations import (
    admit_existing,
    has_worse_racks,
)
from placement.planning.plan import draft_shares


def are_hard_goals_met(
    draft: Draft, settings: Settings, work: ExactWork
) -> bool | None:
    """
    Return whether some plan keeps the hard rules and meets the hard goals.

    Parameters
    ----------
    draft, settings
        Draft without any other goals, and the settings it was made for.
    work
        Work limit of CP-SAT, reduced by the work done.

    Returns
    -------
    `None`: not known. Bands that depend on where heavy replicas end are left out of the
    model, and so are positions in lists and log dirs; without them it can prove that no
    plan exists, but not that one does.
    """
    from placement.core.feasibility.infeasible_subsystem import within_bands

    bands = np.array([settings.band(resource) for resource in RESOURCES])
    shares = replace(draft_shares(draft), bands=bands)
    targets = find_targets(shares, *loads_before(draft))
    balanced = settings.resources or ()
    is_fixed = fixed_bands(draft, targets)
    fixed = tuple(r for r in balanced if is_fixed[RESOURCES.index(r)])
    problem = admit_existing(draft, build_problem(draft, targets, fixed))
    found, at = within_bands(problem, work)
    if found is Found.NONE:
        return False
    is_whole = fixed == balanced and _is_whole(draft)
    return True if is_whole and at is not None and _is_met(draft, problem, at) else None


def _is_whole(draft: Draft) -> bool:
    """Return whether the problem of a draft has all of its rules."""
    return not (draft.bundles or draft.is_order_only or draft.evens_positions)


def _is_met(draft: Draft, problem: Problem, at: Arrangement) -> bool:
    """Return whether an arrangement keeps all rules and bands, and fits log dirs."""
    value = evaluate(problem, at)
    if value.key[0] or not value.is_in_band:
        return False
    lists = to_reassignment(draft, at)
    return not (len(overfull_dirs(draft, lists)) or has_worse_racks(draft, lists))
