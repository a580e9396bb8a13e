r"""
Exact models for small problems (PuLP, HiGHS).

With :math:`y_{gb} = 1` iff group :math:`g` has an item in bin :math:`b` and
:math:`\ell_{gb} = 1` iff that item holds its role,

.. math::

    \min \sum_{g,\, b \notin H_g} c_g y_{gb} \quad \text{s.t.} \quad
    \sum_b y_{gb} = n_g, \quad \sum_b \ell_{gb} = 1, \quad \ell_{gb} \le y_{gb}, \quad
    l_{br} \le f_{br} + \sum_g (w_{gr} y_{gb} + v_{gr} \ell_{gb}) \le u_{br},

with the group caps of every level, and a row for each cap on all moves. Items of a
group are interchangeable, so the model places groups; single items are assigned
afterwards. HiGHS runs on one thread with a node limit and without a time limit: answer
and dual bound are the same on any machine.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pulp

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.model_scaling import cap_unit, caps_of, scale_of
from placement.core.exact.work_limit import ExactWork, Watch
from placement.core.model.arrangement import Arrangement
from placement.core.model.node_limits import limited_levels, usable_in_nodes
from placement.core.model.objective import open_bins, usable_capacity
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Movability,
    Problem,
)

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """
    Result of an exact model.

    Parameters
    ----------
    at
        Best arrangement, or `None` if none was found.
    dual_bound
        Lower bound of HiGHS within the bands, in units of the model's objective.
    is_infeasible
        Whether no arrangement within the bands exists.
    """

    at: Arrangement | None
    dual_bound: float
    is_infeasible: bool


class _Model:
    """Variables and constraints of one model."""

    def __init__(self, problem: Problem, bands: Bands, objective: str) -> None:
        self.problem = problem
        self.model = pulp.LpProblem(objective, pulp.LpMinimize)
        self.at: dict[Pair, pulp.LpVariable] = {}
        self.role: dict[Pair, pulp.LpVariable] = {}
        self.home: dict[Pair, int] = {}
        for item, b in enumerate(problem.home.tolist()):
            self.home[int(problem.group_of[item]), b] = item
        self.peak = self.model.add_variable("outside", lowBound=0)
        for group in range(problem.num_groups):
            self._add_group(group)
        self._add_bands(bands, is_free=objective == "deviation")
        self._add_caps()
        self._add_nodes()
        self._add_move_caps()
        self.model += self._objective(objective)

    def _may_be_at(self, group: int, b: int) -> bool:
        item = self.home.get((group, b))
        if item is not None:
            return bool(self.problem.movability[item] != Movability.MUST)
        allowed = self.problem.is_eligible[
            self.problem.group_class[group], self.problem.bin_class[b]
        ]
        return bool(allowed and self.problem.may_receive[b])

    def _add_group(self, group: int) -> None:
        problem, model = self.problem, self.model
        start, stop = problem.group_start[group : group + 2]
        for b in range(problem.num_bins):
            if not self._may_be_at(group, b):
                continue
            here = model.add_variable(f"at_{group}_{b}", cat=pulp.LpBinary)
            self.at[group, b] = here
            item = self.home.get((group, b))
            if item is not None and problem.movability[item] == Movability.NEVER:
                model += here == 1, f"stays_{group}_{b}"
        bins = [b for b in range(problem.num_bins) if (group, b) in self.at]
        total = pulp.lpSum(self.at[group, b] for b in bins)
        model += total == int(stop - start), f"size_{group}"
        if problem.role_home[group] != NOWHERE:
            self._add_role(group, bins)

    def _add_role(self, group: int, bins: list[int]) -> None:
        problem, model = self.problem, self.model
        holder = int(problem.home[problem.role_home[group]])
        for b in bins:
            if not (problem.may_hold_role[b] or b == holder):
                continue
            leads = model.add_variable(f"role_{group}_{b}", cat=pulp.LpBinary)
            self.role[group, b] = leads
            model += leads <= self.at[group, b], f"role_here_{group}_{b}"
        leads_of = [self.role[group, b] for b in bins if (group, b) in self.role]
        model += pulp.lpSum(leads_of) == 1, f"one_role_{group}"
        if not problem.is_role_movable[group] and (group, holder) in self.role:
            stays = self.role[group, holder] >= self.at[group, holder]
            model += stays, f"role_stays_{group}"

    def _load(self, b: int, r: int) -> list[pulp.LpAffineExpression]:
        problem = self.problem
        terms = []
        for group in range(problem.num_groups):
            here = self.at.get((group, b))
            if here is None:
                continue
            weight = int(problem.weight[group, r])
            item = self.home.get((group, b))
            if item is not None and len(problem.extra):
                weight += int(problem.extra[item, r])
            if weight:
                terms.append(weight * here)
            leads = self.role.get((group, b))
            if leads is not None and problem.role_weight[group, r]:
                terms.append(int(problem.role_weight[group, r]) * leads)
        return terms

    def _add_bands(self, bands: Bands, *, is_free: bool) -> None:
        bins, usable = self.problem.bins, usable_capacity(self.problem)
        for b, r in np.ndindex(*bins.target.shape):
            lower, upper = int(bands.lower[b, r]), int(bands.upper[b, r])
            capacity = int(usable[b, r])
            if lower <= 0 and min(upper, capacity) >= NO_LIMIT:
                continue
            # Scaled to about 1: HiGHS's tolerance is 1e-6, bytes are 1e12.
            unit = float(bins.target[b, r]) or max(float(capacity), 1.0)
            terms = self._load(b, r)
            load = pulp.lpSum(term / unit for term in terms)
            load += int(bins.fixed[b, r]) / unit
            slack = self.peak if is_free else 0
            if upper < NO_LIMIT:
                self.model += load - slack <= upper / unit, f"upper_{b}_{r}"
            if lower > 0:
                self.model += load + slack >= lower / unit, f"lower_{b}_{r}"
            if capacity < NO_LIMIT:
                self.model += load <= capacity / unit, f"capacity_{b}_{r}"

    def _add_nodes(self) -> None:
        """Add the capacities of nodes: limits on the summed loads of their bins."""
        for position, (level, limits) in enumerate(limited_levels(self.problem)):
            usable = usable_in_nodes(self.problem, level, limits)
            for node, r in np.ndindex(*usable.shape):
                most = int(usable[node, r])
                bins = np.nonzero(level.node_of_bin == node)[0].tolist()
                if most >= NO_LIMIT or not bins:
                    continue
                unit = max(float(most), 1.0)
                terms = [term / unit for b in bins for term in self._load(b, r)]
                own = int(limits.fixed[node, r])
                name = f"node_{position}_{node}_{r}"
                self.model += pulp.lpSum(terms) + own / unit <= most / unit, name

    def _add_caps(self) -> None:
        for position, level in enumerate(self.problem.levels):
            if position == 0 or level.group_cap is None:
                continue
            inside: dict[Pair, list[pulp.LpVariable]] = defaultdict(list)
            for (group, b), here in self.at.items():
                if level.node_of_bin[b] >= 0:
                    inside[group, int(level.node_of_bin[b])].append(here)
            free = open_bins(level)
            for (group, node), members in inside.items():
                cap = int(level.group_cap[group])
                if cap == 0:
                    continue
                name = f"{position}_{group}_{node}"
                self.model += pulp.lpSum(members) <= cap, f"cap_{name}"
                floor = min(cap - 1, int(free[node]))
                if level.is_even and floor > 0:
                    self.model += pulp.lpSum(members) >= floor, f"even_{name}"

    def _add_move_caps(self) -> None:
        """Add the caps on the number, the cost and the zone crossings of moves."""
        for what, most in caps_of(self.problem).items():
            if most < NO_LIMIT:
                self.model += self._spent(what) <= most / cap_unit(most), f"most_{what}"

    def _spent(self, what: str) -> pulp.LpAffineExpression:
        """Return the use of one of these caps by all moves, in its unit."""
        costs = self.problem.cost * self.problem.price_across
        price: Callable[[int, int], int] = {
            "moves": lambda *_: 1,
            "cost": lambda group, _: int(costs[group]),
            "crossing": self._crossing,
        }[what]
        unit = cap_unit(caps_of(self.problem)[what])
        moves = {pair: here for pair, here in self.at.items() if pair not in self.home}
        return pulp.lpSum(price(*pair) / unit * here for pair, here in moves.items())

    def _objective(self, objective: str) -> pulp.LpAffineExpression:
        return self._cost() if objective == "cost" else 1 * self.peak

    def _crossing(self, group: int, b: int) -> int:
        """Return the crossing cost of a move to a bin; 0 inside the source zone."""
        source = int(self.problem.source_zone[group])
        crosses = source >= 0 and source != self.problem.zone_of_bin[b]
        return int(self.problem.cost[group]) if crosses else 0

    def _cost(self) -> pulp.LpAffineExpression:
        """Return cost, moves and role changes, weighted in lexicographic order."""
        problem, unit = self.problem, scale_of(self.problem)
        terms = []
        for (group, b), here in self.at.items():
            if (group, b) not in self.home:
                price = int(problem.cost[group]) * problem.price_across
                terms.append(
                    (unit.of(price + problem.price_per_move) + unit.move) * here
                )
        for (group, b), leads in self.role.items():
            if self.home.get((group, b)) != problem.role_home[group]:
                terms.append(unit.role * leads)
        return pulp.lpSum(terms)

    def arrangement(self) -> Arrangement:
        """Return the arrangement of the solution; items stay if their bin is used."""
        problem = self.problem
        bin_of = problem.home.copy()
        role_of = problem.role_home.copy()
        for group in range(problem.num_groups):
            items = range(*problem.group_start[group : group + 2].tolist())
            bins = [
                b for b in range(problem.num_bins) if _is_one(self.at.get((group, b)))
            ]
            stay = {int(problem.home[i]) for i in items} & set(bins)
            rest = iter([b for b in bins if b not in stay])
            for item in items:
                if int(problem.home[item]) not in stay:
                    bin_of[item] = next(rest)
            for item in items:
                if _is_one(self.role.get((group, int(bin_of[item])))):
                    role_of[group] = item
        return Arrangement(bin_of, role_of)


class _Limited(pulp.HiGHS):  # type: ignore[misc] # PuLP has no types
    """HiGHS with early termination, which PuLP 3.3 does not report correctly."""

    def findSolutionValues(  # noqa: N802 - PuLP's name
        self, lp: pulp.LpProblem
    ) -> tuple[int, int]:
        """Return the status, also after a limit was reached, and read the values."""
        try:
            found: tuple[int, int] = super().findSolutionValues(lp)
        except KeyError:
            # Node limit reached; PuLP reads the values before the status.
            found = pulp.LpStatusOptimal, pulp.LpSolutionIntegerFeasible
        objective = lp.solverModel.getInfo().objective_function_value
        ended = pulp.LpStatusOptimal, pulp.LpSolutionIntegerFeasible
        if found == ended and not np.isfinite(objective):
            # Interrupted before any solution was found.
            return pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound
        return found


def _is_one(variable: pulp.LpVariable | None) -> bool:
    return variable is not None and (variable.value() or 0) > 0.5


def solve_model(
    problem: Problem,
    bands: Bands,
    objective: str,
    max_nodes: int,
    seed: int = 1,
    work: ExactWork | None = None,
) -> Exact:
    """
    Solve one exact model.

    Parameters
    ----------
    problem
        Problem to solve; `fits_model` must hold.
    bands
        Bands to keep; not enforced for the objective "deviation".
    objective
        ``cost`` within the bands, or ``deviation``: the largest distance outside.
    max_nodes
        Node limit of branch and bound.
    seed
        Seed of the solver's random numbers.
    work
        Remaining work, reduced by this solve; `None`: unlimited.
    """
    built = _Model(problem, bands, objective)
    watch = Watch(NO_LIMIT if work is None else work.for_one())
    solver = _Limited(
        msg=False,
        threads=1,
        mip_max_nodes=max_nodes,
        random_seed=seed,
        mip_rel_gap=0.0,
        callbackTuple=(watch, None),
        callbacksToActivate=[pulp.HiGHS.hscb.HighsCallbackType.kCallbackMipInterrupt],
    )
    built.model.solve(solver)
    if work is not None:
        work.left -= int(watch.spent)
    status = built.model.status
    if status == pulp.LpStatusInfeasible:
        return Exact(None, float("inf"), is_infeasible=True)
    highs = built.model.solverModel
    info = highs.getInfo()
    dual = float(info.mip_dual_bound)
    has_answer = built.model.sol_status in {
        pulp.LpSolutionOptimal,
        pulp.LpSolutionIntegerFeasible,
    }
    at = built.arrangement() if has_answer else None
    return Exact(at, dual, is_infeasible=False)
