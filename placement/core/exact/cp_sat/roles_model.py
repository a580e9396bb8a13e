"""Roles at fixed places: fewest role changes with loads within their bands."""

from math import gcd

import numpy as np
from ortools.sat.python import cp_model

from placement.array_types import IntArray
from placement.core.bounds.cover_bounds import Bands, reached_bands
from placement.core.exact.cp_sat.hard_rules_model import BITS
from placement.core.exact.cp_sat.limited_solver import limited_solver
from placement.core.exact.milp.spread_check import crowds, most_roles_of_collections
from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.objective import evaluate, misplaced_roles, unreleased_roles
from placement.core.model.problem import NO_LIMIT, NOWHERE, Problem


def fewer_role_changes(
    problem: Problem, at: Arrangement, work: float, seconds: float | None = None
) -> Arrangement:
    """
    Return roles to their initial holders as far as the bands reached allow.

    Parameters
    ----------
    problem
        Any problem; its rules for places are ignored.
    at
        Arrangement that keeps the hard rules.
    work
        Work limit in deterministic seconds.
    seconds
        Seconds to a deadline; `None`: no deadline.

    Returns
    -------
    Arrangement with equal places and the fewest role changes found; `at` if none has
    fewer.
    """
    changed = np.nonzero(np.not_equal(at.role_of, problem.role_home))[0]
    if not len(changed) or problem.is_transient.any():
        return at
    # Loads out of band are on the very ends of the bands reached.
    bands = reached_bands(problem, at)
    model = _RolesModel(problem, at, bands, at, keeps_start=True)
    found = model.solved(work, seconds)
    if found is None:
        return at
    is_wrong = misplaced_roles(problem, found) | unreleased_roles(problem, found)
    if is_wrong.any() or crowds(problem, at, found):
        return at
    return found if evaluate(problem, found) < evaluate(problem, at) else at


def roles_within(
    problem: Problem,
    at: Arrangement,
    bands: Bands,
    spread_from: Arrangement,
    work: float,
    seconds: float | None = None,
) -> tuple[Arrangement | None, float]:
    """
    Assign roles at fixed places with loads within bands, if CP-SAT finds a solution.

    Parameters
    ----------
    problem
        Any problem; its rules for places are ignored.
    at
        Arrangement of the items.
    bands
        Bounds of the loads.
    spread_from
        Arrangement whose roles of a collection per bin, or the soft caps if larger, are
        upper limits.
    work
        Work limit in deterministic seconds.
    seconds
        Seconds to a deadline; `None`: no deadline.

    Returns
    -------
    Arrangement with equal places and the fewest role changes found, or `None`; and the
    work done.
    """
    model = _RolesModel(problem, at, bands, spread_from)
    return model.solved(work, seconds), model.spent


