r"""
Placement and role variables of an integer program (OR-Tools CP-SAT).

:math:`y_{gb} = 1` iff group :math:`g` has an item in bin :math:`b`, and
:math:`\ell_{gb} = 1` iff that item holds its role. The rules of single groups and their
caps in nodes are constraints; `core.exact.cp_sat.hard_rules_model` adds those of loads.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from placement.array_types import BoolArray, IntArray
from placement.core.exact.cp_sat.limited_solver import (
    SEED,
    complete_hint,
    limited_solver,
)
from placement.core.exact.separable_levels import NodeBins
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import open_bins
from placement.core.model.problem import NOWHERE, Level, Movability, Problem

Pair = tuple[int, int]
Watch = Callable[[float], None]


class Pairs(NamedTuple):
    """
    Pairs of group and bin that have variables.

    Parameters
    ----------
    places, roles
        ``(G, N)`` whether an item may be there, and whether with its group's role.
    """

    places: BoolArray
    roles: BoolArray


class PlacesModel:
    """
    Variables of placements and roles, with the constraints of single groups.

    Parameters
    ----------
    problem
        Problem to model.
    is_lenient
        Whether items may break the rules of their group; failures are counted.
    inside
        Subset of the bins to model, without the constraints of other bins; `None`: all.
    has_roles
        Whether the model has variables of roles; without them, role weights are left
        out.
    only
        Pairs that have variables; `None`: all. The optimum is then no bound.

    Attributes
    ----------
    gap
        Relative gap at which an answer counts as optimal.
    seed
        Seed of the solver's random choices.
    is_local
        Whether solves search neighbourhoods of the hint only, without any bound.
    is_relaxed
        Whether solves use linear relaxations.
    watch
        Function called with each better bound on the objective; `None`: none.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        is_lenient: bool = False,
        inside: NodeBins | None = None,
        has_roles: bool = True,
        only: Pairs | None = None,
    ) -> None:
        self.only, self.is_local, self.seed = only, False, SEED
        self.is_relaxed = True
        self.problem, self.is_lenient, self.inside = problem, is_lenient, inside
        self.has_roles, self.gap = has_roles, 0.0
        self.watch: Watch | None = None
        self._has_start = False
        self.bins = list(range(problem.num_bins) if inside is None else inside.bins)
        self.model = cp_model.CpModel()
        self.at: dict[Pair, cp_model.IntVar] = {}
        self.role: dict[Pair, cp_model.IntVar] = {}
        self.home = {
            (int(problem.group_of[item]), b): item
            for item, b in enumerate(problem.home.tolist())
            if b >= 0
        }
        self.unmet: list[cp_model.IntVar] = []
        self.broken: dict[int, cp_model.IntVar] = {}
        self.solver = cp_model.CpSolver()
        for group in range(problem.num_groups):
            self._add_group(group)
        for position, level in enumerate(problem.levels):
            if position and level.group_cap is not None:
                self._add_caps(level)

    @property
    def failures(self) -> cp_model.LinearExpr:
        """Number of items that break a rule, plus groups that break a cap."""
        terms = [*self.unmet, *self.broken.values()]
        return cp_model.LinearExpr.sum(terms)

    def run(
        self, work: float, seconds: float | None = None, seed: int | None = None
    ) -> cp_model.CpSolverStatus:
        """
        Solve the present model, with the same result on any machine.

        Parameters
        ----------
        work
            Work limit in deterministic seconds.
        seconds
            Seconds to a deadline; `None`: no deadline.
        seed
            Seed of the solver's random choices; `None`: `self.seed`.
        """
        if self._has_start:
            complete_hint(self.model, work, seconds)
        seed = self.seed if seed is None else seed
        self.solver = limited_solver(work, seconds, seed, is_local=self.is_local)
        self.solver.parameters.relative_gap_limit = self.gap
        if not self.is_relaxed:
            self.solver.parameters.linearization_level = 0
        self.solver.best_bound_callback = self.watch
        return self.solver.solve(self.model)

    def suggest(self, at: Arrangement) -> None:
        """Set an arrangement as the first solution, if it is feasible."""
        self.suggest_places(places_in(self.problem, at), self._holders(at))
        self._has_start = True

    def suggest_places(
        self, places: set[Pair], holders: set[Pair] | None = None
    ) -> None:
        """Set the hint of the placement variables, and of roles if they are given."""
        self._has_start = False
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for pair, here in self.at.items():
            self.model.add_hint(here, pair in places)
        if holders is not None:
            for pair, leads in self.role.items():
                self.model.add_hint(leads, pair in holders)

    def _holders(self, at: Arrangement) -> set[Pair]:
        held = np.nonzero(at.role_of != NOWHERE)[0]
        bins = at.bin_of[at.role_of[held]]
        return set(zip(held.tolist(), bins.tolist(), strict=True))

    def keep(self, objective: cp_model.LinearExprT) -> None:
        """Add the value of the last solution as an upper bound on an objective."""
        self.model.add(objective <= self.solver.value(objective))

    def _may_be_at(self, group: int, b: int) -> bool:
        problem = self.problem
        item = self.home.get((group, b))
        if self.only is not None and not self.only.places[group, b]:
            return False
        if item is not None:
            may_stay = problem.movability[item] != Movability.MUST
            return self.is_lenient or bool(may_stay)
        row, column = problem.group_class[group], problem.bin_class[b]
        return bool(problem.is_eligible[row, column] and problem.may_receive[b])

    def _add_group(self, group: int) -> None:
        problem, model = self.problem, self.model
        start, stop = problem.group_start[group : group + 2].tolist()
        bins = [b for b in self.bins if self._may_be_at(group, b)]
        for b in bins:
            self.at[group, b] = here = model.new_bool_var("")
            item = self.home.get((group, b))
            kind = None if item is None else problem.movability[item]
            if kind == Movability.NEVER:
                model.add(here == 1)
            if kind == Movability.MUST:
                self.unmet.append(here)
        total = cp_model.LinearExpr.sum([self.at[group, b] for b in bins])
        lost = [i for i in range(start, stop) if problem.home[i] == NOWHERE]
        if self.is_lenient and lost:
            # An item without a bin may stay without one.
            away = [model.new_bool_var("") for _ in lost]
            self.unmet += away
            total += cp_model.LinearExpr.sum(away)
        if self.inside is None:
            model.add(total == stop - start)
        else:
            least, most = int(self.inside.least[group]), int(self.inside.most[group])
            model.add_linear_constraint(total, least, most)
        if self.has_roles and problem.role_home[group] != NOWHERE:
            self._add_role(group, bins)

    def _add_role(self, group: int, bins: Sequence[int]) -> None:
        problem, model = self.problem, self.model
        holder = int(problem.home[problem.role_home[group]])
        able = [b for b in bins if problem.may_hold_role[b]]
        for b in bins:
            if not (problem.may_hold_role[b] or b == holder):
                continue
            if self.only is not None and not self.only.roles[group, b]:
                continue
            self.role[group, b] = leads = model.new_bool_var("")
            model.add_implication(leads, self.at[group, b])
            if problem.is_role_movable[group] and problem.must_release_role[b]:
                self._release(group, leads, able)
        leaders = [self.role[group, b] for b in bins if (group, b) in self.role]
        if not leaders and self.is_lenient:
            return
        if self.inside is None:
            model.add(cp_model.LinearExpr.sum(leaders) == 1)
        else:
            model.add_at_most_one(leaders)
        if not problem.is_role_movable[group] and (group, holder) in self.role:
            model.add_implication(self.at[group, holder], self.role[group, holder])

    def _release(self, group: int, leads: cp_model.IntVar, able: Sequence[int]) -> None:
        """Allow a role in a bin that must release it only if no other may hold it."""
        others = [self.at[group, b] for b in able]
        if not others:
            return
        if not self.is_lenient:
            for other in others:
                self.model.add_implication(leads, other.negated())
            return
        kept = self.model.new_bool_var("")
        self.unmet.append(kept)
        for other in others:
            self.model.add_bool_or([leads.negated(), other.negated(), kept])

    def _add_caps(self, level: Level) -> None:
        cap, free = level.group_cap, open_bins(level)
        assert cap is not None  # noqa: S101 - chosen by the caller
        nodes = level.node_of_bin.tolist()
        members: dict[Pair, list[cp_model.IntVar]] = defaultdict(list)
        for (group, b), here in self.at.items():
            if nodes[b] >= 0 and cap[group] > 0:
                members[group, nodes[b]].append(here)
        for group in np.nonzero(cap > 0)[0].tolist():
            most = int(cap[group])
            for node in range(level.num_nodes):
                held = cp_model.LinearExpr.sum(members[group, node])
                self._add_cap(level, group, held, (most, self._now(level, group, node)))
            if level.is_even and most > 1 and self.inside is None:
                self._add_even(level, group, free, members)

    def _now(self, level: Level, group: int, node: int) -> int:
        """Return the number of items of a group in a node before any move."""
        items = slice(*self.problem.group_start[group : group + 2].tolist())
        home = self.problem.home[items]
        return int(np.equal(level.node_of_bin[home[home >= 0]], node).sum())

    def _add_cap(
        self,
        level: Level,
        group: int,
        held: cp_model.LinearExprT,
        limits: tuple[int, int],
    ) -> None:
        most, now = limits
        kept = self.model.add(held <= most)
        if self.is_lenient and self._is_broken_now(level, group):
            kept.only_enforce_if(self._broken(group).negated())
            self.model.add(held <= max(most, now))

    def _is_broken_now(self, level: Level, group: int) -> bool:
        assert level.group_cap is not None  # noqa: S101 - chosen by the caller
        held = np.array(
            [self._now(level, group, node) for node in range(level.num_nodes)]
        )
        free = held < open_bins(level)
        is_uneven = level.is_even and free.any() and held.max() - held[free].min() > 1
        return bool(held.max(initial=0) > level.group_cap[group] or is_uneven)

    def _broken(self, group: int) -> cp_model.IntVar:
        if group not in self.broken:
            self.broken[group] = self.model.new_bool_var("")
        return self.broken[group]

    def _add_even(
        self,
        level: Level,
        group: int,
        free: IntArray,
        members: dict[Pair, list[cp_model.IntVar]],
    ) -> None:
        """Add an even spread: no node with a free bin holds two fewer than another."""
        held = {
            node: cp_model.LinearExpr.sum(members[group, node])
            for node in range(level.num_nodes)
        }
        is_broken = self.is_lenient and self._is_broken_now(level, group)
        for node, mine in held.items():
            is_full = self.model.new_bool_var("")
            self.model.add(mine >= int(free[node])).only_enforce_if(is_full)
            for other, more in held.items():
                if other == node:
                    continue
                literals = [is_full.negated()]
                if is_broken:
                    literals.append(self._broken(group).negated())
                self.model.add(more - mine <= 1).only_enforce_if(*literals)

    def _arrangement(self, solver: cp_model.CpSolver) -> Arrangement:
        """Return the arrangement of a solution."""
        holders = {p for p, leads in self.role.items() if solver.boolean_value(leads)}
        return arranged(self.problem, self.places(solver), holders)

    def places(self, solver: cp_model.CpSolver) -> set[Pair]:
        """Return the pairs of group and bin that hold an item in a solution."""
        return {pair for pair, here in self.at.items() if solver.boolean_value(here)}


