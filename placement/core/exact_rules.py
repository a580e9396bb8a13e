r"""
Exact model of the hard rules alone (OR-Tools CP-SAT), in integers.

:math:`y_{gb} = 1` iff group :math:`g` has an item in bin :math:`b`, and
:math:`\ell_{gb} = 1` iff that item holds its role. All hard rules are constraints, no
band is one. That nothing keeps them is proven where the solver says so: it computes in
integers throughout, where HiGHS has tolerances. One worker, a fixed seed and a limit in
deterministic time give the same answer on any machine.

With `is_lenient` failures are counted instead: an item stays where it had to leave, or
in no bin, and a group breaks its caps no worse than before.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import product

import numpy as np
from ortools.sat.python import cp_model

from placement.core.arrangement import Arrangement
from placement.core.exact.separable import NodeBins
from placement.core.exact_fit import LARGEST, Found
from placement.core.exact_work import ExactWork
from placement.core.nodes import limited_levels, usable_in_nodes
from placement.core.problem import (
    NO_LIMIT,
    NOWHERE,
    IntArray,
    Level,
    Movability,
    Problem,
)
from placement.core.value import open_bins, usable_capacity

Pair = tuple[int, int]
Watch = Callable[[float], None]
SEED = 1
SECONDS_AT_LEAST, SECONDS_PER_WORK = 20.0, 60.0
"""Some thirty times the usual seconds, so that a loaded machine gives the same plan."""
BITS = 28
"""Bits of a coefficient: CP-SAT 9.15 errs where products of two do not fit."""


class RulesModel:
    """
    Variables and constraints of the hard rules.

    Parameters
    ----------
    problem
        What to arrange; `fits_rules` must hold.
    capacity
        ``(N, R)`` in place of the bins' own; `None`: these.
    is_lenient
        Whether items may fail to do as they must, which is counted.
    inside
        Some bins that the model is of, which leaves out what other bins ask for;
        `None`: all.
    has_roles
        Whether the model has variables of roles; without, what roles add is left out.

    Attributes
    ----------
    gap
        Relative gap at which an answer counts as optimal.
    watch
        Is called with each better bound on the objective; `None`: nothing is.
    """

    def __init__(
        self,
        problem: Problem,
        capacity: IntArray | None = None,
        *,
        is_lenient: bool = False,
        inside: NodeBins | None = None,
        has_roles: bool = True,
    ) -> None:
        self.problem, self.is_lenient, self.inside = problem, is_lenient, inside
        self.has_roles, self.gap = has_roles, 0.0
        self.watch: Watch | None = None
        self.bins = list(range(problem.num_bins) if inside is None else inside.bins)
        self.capacity = usable_capacity(problem) if capacity is None else capacity
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
        self._add_capacities()
        self._add_nodes()
        self._add_move_caps()

    @property
    def failures(self) -> cp_model.LinearExpr:
        """Items that do not do as they must, and groups that break a cap."""
        terms = [*self.unmet, *self.broken.values()]
        return cp_model.LinearExpr.sum(terms)

    def solve(
        self, work: ExactWork, objective: cp_model.LinearExprT | None = None
    ) -> tuple[Found, Arrangement | None, bool]:
        """
        Return what is found, an arrangement, and whether it is proven the best.

        Parameters
        ----------
        work
            What it may take; what it took is taken off.
        objective
            To be as small as can be; `None`: anything that keeps the rules.
        """
        if work.rules <= 0:
            return Found.UNKNOWN, None, False
        self.model.clear_objective()  # type: ignore[no-untyped-call]
        if objective is not None:
            self.model.minimize(objective)
        status = self.run(work.rules)
        work.rules -= self.solver.response_proto.deterministic_time
        if status == cp_model.INFEASIBLE:
            return Found.NONE, None, True
        if status in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            at = self._arrangement(self.solver)
            return Found.SOME, at, status == cp_model.OPTIMAL
        return Found.UNKNOWN, None, False

    def run(self, work: float, seconds: float | None = None) -> cp_model.CpSolverStatus:
        """
        Solve the model as it stands, the same way anywhere.

        Parameters
        ----------
        work
            Deterministic seconds that it may take.
        seconds
            The same in seconds, where somebody waits; `None`: any.
        """
        self.solver = cp_model.CpSolver()
        parameters = self.solver.parameters
        parameters.num_workers, parameters.random_seed = 1, SEED
        parameters.max_deterministic_time = work
        parameters.relative_gap_limit = self.gap
        # At times CP-SAT raises a bound step by step, and counts next to no work.
        longest = SECONDS_AT_LEAST + SECONDS_PER_WORK * work
        within = longest if seconds is None else min(longest, seconds)
        parameters.max_time_in_seconds = within
        self.solver.best_bound_callback = self.watch
        return self.solver.solve(self.model)

    def suggest(self, at: Arrangement) -> None:
        """Give an arrangement as a hint: the first answer, if it keeps everything."""
        self.suggest_places(places_in(self.problem, at))
        holders = self._holders(at)
        for pair, leads in self.role.items():
            self.model.add_hint(leads, pair in holders)

    def suggest_places(self, places: set[Pair]) -> None:
        """Set the hint of the placement variables, without a hint for roles."""
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for pair, here in self.at.items():
            self.model.add_hint(here, pair in places)

    def _holders(self, at: Arrangement) -> set[Pair]:
        held = np.nonzero(at.role_of != NOWHERE)[0]
        bins = at.bin_of[at.role_of[held]]
        return set(zip(held.tolist(), bins.tolist(), strict=True))

    def keep(self, objective: cp_model.LinearExprT) -> None:
        """Let nothing be worse from now on than the last answer is."""
        self.model.add(objective <= self.solver.value(objective))

    def add_at_most(
        self, terms: Sequence[cp_model.IntVar], weights: Sequence[int], most: int
    ) -> None:
        """Add an upper bound on a weighted sum; rounding only relaxes it."""
        unit = max(max(map(abs, weights), default=0) >> BITS, 1)
        total = cp_model.LinearExpr.weighted_sum(terms, [w // unit for w in weights])
        self.model.add(total <= most // unit)

    def excess(
        self, over: Sequence[Pair], terms: Sequence[tuple[int, int, int]]
    ) -> list[cp_model.LinearExprT]:
        """
        Return the largest of weighted excesses over capacities, and their sum.

        Parameters
        ----------
        over
            Bins and resources.
        terms
            Of each its capacity, the most that it may be over, and its weight.
        """
        parts: list[cp_model.LinearExprT] = []
        largest = max((most * weight for _, most, weight in terms), default=0)
        peak = self.model.new_int_var(0, largest, "")
        for (b, r), (capacity, most, weight) in zip(over, terms, strict=True):
            beyond = self.model.new_int_var(0, most, "")
            self.model.add(self.load(b, r) - capacity <= beyond)
            self.model.add(beyond * weight <= peak)
            parts.append(beyond * weight)
        return [1 * peak, cp_model.LinearExpr.sum(parts)]

    def load(self, b: int, r: int) -> cp_model.LinearExprT:
        """Return the load of a bin in the end."""
        terms, weights = self._load_terms(b, r)
        fixed = int(self.problem.bins.fixed[b, r])
        return cp_model.LinearExpr.weighted_sum(terms, weights) + fixed

    def cost(self) -> cp_model.LinearExprT:
        """Return what all moves cost, each with a little for itself and its role."""
        problem = self.problem
        unit = max(int(problem.cost.max(initial=0)) >> 20, 1)
        most = problem.num_items + 1
        terms, weights = [], []
        for pair, here in self.at.items():
            if pair not in self.home:
                terms.append(here)
                price = int(problem.cost[pair[0]]) + problem.price_per_move
                weights.append(price // unit * most + 1)
        return cp_model.LinearExpr.weighted_sum(terms, weights)

    def _may_be_at(self, group: int, b: int) -> bool:
        problem = self.problem
        item = self.home.get((group, b))
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
            # What lies nowhere may go on doing so.
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
        """Keep a role where it must be released only while nothing else may hold it."""
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
        """Return how many items of a group are in a node before anything moves."""
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
        """No node with a free bin holds two less than another one."""
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

    def _load_terms(
        self, b: int, r: int, *, is_lower: bool = False
    ) -> tuple[list[cp_model.IntVar], list[int]]:
        """Return the terms of a load; without roles the least, or the most, of it."""
        problem, (groups, items) = self.problem, self._held[b]
        weight, role = problem.weight[groups, r], problem.role_weight[groups, r]
        if len(problem.extra) and len(items):
            weight = weight + np.where(items >= 0, problem.extra[items, r], 0)
        if not self.has_roles:
            weight = weight + (np.maximum if is_lower else np.minimum)(role, 0)
        chosen = np.nonzero(weight)[0]
        terms = [self.at[group, b] for group in groups[chosen].tolist()]
        weights = weight[chosen].tolist()
        leads = [g for g in groups[role != 0].tolist() if (g, b) in self.role]
        terms += [self.role[group, b] for group in leads]
        weights += problem.role_weight[leads, r].tolist()
        return terms, weights

    @cached_property
    def _held(self) -> dict[int, tuple[IntArray, IntArray]]:
        """Of each bin the groups with a variable there, and their items at home."""
        groups: dict[int, list[int]] = {b: [] for b in self.bins}
        for group, b in self.at:
            groups[b].append(group)
        return {
            b: (
                np.array(own, dtype=np.int64),
                np.array([self.home.get((g, b), NOWHERE) for g in own], dtype=np.int64),
            )
            for b, own in groups.items()
        }

    def _add_capacities(self) -> None:
        problem = self.problem
        for b, r in product(self.bins, range(self.problem.num_resources)):
            most = int(self.capacity[b, r])
            if most >= NO_LIMIT:
                continue
            terms, weights = self._load_terms(b, r)
            most -= int(problem.bins.fixed[b, r])
            if problem.is_transient[r]:
                terms, weights, stays = self._while_copying(b, r)
                most -= stays
            if most < LARGEST:
                self.add_at_most(terms, weights, most)

    def _while_copying(
        self, b: int, r: int
    ) -> tuple[list[cp_model.IntVar], list[int], int]:
        """Return what comes to a bin, and what is there until all is copied."""
        problem, stays = self.problem, 0
        terms, weights = [], []
        for group in range(problem.num_groups):
            item, weight = self.home.get((group, b)), int(problem.weight[group, r])
            if not self.has_roles:
                weight += min(int(problem.role_weight[group, r]), 0)
            if item is not None:
                stays += weight
                stays += int(problem.extra[item, r]) if len(problem.extra) else 0
            elif (group, b) in self.at:
                terms.append(self.at[group, b])
                weights.append(weight)
            if (group, b) in self.role:
                terms.append(self.role[group, b])
                weights.append(int(problem.role_weight[group, r]))
        return terms, weights, stays

    def _add_nodes(self) -> None:
        """Bins of a node carry together no more than the node may."""
        for level, limits in limited_levels(self.problem):
            usable = usable_in_nodes(self.problem, level, limits)
            for node, r in np.ndindex(*usable.shape):
                most = int(usable[node, r])
                if most >= NO_LIMIT:
                    continue
                terms, weights = [], []
                for b in np.nonzero(level.node_of_bin == node)[0].tolist():
                    more, heavy = self._load_terms(b, r)
                    terms += more
                    weights += heavy
                self.add_at_most(terms, weights, most - int(limits.fixed[node, r]))

    def _add_move_caps(self) -> None:
        """Keep moves, their cost, and that of those between zones within their caps."""
        problem = self.problem
        moves = [pair for pair in self.at if pair not in self.home]
        rows = [
            (problem.max_moves, [1] * len(moves)),
            (
                problem.max_cost,
                [int(problem.cost[g]) * problem.price_across for g, _ in moves],
            ),
            (problem.max_crossing, [self._crossing(*pair) for pair in moves]),
        ]
        for most, prices in rows:
            if most < NO_LIMIT:
                terms = [self.at[pair] for pair in moves]
                self.add_at_most(terms, prices, int(most))

    def _crossing(self, group: int, b: int) -> int:
        """Return what a move to a bin costs between zones; 0 inside one."""
        if not self.problem.has_zones:
            return 0
        source = int(self.problem.source_zone[group])
        crosses = source >= 0 and source != self.problem.zone_of_bin[b]
        return int(self.problem.cost[group]) if crosses else 0

    def _arrangement(self, solver: cp_model.CpSolver) -> Arrangement:
        """Read an answer off."""
        holders = {p for p, leads in self.role.items() if solver.boolean_value(leads)}
        return arranged(self.problem, self.places(solver), holders)

    def places(self, solver: cp_model.CpSolver) -> set[Pair]:
        """Return which group has an item in which bin."""
        return {pair for pair, here in self.at.items() if solver.boolean_value(here)}


def places_in(problem: Problem, at: Arrangement) -> set[Pair]:
    """Return the pairs of group and bin that hold an item."""
    return set(zip(problem.group_of.tolist(), at.bin_of.tolist(), strict=True))


def arranged(problem: Problem, places: set[Pair], holders: set[Pair]) -> Arrangement:
    """
    Return an arrangement: items whose bin is kept stay, the rest fill up.

    Parameters
    ----------
    problem
        Whose items these are.
    places, holders
        Groups and the bins that have an item of theirs, or the one with the role.
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
