"""
Log dirs of some brokers, solved until the bands aimed at are those of the answer.

The band of a log dir depends on its heaviest replica, which may move.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from placement.array_types import IndexArray, IntArray
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import home_arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.problem import NOWHERE, Problem
from placement.core.model.search_budget import Effort
from placement.core.model.solution import MET, Solution
from placement.core.solve import prove, solve
from placement.core.solve_hard_rules import solve_bare
from placement.log_dirs.dir_problem import Tables, disk_alone
from placement.model.cluster import ABSENT
from placement.model.targets import Targets

MAX_BAND_ROUNDS = 4
"""Maximum number of rounds in which bands are recomputed after heavy replicas moved."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DirSearch:
    """
    Search for the log dirs of the replicas of some brokers.

    Parameters
    ----------
    table
        Data of all brokers.
    rows, items
        Log dirs of the brokers, and their replicas.
    caps
        Caps on moves and on their cost, as fields of the problem.
    effort, deadline
        Budget of the search, and the time at which it ends.
    work
        Remaining work of the exact models of the plan.
    """

    table: Tables
    rows: IntArray
    items: IntArray
    caps: dict[str, Any]
    effort: Effort
    deadline: Deadline
    work: ExactWork

    def settled(self) -> Solution:
        """Return the best solution found, with bounds for the bands it reaches."""
        targets, best = self.table.targets, None
        for _ in range(MAX_BAND_ROUNDS):
            found = self._solved(targets)
            again = self._reached(found)
            is_settled = self._are_same(targets, again)
            rank = (*self._rank(found), not is_settled)
            if best is None or rank < best[0]:
                best = rank, found, is_settled
            if is_settled or self.deadline.is_over():
                break
            targets = again
        assert best is not None  # noqa: S101 - there is at least one round
        _, found, is_settled = best
        if found.status not in MET:
            return found if self.deadline.is_over() else self._packed(found)
        return found if is_settled else self._by_bands_reached(found)

    def proven_alone(self, broker: int, found: Solution) -> Solution:
        """Return the part of a solution in one broker, with bounds of its own."""
        table, place = self.table, self.place_of(found.best.bin_of)
        rows, items = table.rows_of(broker), table.items[broker]
        bin_of = np.searchsorted(rows, place[items])
        problem = table.problem(items, rows, table.targets_at(place), {})
        is_placed = np.not_equal(place[items], ABSENT)
        at = replace(
            home_arrangement(problem),
            bin_of=np.where(is_placed, bin_of, NOWHERE).astype(np.int32),
        )
        return prove(problem, at, effort=self.effort, deadline=self.deadline)

    def place_of(self, bin_of: IndexArray) -> IntArray:
        """Return the log dirs of all replicas with these ones in bins."""
        place = self.table.home.copy()
        place[self.items] = np.where(bin_of < 0, ABSENT, self.rows[bin_of])
        return place

    def _by_bands_reached(self, best: Solution) -> Solution:
        """Return a solution for the bands that the best one reached without aiming."""
        targets = self._reached(best)
        if not self.deadline.is_over():
            found = self._solved(targets)
            is_settled = self._are_same(targets, self._reached(found))
            if is_settled and self._rank(found) <= self._rank(best):
                return found
        return prove(
            self._problem(targets),
            best.best,
            effort=self.effort,
            deadline=self.deadline,
        )

    def _packed(self, found: Solution) -> Solution:
        """Return a solution of the hard rules alone, if one keeps them."""
        problem = self._problem(self._reached(found))
        packed = solve_bare(
            problem,
            effort=self.effort,
            seed=self.table.draft.settings.seed,
            deadline=self.deadline,
        )
        if packed.status not in MET:
            return found
        return prove(problem, packed.best, effort=self.effort, deadline=self.deadline)

    def _problem(self, targets: Targets) -> Problem:
        return self.table.problem(self.items, self.rows, targets, self.caps)

    def _solved(self, targets: Targets) -> Solution:
        return solve(
            self._problem(targets),
            effort=self.effort,
            seed=self.table.draft.settings.seed,
            deadline=self.deadline,
            work=self.work,
        )

    def _reached(self, found: Solution) -> Targets:
        """Return targets and bands by the replicas in each log dir after a solution."""
        return self.table.targets_at(self.place_of(found.best.bin_of))

    def _rank(self, found: Solution) -> tuple[float, ...]:
        """Return what is least for the best solution, each by its own bands."""
        place = self.place_of(found.best.bin_of)
        targets = self.table.targets_at(place)
        outside = targets.outside(disk_alone(self.table.loads(place)))[self.rows, 0]
        return (
            0 if found.status in MET else 1,
            round(float(outside.max(initial=0.0)), 9),
            round(float(outside.sum()), 7),
            found.certificate.cost.value,
        )

    def _are_same(self, aimed: Targets, reached: Targets) -> bool:
        return all(
            np.allclose(one[self.rows], other[self.rows], rtol=1e-9)
            for one, other in (
                (aimed.target, reached.target),
                (aimed.lower, reached.lower),
                (aimed.upper, reached.upper),
            )
        )
