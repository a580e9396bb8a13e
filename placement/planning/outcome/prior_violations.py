"""Violations that exist before a plan and that the plan does not make worse."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem
from placement.core.model.solution import MET, Shortfall, Solution, Status
from placement.draft.draft import Draft
from placement.model.load import RESOURCES, WeightArray, loads_of
from placement.model.rack_violations import crowding
from placement.model.reassignment import Reassignment, unchanged
from placement.rules.hosts import host_loads

RACK, HOST, BROKER = "rack", "host", "broker"


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
    """Return whether a shortfall explains others: room of a broker set, or a cap."""
    is_of_set = one.what == "capacity" and one.bin < 0 and one.group < 0
    is_cap = one.what in {"moves", "cost", "crossing"}
    return one.is_proven and not one.message and (is_of_set or is_cap)


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
    was, _ = loads_of(unchanged(lists.before).after())
    on_hosts = host_loads(draft, was)
    own = {column.name: column.loads(lists.before) for column in draft.columns}
    return np.array(
        [
            asked and _carried(one, was, on_hosts, own) >= one.need
            for one, asked in zip(shortfalls, is_asked, strict=True)
        ],
        dtype=np.bool_,
    )


def _carried(
    one: Shortfall,
    was: WeightArray,
    on_hosts: WeightArray,
    own: Mapping[str, WeightArray],
) -> int:
    """Return the load before the plan at the broker or host of a shortfall, or -1."""
    columns = [str(resource) for resource in RESOURCES]
    if one.resource in own and one.bin >= 0:
        return int(own[one.resource][one.bin])
    if one.resource not in columns:
        return -1
    r = columns.index(one.resource)
    if one.level == BROKER and one.bin >= 0:
        return int(was[one.bin, r])
    if one.level == HOST and one.node >= 0:
        return int(on_hosts[one.node, r])
    return -1
