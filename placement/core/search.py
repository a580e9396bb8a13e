"""
Local search in stages: correct for any size, the same result on any machine.

Goals: hard rules first; then as near to the bands as can be; then the least cost.
Algorithm: items that must move are placed largest first; broken caps are repaired;
nodes out of their band are relieved worst first by role changes, moves and exchanges;
what need not have moved is sent home. Limits are counted in steps, never in seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.core.kernels import stages
from placement.core.kernels.jit import compiled
from placement.core.kernels.tables import State, Tables, build_state, build_tables
from placement.core.problem import Arrangement, Movability, Problem, settled
from placement.core.value import Value, evaluate

PLAIN_ITEMS = 4000
"""Up to so many items, compiling the kernels costs more than it saves."""


PLAIN_ROUNDS, COMPILED_ROUNDS = 300, 12_000
"""Up to so many items, rounds of ruin and recreate are worth their time."""

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
        Rounds of ruin and recreate, for small problems.
    milp_cells
        Largest number of (group, bin) pairs that an exact model may have.
    milp_nodes
        Nodes that the exact model's branch and bound may open.
    """

    steps_per_item: int
    rounds: int
    milp_cells: int
    milp_nodes: int


QUICK = Effort(steps_per_item=2, rounds=0, milp_cells=0, milp_nodes=0)
NORMAL = Effort(steps_per_item=6, rounds=24, milp_cells=240, milp_nodes=2000)
THOROUGH = Effort(steps_per_item=20, rounds=200, milp_cells=2000, milp_nodes=50000)


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
    """

    def __init__(self, problem: Problem, effort: Effort, seed: int) -> None:
        self._problem = problem
        self._effort = effort
        self._seed = seed
        self._is_compiled = problem.num_items > PLAIN_ITEMS
        self._tables: Tables = build_tables(problem, is_compiled=self._is_compiled)
        self._dearest_first = self._column(np.argsort(-_size(problem), kind="stable"))
        self._role_home = self._column(problem.role_home)
        self._mean_cost = float(problem.cost[problem.group_of].sum()) / max(
            problem.num_items, 1
        )
        self.steps = 0

    def _column(self, values: Any) -> Any:  # noqa: ANN401 - array or list
        return values if self._is_compiled else values.tolist()

    def _call(self, entry: Callable[..., int], *arguments: Any) -> int:  # noqa: ANN401
        run = compiled(entry) if self._is_compiled else entry
        return int(run(self._tables, *arguments))

    def improve(self, at: Arrangement) -> Arrangement:
        """
        Return what the stages make of an arrangement.

        Moves are scored by gain per price, with a base price for any move on top:
        which one leads into the bands differs from problem to problem, so several are
        tried until all is in band, and the best answer is kept.
        """
        best, best_value = at, evaluate(self._problem, at)
        for base_price in BASE_PRICES:
            self._tables = self._tables._replace(
                base_price=1.0 + base_price * self._mean_cost
            )
            found = self._pass(at)
            value = evaluate(self._problem, found)
            is_same = value == best_value
            if value < best_value:
                best, best_value = found, value
            if is_same or value.key[:3] == (0, 0.0, 0.0):
                break
        return best

    def _pass(self, at: Arrangement) -> Arrangement:
        state = self._state(at)
        self._call(stages.place, state, self._dearest_first)
        self._call(stages.release, state)
        self._call(stages.respread, state)
        for scan in (16, 64):
            self._balance(state, scan)
        self._balance(state, 64, has_chains=True)
        self._tidy(state)
        return settled(self._problem, _arrangement(state))

    def _tidy(self, state: State) -> None:
        if self._call(stages.trim, state, self._dearest_first):
            self._balance(state, 64)
            self._call(stages.trim, state, self._dearest_first)
        self._call(stages.return_roles, state, self._role_home)

    def recreate(self, at: Arrangement, best: Value) -> tuple[Arrangement, Value]:
        """Ruin parts of an arrangement and build them anew; keep what is better."""
        if not self._is_small or best.moves == 0:
            return at, best
        rng = np.random.default_rng(self._seed)
        for _ in range(self._effort.rounds):
            state = self._state(self._ruined(at, rng))
            self._call(stages.place, state, self._dearest_first)
            self._call(stages.release, state)
            self._call(stages.respread, state)
            self._balance(state, 16, has_chains=True)
            self._tidy(state)
            tried = settled(self._problem, _arrangement(state))
            value = evaluate(self._problem, tried)
            if value < best:
                at, best = tried, value
        return at, best

    @property
    def _is_small(self) -> bool:
        most = COMPILED_ROUNDS if self._is_compiled else PLAIN_ROUNDS
        return self._problem.num_items <= most

    def _ruined(self, at: Arrangement, rng: np.random.Generator) -> Arrangement:
        """Send a random few of the moved items home."""
        problem = self._problem
        may = np.equal(problem.movability, Movability.MAY) & (problem.home >= 0)
        is_away = may & np.not_equal(at.bin_of, problem.home)
        moved = np.nonzero(is_away & ~self._led_astray(at))[0]
        if not len(moved):
            return at
        count = int(rng.integers(1, max(2, len(moved) // 3 + 1)))
        bin_of = at.bin_of.copy()
        chosen = rng.choice(moved, size=min(count, len(moved)), replace=False)
        bin_of[chosen] = problem.home[chosen]
        return Arrangement(bin_of, at.role_of)

    def _led_astray(self, at: Arrangement) -> Any:  # noqa: ANN401 - (I,) flags
        """Return items that hold a role which they may not take home."""
        problem = self._problem
        items = np.arange(problem.num_items)
        holds = np.equal(at.role_of[problem.group_of], items)
        held = np.equal(problem.role_home[problem.group_of], items)
        return holds & ~held & ~problem.may_hold_role[problem.home]

    def _state(self, at: Arrangement) -> State:
        return build_state(
            self._problem, self._tables, at, self._seed, is_compiled=self._is_compiled
        )

    def _balance(self, state: State, scan: int, *, has_chains: bool = False) -> None:
        bins = self._problem.num_bins
        scratch = [self._column(np.zeros(bins, dtype=np.int64)) for _ in range(3)]
        limit = 1000 + self._effort.steps_per_item * self._problem.num_items
        self.steps += self._call(
            stages.balance, state, *scratch, limit, scan, int(has_chains)
        )


def _size(problem: Problem) -> Any:  # noqa: ANN401 - (I,) floats
    """Return the largest share of any target that each item takes."""
    target = problem.bins.target
    typical = np.array(
        [
            column[column > 0].mean() if (column > 0).any() else np.inf
            for column in target.T
        ]
    )
    share = (problem.weight / typical).max(axis=1, initial=0.0)
    return share[problem.group_of]


def _arrangement(state: State) -> Arrangement:
    return Arrangement(
        np.array(state.bin_of, dtype=np.int32), np.array(state.role_of, dtype=np.int64)
    )
