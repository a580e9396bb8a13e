"""Soft caps on collections, as rows of an integer program."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from ortools.sat.python import cp_model

from placement.array_types import IndexArray, IntArray
from placement.core.exact.cp_sat.hard_rules_model import RulesModel
from placement.core.exact.milp.subproblem import Part
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import NOWHERE, Problem

Pair = tuple[int, int]


def keep_spread(
    model: RulesModel, problem: Problem, at: Arrangement, part: Part | None = None
) -> None:
    """
    Add the soft caps on collections as constraints, or present counts if larger.

    Parameters
    ----------
    model
        Model of the problem, or of a part of it.
    problem, at
        Whole problem and its present arrangement.
    part
        Part that the model covers; `None`: all of the problem.
    """
    if not len(problem.collection_cap):
        return
    groups = np.arange(problem.num_groups) if part is None else part.groups
    bins = np.arange(problem.num_bins) if part is None else part.bins
    items = np.arange(problem.num_items) if part is None else part.items
    counted = problem.collection_of[problem.group_of], at.bin_of
    held, free = (_counts(problem, *counted, rows) for rows in (None, items))
    _add(problem.collection_fixed, held)
    caps = problem.collection_cap
    _limit(
        model,
        model.at,
        (groups, bins),
        problem,
        np.maximum(caps[:, None], held) - held + free,
    )
    if len(problem.collection_role_cap):
        own = np.nonzero(at.role_of != NOWHERE)[0]
        led = problem.collection_of[own], at.bin_of[at.role_of[own]]
        free_rows = np.nonzero(np.isin(at.role_of[own], items))[0]
        held, free = (_counts(problem, *led, rows) for rows in (None, free_rows))
        _add(problem.collection_fixed_roles, held)
        caps = problem.collection_role_cap
        most = np.maximum(caps[:, None], held) - held + free
        _limit(model, model.role, (groups, bins), problem, most)


def _counts(
    problem: Problem, of: IndexArray, place: IndexArray, rows: IntArray | None
) -> IntArray:
    """Return ``(C, N)`` counts of each collection in each bin."""
    counts = np.zeros((len(problem.collection_cap), problem.num_bins), dtype=np.int64)
    chosen = slice(None) if rows is None else rows
    is_there = place[chosen] >= 0
    np.add.at(counts, (of[chosen][is_there], place[chosen][is_there]), 1)
    return counts


def _add(fixed: IndexArray, held: IntArray) -> None:
    np.add.at(held, (fixed[0], fixed[1]), 1)


def _limit(
    model: RulesModel,
    variables: Mapping[Pair, cp_model.IntVar],
    chosen: tuple[IntArray, IntArray],
    problem: Problem,
    most: IntArray,
) -> None:
    groups, bins = chosen
    collections = problem.collection_of[groups].tolist()
    members: dict[Pair, list[cp_model.IntVar]] = defaultdict(list)
    for (group, b), variable in variables.items():
        members[collections[group], int(bins[b])].append(variable)
    for (collection, b), inside in members.items():
        limit = int(most[collection, b])
        if len(inside) > limit:
            model.model.add(cp_model.LinearExpr.sum(inside) <= limit)
