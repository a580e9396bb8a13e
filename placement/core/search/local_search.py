"""
Local search in stages: correct for any size, the same result on any machine.

Goals: hard rules first; then as near to the bands as can be; then the least cost.
Algorithm: items that must move are placed largest first; broken caps are repaired;
nodes out of their band are relieved worst first by role changes, moves and exchanges;
what need not have moved is sent home. Limits are counted in steps, never in seconds.
"""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any

import numpy as np

from placement.core.bounds.infeasibility import is_impossible
from placement.core.model.arrangement import Arrangement, settled
from placement.core.model.deadline import Deadline
from placement.core.model.objective import Value, broken_groups, evaluate
from placement.core.model.problem import NO_LIMIT, Movability, Problem
from placement.core.model.search_budget import (
    FEW_PRICED,
    IDLE_TURNS,
    LEAST_PAY,
    MORE_FREE,
    TURN,
    Effort,
    most_rounds,
    scans,
)
from placement.core.search.compilation import Compiling
from placement.core.search.kernels import stages
from placement.core.search.kernels.jit import compiled
from placement.core.search.kernels.layout import (
    BASE_PRICE,
    COST,
    IS_FULL,
    MINDS_SPREAD,
    NOISE,
    NUM_NODES,
    PENALTY,
)
from placement.core.search.kernels.placing import ALL_BINS
from placement.core.search.kernels.state import (
    Memory,
    arrangement_of,
    as_lists,
    lay_again,
    lay_out,
)

PRICED_ITEMS = 200_000
"""The same where every move has a price."""
SMALL_ITEMS = 10_000
"""Up to so many items every price of a move is tried from the start."""
PATIENCE = 3
"""Rounds over all bins without any gain before balancing ends."""
DEAR_STEPS = 12
"""Steps that one step with pairs of moves counts for."""
MOST_REPACKED = 8
"""How often a stage goes on after its lists had to be laid out anew."""
ROLE_SWEEPS = 8
"""Sweeps over all roles at most."""
STEPS_AT_ONCE = 1000
"""Steps between two looks at the clock, where there is a deadline."""
TRADE_SCAN = 64
"""Items of a bin that are looked at for the roles that it may hand on in a trade."""
TRIM_SCAN = 256
"""Items looked at to replace a moved one by a cheaper one."""

BASE_PRICES = (0.3, 1.0, 0.1, 3.0)
"""Prices of any move that are tried in turn, in mean costs of an item."""
MUCH_NEARER = 0.9
"""Part of a distance from the bands that is worth letting collections pile up."""
KEPT = (NOISE, MINDS_SPREAD)
"""Scalars of a search that go on as they are where lists are laid out anew."""


class Spread(Enum):
    """When the soft caps on collections are minded."""

    ALWAYS = auto()
    FIRST = auto()
    """Until bands cannot be met with them."""
    NEVER = auto()


