"""
Local search in stages: correct for any size, the same result on any machine.

Goals: hard rules first; then as near to the bands as can be; then the least cost.
Algorithm: items that must move are placed largest first; broken caps are repaired;
nodes out of their band are relieved worst first by role changes, moves and exchanges;
what need not have moved is sent home. Limits are counted in steps, never in seconds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.core.deadline import Deadline
from placement.core.kernels import stages
from placement.core.kernels.jit import compiled, is_at_hand
from placement.core.kernels.layout import (
    BASE_PRICE,
    IS_FULL,
    MINDS_SPREAD,
    NOISE,
    NUM_NODES,
    PENALTY,
)
from placement.core.kernels.memory import (
    Memory,
    arrangement_of,
    as_lists,
    lay_again,
    lay_out,
)
from placement.core.kernels.placing import ALL_BINS
from placement.core.problem import Arrangement, Movability, Problem, settled
from placement.core.value import Value, broken_groups, evaluate

PLAIN_ITEMS = 4000
"""Up to so many items, compiling the kernels costs more than it saves."""


PRICED_ITEMS = 200_000
"""The same where every move has a price."""
SCANS = (32, 128)
"""Items looked at in one step of balancing, at first and once that no longer helps."""
SMALL_ITEMS = 10_000
"""Up to so many items every price of a move is tried from the start."""
PATIENCE = 3
"""Rounds over all bins without any gain before balancing ends."""
FEW_ITEMS = 1500
"""Up to so many items even loading compiled kernels costs more than it saves."""
STAGES = (
    stages.fill,
    stages.level_roles,
    stages.balance_all,
    stages.trim,
    stages.return_roles,
    stages.shake,
)
"""Stages that any search may need."""


def needs_compiling(num_items: int) -> bool:
    """Tell whether a search of so many items has to compile its kernels first."""
    return num_items > PLAIN_ITEMS and not is_at_hand(STAGES)


MOST_REPACKED = 8
"""How often a stage goes on after its lists had to be laid out anew."""
ROLE_SWEEPS = 8
"""Sweeps over all roles at most."""
STEPS_AT_ONCE = 1000
"""Steps between two looks at the clock, where there is a deadline."""
TRIM_SCAN = 256
"""Items looked at to replace a moved one by a cheaper one."""

BASE_PRICES = (0.3, 1.0, 0.1, 3.0)
"""Prices of any move that are tried in turn, in mean costs of an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """
    How much work a search may do.

    Parameters
    ----------
    steps_per_item
        Steps of balancing, times the number of items.
    rounds
        Rounds of ruin and recreate.
    searches
        How many times these are made, each with random numbers of its own, at once
        where there are cores; the best answer counts, the first of equal ones.
    gap
        Part of the proven bound by which an answer may be dearer before more work is
        put into it.
    milp_cells
        Largest number of (group, bin) pairs that an exact model may have.
    milp_nodes
        Nodes that the exact model's branch and bound may open.
    """

    steps_per_item: int
    rounds: int
    searches: int = 1
    gap: float
    milp_cells: int
    milp_nodes: int


