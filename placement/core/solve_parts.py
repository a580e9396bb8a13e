"""Solve a problem whose bins are divided into parts; bounds concern the bins."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from placement.core.model.deadline import Deadline
from placement.core.model.problem import Problem
from placement.core.model.search_budget import NORMAL, Effort
from placement.core.model.solution import MET, Solution, Status
from placement.core.presolve.bin_parts import Parts, divide, gather
from placement.core.solve import prove, solve
from placement.core.solve_hard_rules import has_bands, solve_bare


def solve_in_parts(
    problem: Problem,
    parts: Parts,
    *,
    effort: Effort = NORMAL,
    seed: int = 1,
    deadline: Deadline | None = None,
) -> Solution:
    """
    Find an arrangement in which every item fits into a part of its bin.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    parts
        Division of the bins into parts.
    effort, seed, deadline
        As in `solve`.

    Returns
    -------
    Arrangement of the bins with its certificate. The bounds hold without the parts and
    therefore with them. The status is infeasible also if the parts are the reason.

    Notes
    -----
    If the search, which aims at bands, finds no room for an item, an exact model
    without bands may find room. A second search brings that answer nearer to the bands.
    """
    divided = divide(problem, parts)
    found = [solve(divided, effort=effort, seed=seed, deadline=deadline)]
    if found[0].status is Status.PARTIAL:
        found += _packed(divided, effort, seed, deadline or Deadline())
    best = next((one for one in reversed(found) if one.status in MET), found[0])
    at = gather(problem, parts, best.best)
    proven = prove(problem, at, effort=effort, deadline=deadline)
    # Moves inside a bin do not count towards the caps; moves between parts would.
    is_exact = parts.is_exact and not problem.has_caps
    is_disproved = best.status is Status.INFEASIBLE and is_exact
    return replace(
        proven,
        status=Status.INFEASIBLE if is_disproved else proven.status,
        steps=sum(one.steps for one in found),
        seconds=_added([*found, proven]),
        is_cut=any(one.is_cut for one in found),
    )


def _packed(
    divided: Problem, effort: Effort, seed: int, deadline: Deadline
) -> Iterator[Solution]:
    """Yield a solution by the hard rules alone, then one nearer to the bands."""
    bare = solve_bare(divided, effort=effort, seed=seed, deadline=deadline)
    yield bare
    if bare.status in MET and has_bands(divided):
        yield solve(
            divided, effort=effort, seed=seed, deadline=deadline, known=bare.best
        )


def _added(found: Sequence[Solution]) -> dict[str, float]:
    """Return the summed seconds of all solves."""
    return {
        name: sum(one.seconds[name] for one in found) for name in ("solve", "bound")
    }