class Searcher:
    """
    One problem laid out for the kernels, and the stages on it.

    Parameters
    ----------
    problem
        What to solve.
    effort
        How much work to do.
    seed
        Of the random numbers.
    deadline
        When to end, with what is found by then.
    is_compiled
        Whether to run compiled from the start, however small the problem is.
    """

    def __init__(
        self,
        problem: Problem,
        effort: Effort,
        seed: int,
        deadline: Deadline | None = None,
        *,
        is_compiled: bool = False,
    ) -> None:
        self._problem = problem
        self._effort = effort
        self._seed = seed
        self._deadline = deadline or Deadline()
        self._compiling = Compiling(
            problem.num_items,
            effort,
            is_priced=self._is_priced,
            is_on=is_compiled,
        )
        self._laid_out: Memory | None = None
        self._live: Memory | None = None
        self._mean_cost = float(problem.cost[problem.group_of].sum()) / max(
            problem.num_items, 1
        )
        self.is_hopeless: bool | None = None
        self.steps = 0

    @property
    def effort(self) -> Effort:
        """How much work it does."""
        return self._effort

    @property
    def _patience(self) -> int:
        # Of few bins every one is tried: a second round would find nothing else.
        return PATIENCE if self._problem.num_bins > ALL_BINS else 1

    @property
    def _is_priced(self) -> bool:
        """Whether more rounds of ruin pay: moves have a price, and are not so few."""
        is_small = self._problem.num_items <= FEW_PRICED
        return self._problem.price_per_move > 0 and not is_small

    def _column(self, values: Any) -> Any:  # noqa: ANN401 - array or list
        return values if self._compiling.is_on else values.tolist()

    @property
    def _now(self) -> Memory:
        """The memory that the stages work on: arrays, or lists while uncompiled."""
        assert self._live is not None  # noqa: S101 - made before any stage
        return self._live

    def _call(
        self,
        entry: Callable[..., int],
        *arguments: Any,  # noqa: ANN401 - numbers, arrays or lists
    ) -> int:
        run = compiled(entry) if self._compiling.is_on else entry
        done = 0
        for _ in range(MOST_REPACKED):
            done += int(run(self._now, *arguments))
            if not self._now.ints[IS_FULL]:
                break
            # A list found no room to grow and moves were passed over: go on with room.
            self._repack()
        return done

    def _repack(self) -> None:
        """Lay the state out again where it is, with room in every list."""
        ints, floats = self._now
        kept, base_price = {at: ints[at] for at in KEPT}, floats[BASE_PRICE]
        self._begin(arrangement_of(self._now, self._problem))
        for at, value in kept.items():
            self._now.ints[at] = value
        self._now.floats[BASE_PRICE] = base_price

    def _speed_up(self, *, is_long: bool = False, rounds: int = 0) -> None:
        """
        Go on compiled where that saves more than loading takes; the answer is the same.

        `is_long`: what comes next takes longer than loading, whatever was done so far.
        `rounds`: rounds of ruin that come next at most.
        """
        if self._compiling.begins(is_long=is_long, rounds=rounds):
            memory = self._laid_out
            assert memory is not None  # noqa: S101 - made before any stage
            memory.ints[:], memory.floats[:] = self._now
            self._live = memory

    def improve(self, at: Arrangement, value: Value) -> tuple[Arrangement, Value]:
        """
        Return what the stages make of an arrangement, and what that is worth.

        Moves are scored by gain per price, with a base price for any move on top:
        which one leads into the bands differs from problem to problem, so several are
        tried until all is in band. In a large problem each goes on from there, in a
        small one all start anew and the best answer is kept.
        """
        price = self._problem.price_per_move
        if self._problem.num_items > (PRICED_ITEMS if price else SMALL_ITEMS):
            found = self._attempt(at, BASE_PRICES, Spread.FIRST)
            worth = evaluate(self._problem, found)
            return (found, worth) if worth < value else (at, value)
        if self._effort.starts == 1:
            # It begins as one that always minds how collections are spread.
            return self._by_prices(at, (at, value), Spread.FIRST)
        return self._minding_spread(at, value)

    def _minding_spread(
        self, at: Arrangement, value: Value
    ) -> tuple[Arrangement, Value]:
        """Mind how collections are spread as long as that does not stand in the way."""
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
            # With a price on every move, being in band is but half of it.
            if is_same or (worth.is_in_band and not self._problem.price_per_move):
                break
        return best, best_value

    def _is_hopeless(self, value: Value) -> bool:
        """Tell whether hard rules are broken, and proven to be in any arrangement."""
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
            # Within a cap what is furthest out of band comes first, not what is empty.
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
        """Get into the bands without minding how collections are spread."""
        if not len(self._problem.collection_cap) or self._is_in_band():
            return
        self._now.ints[MINDS_SPREAD] = 0
        self._call(stages.level_roles, ROLE_SWEEPS)
        for scan in scans(self._problem.price_per_move):
            self._balance(scan)
        self._now.ints[MINDS_SPREAD] = 1

    def _trade_roles(self) -> None:
        """Trade roles where no move and no role by itself gains any more."""
        most = 64 + 2 * self._effort.steps_per_item * self._problem.num_bins
        # A search that starts but once is to be quick, and goes without.
        for _ in range(self._effort.starts - 1):
            if self._is_in_band() or self._deadline.is_over():
                return
            self._speed_up()
            if not self._call(stages.trade_roles, most, TRADE_SCAN):
                return
            self._balance(64)

    def _is_in_band(self) -> bool:
        ints, floats = self._now
        first = int(ints[PENALTY])
        return not np.any(floats[first : first + int(ints[NUM_NODES])])

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

    def _moved(self) -> Any:  # noqa: ANN401 - (moved,) items
        """Return the items that are not at home, dearest first."""
        problem = self._problem
        at = arrangement_of(self._now, problem)
        away = np.not_equal(at.bin_of, problem.home)
        moved = np.nonzero(away)[0]
        cost = problem.cost[problem.group_of[moved]]
        return self._column(moved[np.argsort(-cost, kind="stable")])

    def recreate(
        self, at: Arrangement, best: Value, enough: int = 0
    ) -> tuple[Arrangement, Value]:
        """
        Ruin parts of an arrangement and build them anew; keep what is better.

        No more rounds are made once the cost is at most `enough`.
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
        """Make rounds of ruin, and more of them as long as they pay."""
        rounds, problem = self._effort.rounds, self._problem
        most = most_rounds(self._effort, problem.num_items, problem.price_per_move)
        least_pay, patience = self._effort.least_pay, IDLE_TURNS
        if problem.price_per_move:
            least_pay, patience = LEAST_PAY, 1
        self._ruin(rounds)
        if not (problem.price_per_move or self._is_in_band()):
            # Ruin seldom comes nearer to bands that are out of reach.
            most = min(most, MORE_FREE)
        idle = 0
        if self._now.ints[COST] > enough:
            self._speed_up(is_long=True, rounds=most - rounds)
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

    def _ruin(self, rounds: int) -> None:
        moved = self._column(np.zeros(self._problem.num_items, dtype=np.int64))
        self._in_turns(stages.shake, (moved,), rounds, 64)

    def _begin(self, at: Arrangement) -> None:
        """Write an arrangement into the memory, as everything is now."""
        if self._laid_out is None:
            self._laid_out = lay_out(self._problem, at, self._seed)
        else:
            self._laid_out = lay_again(self._laid_out, self._problem, at, self._seed)
        laid_out = self._laid_out
        self._live = laid_out if self._compiling.is_on else as_lists(laid_out)

    def _balance(self, scan: int, *, is_thorough: bool = False) -> None:
        if self._is_in_band() and self.steps:
            return
        steps = self._effort.steps_per_item
        limit = 1000 + steps * self._problem.num_items
        if is_thorough:
            # Pairs of moves are many: what they gain in the end is not worth the wait.
            limit = 64 + 2 * steps * self._problem.num_bins
        self._speed_up()
        more = (scan, int(is_thorough), self._patience)
        made = self._in_turns(stages.balance_all, (), limit, *more)
        self.steps += made
        self._compiling.count(made * (DEAR_STEPS if is_thorough else 1))

    def _in_turns(
        self,
        entry: Callable[..., int],
        before: tuple[Any, ...],
        limit: int,
        *more: int,
    ) -> int:
        """Run a stage of so many steps; by turns of a few where there is a deadline."""
        if not self._deadline.is_set:
            return self._call(entry, *before, limit, *more)
        done = 0
        for start in range(0, limit, STEPS_AT_ONCE):
            if self._deadline.is_over():
                break
            turn = min(STEPS_AT_ONCE, limit - start)
            made = self._call(entry, *before, turn, *more)
            done += made
            # Rounds of ruin are all made; steps of balancing end where none is left.
            if entry is stages.balance_all and made < turn:
                break
        return done


def _size(problem: Problem, rows: Any) -> Any:  # noqa: ANN401 - (rows,) floats
    """Return the largest share that items take of any target, else of any capacity."""
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