QUICK = Effort(steps_per_item=2, rounds=0, gap=0.0, milp_cells=0, milp_nodes=0)
NORMAL = Effort(
    steps_per_item=6, rounds=200, gap=0.001, milp_cells=240, milp_nodes=2000
)
THOROUGH = Effort(
    steps_per_item=20,
    rounds=10_000,
    searches=2,
    gap=0.0,
    milp_cells=2000,
    milp_nodes=50_000,
)


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
    """

    def __init__(
        self,
        problem: Problem,
        effort: Effort,
        seed: int,
        deadline: Deadline | None = None,
    ) -> None:
        self._problem = problem
        self._effort = effort
        self._seed = seed
        self._deadline = deadline or Deadline()
        self._is_compiled = problem.num_items > PLAIN_ITEMS or (
            problem.num_items > FEW_ITEMS and is_at_hand(STAGES)
        )
        self._memory: Memory | None = None
        self._mean_cost = float(problem.cost[problem.group_of].sum()) / max(
            problem.num_items, 1
        )
        self.steps = 0

    @property
    def _patience(self) -> int:
        # Of few bins every one is tried: a second round would find nothing else.
        return PATIENCE if self._problem.num_bins > ALL_BINS else 1

    def _column(self, values: Any) -> Any:  # noqa: ANN401 - array or list
        return values if self._is_compiled else values.tolist()

    def _call(
        self,
        entry: Callable[..., int],
        memory: Memory,
        *arguments: Any,  # noqa: ANN401 - numbers, arrays or lists
    ) -> int:
        run = compiled(entry) if self._is_compiled else entry
        done = 0
        for _ in range(MOST_REPACKED):
            done += int(run(memory, *arguments))
            if not memory.ints[IS_FULL]:
                break
            # A list found no room to grow and moves were passed over: go on with room.
            self._repack(memory)
        return done

    def _repack(self, memory: Memory) -> None:
        """Lay the state out again where it is, with room in every list."""
        kept = (int(memory.ints[NOISE]), float(memory.floats[BASE_PRICE]))
        at = arrangement_of(memory, self._problem)
        assert self._memory is not None  # noqa: S101 - made before any stage
        again = lay_again(self._memory, self._problem, at, self._seed)
        again.ints[NOISE], again.floats[BASE_PRICE] = kept
        if not self._is_compiled:
            memory.ints[:], memory.floats[:] = (
                again.ints.tolist(),
                again.floats.tolist(),
            )

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
            found = self._attempt(at, BASE_PRICES, is_anyhow=True)
            worth = evaluate(self._problem, found)
            return (found, worth) if worth < value else (at, value)
        best, best_value = self._by_prices(at, (at, value), is_anyhow=False)
        if best_value.is_in_band or not len(self._problem.collection_cap):
            return best, best_value
        return self._by_prices(at, (best, best_value), is_anyhow=True)

    def _by_prices(
        self, at: Arrangement, known: tuple[Arrangement, Value], *, is_anyhow: bool
    ) -> tuple[Arrangement, Value]:
        """Try the base prices one by one, each from the start."""
        best, best_value = known
        for base_price in BASE_PRICES:
            found = self._attempt(at, (base_price,), is_anyhow=is_anyhow)
            worth = evaluate(self._problem, found)
            is_same = worth == best_value
            if worth < best_value:
                best, best_value = found, worth
            if self._deadline.is_over():
                break
            # With a price on every move, being in band is but half of it.
            if is_same or (worth.is_in_band and not self._problem.price_per_move):
                break
        return best, best_value

    def _attempt(
        self, at: Arrangement, base_prices: Sequence[float], *, is_anyhow: bool
    ) -> Arrangement:
        state = self._state(at)
        self._meet_rules(state)
        if not self._problem.has_caps:
            # Within a cap what is furthest out of band comes first, not what is empty.
            self._call(stages.fill, state)
        for base_price in base_prices:
            usual = self._mean_cost + self._problem.price_per_move
            state.floats[BASE_PRICE] = 1.0 + base_price * usual
            if not self._deadline.is_over():
                self._call(stages.level_roles, state, ROLE_SWEEPS)
            for scan in SCANS:
                self._balance(state, scan)
            self._balance(state, 64, is_thorough=True)
            if self._is_in_band(state) or self._deadline.is_over():
                break
        if is_anyhow:
            self._balance_anyhow(state)
        self._tidy(state)
        return settled(self._problem, arrangement_of(state, self._problem))

    def _balance_anyhow(self, state: Memory) -> None:
        """Get into the bands without minding how collections are spread."""
        if not len(self._problem.collection_cap) or self._is_in_band(state):
            return
        state.ints[MINDS_SPREAD] = 0
        for scan in SCANS:
            self._balance(state, scan)
        state.ints[MINDS_SPREAD] = 1

    def _is_in_band(self, state: Memory) -> bool:
        first = int(state.ints[PENALTY])
        return not np.any(state.floats[first : first + int(state.ints[NUM_NODES])])

    def _meet_rules(self, state: Memory) -> None:
        problem = self._problem
        must = np.equal(problem.movability, Movability.MUST) | (problem.home < 0)
        if must.any():
            rows = np.nonzero(must)[0]
            order = rows[np.argsort(-_size(problem, rows), kind="stable")]
            self._call(stages.place, state, self._column(order))
        if problem.must_release_role.any():
            self._call(stages.release, state)
        broken = np.nonzero(
            broken_groups(problem, arrangement_of(state, self._problem))
        )[0]
        if len(broken):
            self._call(stages.respread, state, self._column(broken))

    def _tidy(self, state: Memory) -> None:
        if self._deadline.is_over():
            return
        if self._call(stages.trim, state, self._moved(state), TRIM_SCAN):
            self._balance(state, 64)
            self._call(stages.trim, state, self._moved(state), 0)
        self._call(
            stages.return_roles, state, self._column(self._problem.role_home.copy())
        )

    def _moved(self, state: Memory) -> Any:  # noqa: ANN401 - (moved,) items
        """Return the items that are not at home, dearest first."""
        problem = self._problem
        at = arrangement_of(state, problem)
        away = np.not_equal(at.bin_of, problem.home)
        moved = np.nonzero(away)[0]
        cost = problem.cost[problem.group_of[moved]]
        return self._column(moved[np.argsort(-cost, kind="stable")])

    def recreate(self, at: Arrangement, best: Value) -> tuple[Arrangement, Value]:
        """Ruin parts of an arrangement and build them anew; keep what is better."""
        if best.moves == 0:
            return at, best
        state = self._state(at)
        state.floats[BASE_PRICE] = 1.0 + self._mean_cost
        moved = self._column(np.zeros(self._problem.num_items, dtype=np.int64))
        self._in_turns(stages.shake, state, (moved,), self._effort.rounds, 64)
        self._tidy(state)
        tried = settled(self._problem, arrangement_of(state, self._problem))
        value = evaluate(self._problem, tried)
        return (tried, value) if value < best else (at, best)

    def _state(self, at: Arrangement) -> Memory:
        if self._memory is None:
            self._memory = lay_out(self._problem, at, self._seed)
        else:
            again = lay_again(self._memory, self._problem, at, self._seed)
            self._memory = again
        return self._memory if self._is_compiled else as_lists(self._memory)

    def _balance(self, state: Memory, scan: int, *, is_thorough: bool = False) -> None:
        if self._is_in_band(state) and self.steps:
            return
        steps = self._effort.steps_per_item
        limit = 1000 + steps * self._problem.num_items
        if is_thorough:
            # Pairs of moves are many: what they gain in the end is not worth the wait.
            limit = 64 + 2 * steps * self._problem.num_bins
        more = (scan, int(is_thorough), self._patience)
        self.steps += self._in_turns(stages.balance_all, state, (), limit, *more)

    def _in_turns(
        self,
        entry: Callable[..., int],
        state: Memory,
        before: tuple[Any, ...],
        limit: int,
        *more: int,
    ) -> int:
        """Run a stage of so many steps; by turns of a few where there is a deadline."""
        if not self._deadline.is_set:
            return self._call(entry, state, *before, limit, *more)
        done = 0
        for start in range(0, limit, STEPS_AT_ONCE):
            if self._deadline.is_over():
                break
            turn = min(STEPS_AT_ONCE, limit - start)
            made = self._call(entry, state, *before, turn, *more)
            done += made
            # Rounds of ruin are all made; steps of balancing end where none is left.
            if entry is stages.balance_all and made < turn:
                break
        return done


def _size(problem: Problem, rows: Any) -> Any:  # noqa: ANN401 - (rows,) floats
    """Return the largest share of any target that items take."""
    target = problem.bins.target
    typical = np.array(
        [
            column[column > 0].mean() if (column > 0).any() else np.inf
            for column in target.T
        ]
    )
    weight = problem.weight[problem.group_of[rows]]
    return (weight / typical).max(axis=1, initial=0.0)
