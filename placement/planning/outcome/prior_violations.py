"""Violations that exist before a plan and that the plan does not make worse."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.model.objective import evaluate
from placement.core.model.problem import Level, Problem
from placement.core.model.solution import MET, Shortfall, Solution, Status
from placement.draft.draft import Draft
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, loads_of
from placement.model.rack_violations import crowding
from placement.model.reassignment import Reassignment, unchanged
from placement.rules.hosts import host_loads

RACK, HOST, BROKER = "rack", "host", "broker"
EXPLAINING = frozenset({"moves", "cost", "crossing", "room", "pieces", "packing"})
"""Kinds of shortfalls that say why others are not avoided."""


def without_existing(
    draft: Draft, problem: Problem, solution: Solution, lists: Reassignment
) -> Solution:
    """
    Return a solution without the shortfalls that existed before and are no worse.

    Shortfalls that the operation is meant to repair are kept.

    Parameters
    ----------
    draft
        Draft of the operation, with the violations that the operation repairs.
    problem
        The problem that was solved.
    solution
        Its solution.
    lists
        The replica lists decoded from the solution.
    """
    if solution.status in MET or not solution.shortfalls:
        return solution
    is_old = _are_existing(draft, solution.shortfalls, lists)
    if not is_old.any():
        return solution
    rest = [
        one for one, old in zip(solution.shortfalls, is_old, strict=True) if not old
    ]
    is_open = evaluate(problem, solution.best).unmet > 0
    if not is_open and all(_is_reason(one) for one in rest):
        # The reason of a broken rule is irrelevant where the rule need not hold.
        rest = []
    return replace(solution, status=_status(solution, rest), shortfalls=tuple(rest))


def _status(solution: Solution, rest: list[Shortfall]) -> Status:
    if rest:
        is_proven = any(one.is_proven for one in rest)
        return Status.INFEASIBLE if is_proven else Status.PARTIAL
    cost, roles = solution.certificate.cost, solution.certificate.roles
    is_least = cost.is_least
    is_least &= roles is None or roles.value <= roles.lower_bound
    return Status.OPTIMAL if is_least else Status.FEASIBLE


def _is_reason(one: Shortfall) -> bool:
    """Return whether a proven shortfall explains others and breaks no rule itself."""
    is_of_set = one.what == "capacity" and max(one.bin, one.group) < 0
    is_of_set &= one.level != HOST or one.node < 0
    is_explaining = one.what in EXPLAINING or is_of_set
    return one.is_proven and not one.message and is_explaining


def _are_existing(
    draft: Draft, shortfalls: tuple[Shortfall, ...], lists: Reassignment
) -> BoolArray:
    """Return which shortfalls existed before, are no worse, and need no repair."""
    found = np.zeros(len(shortfalls), dtype=np.bool_)
    if not draft.repairs_racks:
        found |= _old_racks(draft, shortfalls, lists)
    if not draft.repairs_capacity:
        found |= _old_loads(draft, shortfalls, lists)
    return found


def _old_racks(
    draft: Draft, shortfalls: tuple[Shortfall, ...], lists: Reassignment
) -> BoolArray:
    asked = np.array(
        [
            one.group
            if one.what == "spread"
            and one.level == RACK
            and one.item < 0
            and not one.message
            else -1
            for one in shortfalls
        ],
        dtype=np.int64,
    )
    rows = np.unique(asked[asked >= 0])
    is_old = ~worse_racks(draft, lists, rows)
    found: BoolArray = np.isin(asked, rows[is_old]) & (asked >= 0)
    return found


def worse_racks(
    draft: Draft, lists: Reassignment, rows: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> BoolArray:
    """Return ``(n,)`` true for `rows` whose rack violation is worse than before."""
    is_strict = draft.settings.is_rack_strict
    was = crowding(lists.before, draft.holds, rows, is_strict=is_strict)
    now = crowding(lists.after(), draft.holds, rows, is_strict=is_strict)
    return now.is_worse_than(was)


def _old_loads(
    draft: Draft, shortfalls: tuple[Shortfall, ...], lists: Reassignment
) -> BoolArray:
    is_asked = [one.what == "capacity" and one.group < 0 for one in shortfalls]
    if not any(is_asked):
        return np.zeros(len(shortfalls), dtype=np.bool_)
    was = _loads_before(draft, lists.before)
    return np.array(
        [
            asked and _carried(one, was) >= one.need
            for one, asked in zip(shortfalls, is_asked, strict=True)
        ],
        dtype=np.bool_,
    )


LoadsBefore = Mapping[str, Mapping[str, IntArray]]
"""Loads before the plan, by level (of brokers, of hosts) and by resource."""


def _loads_before(draft: Draft, before: ClusterState) -> LoadsBefore:
    of_brokers, _ = loads_of(unchanged(before).after())
    of_hosts = host_loads(draft, of_brokers)
    names = [str(resource) for resource in RESOURCES]
    own = {column.name: column.loads(before) for column in draft.columns}
    return {
        BROKER: dict(zip(names, of_brokers.T, strict=True)) | own,
        HOST: dict(zip(names, of_hosts.T, strict=True)),
    }


def _carried(one: Shortfall, was: LoadsBefore) -> int:
    """Return the load before the plan at the broker or host of a shortfall, or -1."""
    node = one.bin if one.level == BROKER else one.node
    loads = was.get(one.level, {}).get(one.resource)
    return -1 if loads is None or node < 0 else int(loads[node])


def admit_existing(draft: Draft, problem: Problem) -> Problem:
    """
    Return a problem relaxed to admit the shortfalls that `without_existing` removes.

    A proof that the relaxed problem is infeasible holds for plans that leave existing
    violations as they are.

    Parameters
    ----------
    draft
        Draft of the operation, with the violations that the operation repairs.
    problem
        Problem of the draft.

    Returns
    -------
    The problem, with capacities no lower than the loads before the plan, and with rack
    caps raised by the excess before the plan; those that the operation repairs stay.
    Rack caps are raised for sums of excess, so that a single rack may get worse: see
    `has_worse_racks`.
    """
    before = draft.state if draft.decided is None else draft.decided.before
    levels = list(problem.levels)
    if not draft.repairs_capacity:
        was = _loads_before(draft, before)
        levels = [_admit_loads(level, was, problem.resources) for level in levels]
    if _admits_crowding(draft):
        levels = _admit_crowding(draft, before, levels)
    return replace(problem, levels=tuple(levels))


def has_worse_racks(draft: Draft, lists: Reassignment) -> bool:
    """Return whether lists that `admit_existing` admits worsen the racks of any."""
    rows = np.arange(draft.state.num_partitions)
    return _admits_crowding(draft) and bool(worse_racks(draft, lists, rows).any())


def _admits_crowding(draft: Draft) -> bool:
    return not draft.repairs_racks and "rack" not in draft.settings.lifted


def _admit_loads(level: Level, was: LoadsBefore, names: tuple[str, ...]) -> Level:
    """Return a level with capacities of at least the loads before the plan."""
    loads = was.get(level.name)
    if loads is None or level.limits is None:
        return level
    capacity = level.limits.capacity.copy()
    for r, name in enumerate(names):
        if name in loads:
            capacity[:, r] = np.maximum(capacity[:, r], loads[name])
    return replace(level, limits=replace(level.limits, capacity=capacity))


def _admit_crowding(
    draft: Draft, before: ClusterState, levels: list[Level]
) -> list[Level]:
    """
    Return levels whose rack caps admit as much excess as before the plan.

    Partitions that break the rule before the plan get a level of their own, since they
    may stay uneven. Caps of the operation's own, other than the rule, do not apply to
    them.
    """
    rows = np.arange(draft.state.num_partitions)
    was = crowding(before, draft.holds, rows, is_strict=draft.settings.is_rack_strict)
    broken = was.is_broken
    if not broken.any():
        return levels
    found = []
    for level in levels:
        if level.name != RACK or level.group_cap is None:
            found.append(level)
            continue
        cap = level.group_cap
        found.append(replace(level, group_cap=np.where(broken, 0, cap)))
        is_ruled = broken & (cap > 0) & (draft.rack_cap is None)
        if is_ruled.any():
            raised = np.where(is_ruled, cap + was.excess, 0).astype(cap.dtype)
            kept = replace(level, group_cap=raised, is_even=False, limits=None)
            found.append(kept)
    return found
