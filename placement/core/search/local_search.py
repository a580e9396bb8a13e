"""
Local search in stages, for any size, with the same result on any machine.

Goals: hard rules first, then the least distance outside the bands, then the least cost.
Algorithm: items that must move are placed largest first; broken caps are repaired;
nodes out of their band are relieved worst first by role changes, moves and exchanges;
items that need not have moved return home. Limits are in steps, never in seconds.
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any

import numpy as np

from placement.core.bounds.infeasibility import is_impossible
from placement.core.model.arrangement import Arrangement, settled
from placement.core.model.objective import Value, broken_groups, evaluate
from placement.core.model.problem import NO_LIMIT, Movability, Problem
from placement.core.model.search_budget import (
    IDLE_TURNS,
    LEAST_PAY,
    MORE_FREE,
    TURN,
    most_rounds,
    scans,
)
from placement.core.search.kernel_runner import KernelRunner
from placement.core.search.kernels import stages
from placement.core.search.kernels.layout import (
    BASE_PRICE,
    COST,
    MINDS_SPREAD,
)
from placement.core.search.kernels.placing import ALL_BINS
from placement.core.search.kernels.state import (
    arrangement_of,
)

PRICED_ITEMS = 200_000
"""Number of items up to which restarts are made where every move has a price."""
SMALL_ITEMS = 10_000
"""Number of items up to which every base price is tried from the start."""
PATIENCE = 3
"""Number of rounds over all bins without gain after which balancing ends."""
DEAR_STEPS = 12
"""Number of plain steps that one step with pairs of moves counts as."""
ROLE_SWEEPS = 8
"""Largest number of sweeps over all roles."""
TRADE_SCAN = 64
"""Number of items of a bin examined for roles to give in a swap."""
TRIM_SCAN = 256
"""Number of items examined to replace a moved item by a cheaper one."""

BASE_PRICES = (0.3, 1.0, 0.1, 3.0)
"""Base prices of a move to try in turn, in mean costs of an item."""
MUCH_NEARER = 0.9
"""Ratio of distances below which exceeding the caps on collections is worth it."""


class Spread(Enum):
    """Use of the soft caps on collections."""

    ALWAYS = auto()
    FIRST = auto()
    """Enforced until the bands cannot be met with them."""
    NEVER = auto()


class Searcher(KernelRunner):
    """Local search on one problem in stages; parameters as `KernelRunner`."""

    @property
    def _patience(self) -> int:
        # Few bins are all tried: a second round would find nothing new.
        return PATIENCE if self._problem.num_bins > ALL_BINS else 1

    def improve(self, at: Arrangement, value: Value) -> tuple[Arrangement, Value]:
        """
        Return the arrangement improved by the stages, and its value.

        Moves are scored by gain per price, with a base price of any move added. The
        best base price differs between problems, so several are tried until all loads
        are in band. In a large problem each continues from the last; in a small one
        each starts again and the best answer is kept.
        """
        price = self._problem.price_per_move
        if self._problem.num_items > (PRICED_ITEMS if price else SMALL_ITEMS):
            found = self._attempt(at, BASE_PRICES, Spread.FIRST)
            worth = evaluate(self._problem, found)
            return (found, worth) if worth < value else (at, value)
        if self._effort.starts == 1:
            # `FIRST` starts with the caps on collections enforced.
            return self._by_prices(at, (at, value), Spread.FIRST)
        return self._minding_spread(at, value)

    def _minding_spread(
        self, at: Arrangement, value: Value
    ) -> tuple[Arrangement, Value]:
        """Enforce the caps on collections unless that keeps loads out of band."""
        best, best_value = self._by_prices(at, (at, value), Spread.ALWAYS)
        is_done = best_value.is_in_band or self._is_hopeless(best_value)
        if is_done or not len(self._problem.collection_cap):
            return best, best_value
        if self._is_priced:
            best, best_value = self.recreate(best, best_value)
            if best_value.is_in_band:
                return best, best_value
        best, best_value = self._by_prices(at, (best, best_value), Spread.FIRST)
        if best_value.is_in_band:
            return best, best_value
        free, worth = self._by_prices(at, (at, value), Spread.NEVER)
        is_nearer = worth.deviation < MUCH_NEARER * best_value.deviation
        if worth < best_value and is_nearer:
            return free, worth
        return best, best_value

    def _by_prices(
        self, at: Arrangement, known: tuple[Arrangement, Value], spread: Spread
    ) -> tuple[Arrangement, Value]:
        """Try the base prices one by one, each from the start."""
        best, best_value = known
        for base_price in BASE_PRICES[: self._effort.starts]:
            found = self._attempt(at, (base_price,), spread)
            worth = evaluate(self._problem, found)
            is_same = worth == best_value
            if worth < best_value:
                best, best_value = found, worth
            if self._deadline.is_over() or self._is_hopeless(best_value):
                break
            # If moves have a price, reaching the bands is only part of the objective.
            if is_same or (worth.is_in_band and not self._problem.price_per_move):
                break
        return best, best_value

    def _is_hopeless(self, value: Value) -> bool:
        """Return whether hard rules are broken and proven infeasible."""
        if not value.key[0]:
            return False
        if self.is_hopeless is None:
            self.is_hopeless = is_impossible(self._problem)
        return self.is_hopeless

    def _attempt(
        self, at: Arrangement, base_prices: Sequence[float], spread: Spread
    ) -> Arrangement:
        self._begin(at)
        self._now.ints[MINDS_SPREAD] = int(spread is not Spread.NEVER)
        self._meet_rules()
        if not self._problem.has_caps:
            # With caps on moves, bins furthest out of band precede empty ones.
            self._call(stages.fill)
        for base_price in base_prices:
            usual = self._mean_cost + self._problem.price_per_move
            self._now.floats[BASE_PRICE] = 1.0 + base_price * usual
            if not self._deadline.is_over():
                self._call(stages.level_roles, ROLE_SWEEPS)
            for scan in scans(self._problem.price_per_move):
                self._balance(scan)
            self._balance(self._effort.pair_scan, is_thorough=True)
            self._trade_roles()
            if self._is_in_band() or self._deadline.is_over():
                break
        if spread is Spread.FIRST:
            self._balance_anyhow()
        self._tidy()
        return settled(self._problem, arrangement_of(self._now, self._problem))

    def _balance_anyhow(self) -> None:
        """Bring loads into their bands without the caps on collections."""
        if not len(self._problem.collection_cap) or self._is_in_band():
            return
        self._now.ints[MINDS_SPREAD] = 0
        self._call(stages.level_roles, ROLE_SWEEPS)
        for scan in scans(self._problem.price_per_move):
            self._balance(scan)
        self._now.ints[MINDS_SPREAD] = 1

    def _trade_roles(self) -> None:
        """Swap roles after no move and no single role change gains any more."""
        most = 64 + 2 * self._effort.steps_per_item * self._problem.num_bins
        # A search with a single start is quick and skips this stage.
        for _ in range(self._effort.starts - 1):
            if self._is_in_band() or self._deadline.is_over():
                return
            self._speed_up()
            if not self._call(stages.trade_roles, most, TRADE_SCAN):
                return
            self._balance(64)

    def _meet_rules(self) -> None:
        problem = self._problem
        must = np.equal(problem.movability, Movability.MUST) | (problem.home < 0)
        if must.any():
            rows = np.nonzero(must)[0]
            order = rows[np.argsort(-_size(problem, rows), kind="stable")]
            self._call(stages.place, self._column(order))
        if problem.must_release_role.any():
            self._call(stages.release)
        broken = np.nonzero(
            broken_groups(problem, arrangement_of(self._now, self._problem))
        )[0]
        if len(broken):
            self._call(stages.respread, self._column(broken))

    def _tidy(self) -> None:
        if self._deadline.is_over():
            return
        if self._call(stages.trim, self._moved(), TRIM_SCAN):
            self._balance(64)
            self._call(stages.trim, self._moved(), 0)
        self._call(stages.return_roles, self._column(self._problem.role_home.copy()))

    def recreate(
        self, at: Arrangement, best: Value, enough: int = 0
    ) -> tuple[Arrangement, Value]:
        """
        Ruin and recreate parts of an arrangement; return the better answer.

        The rounds end once the cost is at most `enough`.
        """
        if best.moves == 0:
            return at, best
        self._begin(at)
        self._speed_up(is_long=True)
        self._now.floats[BASE_PRICE] = 1.0 + self._mean_cost
        self._shake(enough)
        self._tidy()
        tried = settled(self._problem, arrangement_of(self._now, self._problem))
        value = evaluate(self._problem, tried)
        return (tried, value) if value < best else (at, best)

    def _shake(self, enough: int) -> None:
        """Run ruin rounds, and more of them while they pay."""
        rounds, problem = self._effort.rounds, self._problem
        most = most_rounds(self._effort, problem.num_items, problem.price_per_move)
        least_pay, patience = self._effort.least_pay, IDLE_TURNS
        if problem.price_per_move:
            least_pay, patience = LEAST_PAY, 1
        self._ruin(rounds)
        if not (problem.price_per_move or self._is_in_band()):
            # Ruin seldom reduces the distance to infeasible bands.
            most = min(most, MORE_FREE)
        idle = 0
        if self._now.ints[COST] > enough:
            self._speed_up(is_long=True, rounds=most - rounds)
        rounds += self._anneal(most - rounds, enough)
        while rounds < most and idle < patience and self._now.ints[COST] > enough:
            was_in_band, cost = self._is_in_band(), self._now.ints[COST]
            turn = min(TURN, most - rounds)
            rounds += turn
            self._ruin(turn)
            has_paid = self._now.ints[COST] < (1 - least_pay) * cost
            is_nearer = self._is_in_band() and not was_in_band
            idle = 0 if is_nearer or has_paid else idle + 1
            if self._deadline.is_over():
                break

    def _anneal(self, most: int, enough: int) -> int:
        """
        Run ruin rounds that may raise the cost, by ever less; return their number.

        Threshold accepting (Dueck and Scheuer 1990) leaves the local optima in which
        strict improvement ends. The largest increase is in proportion to the gap per
        moved item, so that an answer near its bound is not disturbed.
        """
        if self._problem.price_per_move or not self._is_in_band():
            return 0
        turns = most * 9 // 10 // TURN if self._effort.slack else 0
        gap = self._now.ints[COST] - enough
        slack = self._effort.slack * gap / max(1, len(self._moved()))
        for turn in range(turns):
            if self._now.ints[COST] <= enough or self._deadline.is_over():
                return turn * TURN
            self._ruin(TURN, int(slack * (1 - turn / turns)))
        return turns * TURN

    def _ruin(self, rounds: int, slack: int = 0) -> None:
        moved = self._column(np.zeros(self._problem.num_items, dtype=np.int64))
        self._in_turns(stages.shake, (moved,), rounds, 64, slack)

    def _balance(self, scan: int, *, is_thorough: bool = False) -> None:
        if self._is_in_band() and self.steps:
            return
        steps = self._effort.steps_per_item
        limit = 1000 + steps * self._problem.num_items
        if is_thorough:
            # Pairs of moves are many; their late gains are not worth the time.
            limit = 64 + 2 * steps * self._problem.num_bins
        self._speed_up()
        more = (scan, int(is_thorough), self._patience)
        made = self._in_turns(stages.balance_all, (), limit, *more)
        self.steps += made
        self._compiling.count(made * (DEAR_STEPS if is_thorough else 1))


def _size(problem: Problem, rows: Any) -> Any:  # noqa: ANN401 - (rows,) floats
    """Return each item's largest weight relative to mean targets, else capacities."""
    bins = problem.bins
    unit = bins.target
    if not (unit > 0).any():
        unit = np.where(bins.capacity < NO_LIMIT, bins.capacity, 0)
    typical = np.array(
        [
            column[column > 0].mean() if (column > 0).any() else np.inf
            for column in unit.T
        ]
    )
    weight = problem.weight[problem.group_of[rows]]
    return (weight / typical).max(axis=1, initial=0.0)