class _RolesModel:
    def __init__(
        self,
        problem: Problem,
        at: Arrangement,
        bands: Bands,
        spread_from: Arrangement,
        *,
        keeps_start: bool = False,
    ) -> None:
        self._problem, self._at, self._keeps_start = problem, at, keeps_start
        self._model, self.spent = cp_model.CpModel(), 0.0
        self._holds: dict[int, list[tuple[int, cp_model.IntVar]]] = {}
        self._in_bin: dict[int, list[tuple[int, cp_model.IntVar]]] = {}
        fixed = loads(problem, at).copy()
        for group in np.nonzero(at.role_of != NOWHERE)[0].tolist():
            self._add_group(group, fixed)
        self._add_bands(bands, fixed)
        if len(problem.collection_role_cap):
            self._add_spread(most_roles_of_collections(problem, spread_from))

    def _add_group(self, group: int, fixed: IntArray) -> None:
        able = self._able(group)
        holder = int(self._at.role_of[group])
        if len(able) < 2 or holder not in able:
            return
        place = int(self._at.bin_of[holder])
        fixed[place] -= self._problem.role_weight[group]
        row = [(item, self._model.new_bool_var("")) for item in able]
        self._model.add_exactly_one([holds for _, holds in row])
        self._holds[group] = row
        for item, holds in row:
            self._model.add_hint(holds, item == holder)
            where = int(self._at.bin_of[item])
            self._in_bin.setdefault(where, []).append((group, holds))

    def _able(self, group: int) -> list[int]:
        """Return the items of a group that may hold its role in their bins."""
        problem, at = self._problem, self._at
        was = int(problem.role_home[group])
        stays = was >= 0 and at.bin_of[was] == problem.home[was]
        if stays and not problem.is_role_movable[group]:
            return [was]
        items = range(*problem.group_start[group : group + 2].tolist())
        able = [i for i in items if problem.may_hold_role[at.bin_of[i]]]
        if stays and was not in able:
            able.append(was)
        free = [i for i in able if not problem.must_release_role[at.bin_of[i]]]
        return free or able

    def _add_bands(self, bands: Bands, fixed: IntArray) -> None:
        for b, members in self._in_bin.items():
            terms = [holds for _, holds in members]
            groups = [group for group, _ in members]
            for r in range(self._problem.num_resources):
                weights = self._problem.role_weight[groups, r].tolist()
                if any(weights):
                    ends = int(bands.lower[b, r]), int(bands.upper[b, r])
                    is_held = np.equal(self._at.bin_of[self._at.role_of[groups]], b)
                    is_held &= self._keeps_start
                    held = np.flatnonzero(is_held).tolist()
                    self._add_row(terms, weights, ends, int(fixed[b, r]), held)

    def _add_spread(self, most: IntArray) -> None:
        """Keep the roles of a collection in a bin within limits, ``(C, N)``."""
        problem, at = self._problem, self._at
        for group in np.nonzero(at.role_of != NOWHERE)[0].tolist():
            if group not in self._holds:
                place = at.bin_of[at.role_of[group]]
                most[problem.collection_of[group], place] -= 1
        for b, members in self._in_bin.items():
            of = problem.collection_of[[group for group, _ in members]]
            for collection in np.unique(of).tolist():
                chosen = np.nonzero(of == collection)[0].tolist()
                limit = int(most[collection, b])
                if len(chosen) > limit:
                    terms = [members[number][1] for number in chosen]
                    self._model.add(cp_model.LinearExpr.sum(terms) <= limit)

    def _add_row(
        self,
        terms: list[cp_model.IntVar],
        weights: list[int],
        ends: tuple[int, int],
        fixed: int,
        held: list[int],
    ) -> None:
        """
        Add the band of a load, rounded such that no load outside is feasible.

        The load of the roles `held` is feasible besides, and loads that are equal to
        it but for rounding.
        """
        # Equal weights, as of one topic, need no rounding.
        common = gcd(*weights)
        weights = [w // common for w in weights]
        lower, upper = -(-(ends[0] - fixed) // common), (ends[1] - fixed) // common
        unit = max(max(map(abs, weights)) >> BITS, 1)
        up, down = [-(-w // unit) for w in weights], [w // unit for w in weights]
        if ends[1] < NO_LIMIT:
            most = max(upper // unit, sum(up[i] for i in held))
            self._model.add(cp_model.LinearExpr.weighted_sum(terms, up) <= most)
        if ends[0] > 0:
            least = -(-lower // unit)
            if held:
                least = min(least, sum(down[i] for i in held))
            self._model.add(cp_model.LinearExpr.weighted_sum(terms, down) >= least)

    def solved(self, work: float, seconds: float | None) -> Arrangement | None:
        """Return the arrangement with the fewest role changes found, if any."""
        others = [
            holds
            for group, row in self._holds.items()
            for item, holds in row
            if item != self._problem.role_home[group]
        ]
        self._model.minimize(cp_model.LinearExpr.sum(others))
        solver = limited_solver(work, seconds)
        status = solver.solve(self._model)
        self.spent = solver.response_proto.deterministic_time
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return None
        role_of = self._at.role_of.copy()
        for group, row in self._holds.items():
            role_of[group] = next(i for i, holds in row if solver.boolean_value(holds))
        return Arrangement(self._at.bin_of, role_of)