def places_in(problem: Problem, at: Arrangement) -> set[Pair]:
    """Return the pairs of group and bin that hold an item."""
    return set(zip(problem.group_of.tolist(), at.bin_of.tolist(), strict=True))


def arranged(problem: Problem, places: set[Pair], holders: set[Pair]) -> Arrangement:
    """
    Return the arrangement of given places; items stay if their bin is used again.

    Parameters
    ----------
    problem
        Problem of these items.
    places, holders
        Pairs of group and bin that hold an item, and those that hold the role.
    """
    bin_of, role_of = problem.home.copy(), problem.role_home.copy()
    chosen: dict[int, set[int]] = defaultdict(set)
    for group, b in places:
        chosen[group].add(b)
    for group in range(problem.num_groups):
        items = range(*problem.group_start[group : group + 2].tolist())
        stay = {int(problem.home[item]) for item in items} & chosen[group]
        rest = iter(sorted(chosen[group] - stay))
        for item in items:
            if int(problem.home[item]) not in stay:
                bin_of[item] = next(rest, NOWHERE)
        for item in items:
            if (group, int(bin_of[item])) in holders:
                role_of[group] = item
    return Arrangement(bin_of, role_of)


def with_roles_kept(problem: Problem, at: Arrangement) -> Arrangement:
    """Return an arrangement with fewer role changes: exchange items that both moved."""
    bin_of, role_of = at.bin_of.copy(), at.role_of.copy()
    for group in np.nonzero(role_of != problem.role_home)[0].tolist():
        was, holder = int(problem.role_home[group]), int(role_of[group])
        moved = np.not_equal(bin_of[[was, holder]], problem.home[[was, holder]])
        if moved.all():
            bin_of[[was, holder]] = bin_of[[holder, was]]
            role_of[group] = was
    return Arrangement(bin_of, role_of)
