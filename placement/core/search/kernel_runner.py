"""
Runs of kernels on the memory of one problem, compiled or not.

The state of a search is two flat arrays. A run has a limit in steps, and is cut
into blocks only where there is a deadline.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from placement.core.model.arrangement import Arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.problem import Problem
from placement.core.model.search_budget import FEW_PRICED, Effort
from placement.core.search.compilation import Compiling
from placement.core.search.kernels import stages
from placement.core.search.kernels.jit import compiled
from placement.core.search.kernels.layout import (
    BASE_PRICE,
    IS_FULL,
    MINDS_SPREAD,
    NOISE,
    NUM_NODES,
    PENALTY,
)
from placement.core.search.kernels.state import (
    Memory,
    arrangement_of,
    as_lists,
    lay_again,
    lay_out,
)

MOST_REPACKED = 8
"""Largest number of runs of a stage whose lists must be laid out again."""
STEPS_AT_ONCE = 1000
"""Number of steps between two checks of the deadline, if there is one."""
PLAIN_ROUNDS_AT_ONCE = 64
"""The same for rounds of ruin that are not compiled, each about 10 ms."""
KEPT = (NOISE, MINDS_SPREAD)
"""Scalars of a search that are kept when lists are laid out again."""


class KernelRunner:
    """
    Memory of a search on one problem, and the runs of kernels on it.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    effort
        Budget of the search.
    seed
        Seed of the random numbers.
    deadline
        Time at which to end with the answer found by then; `None`: no limit.
    is_compiled
        Whether to run compiled from the start, whatever the size of the problem.
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
        """Budget of the search."""
        return self._effort

    @property
    def _is_priced(self) -> bool:
        """Whether more ruin rounds pay: moves have a price and items are not few."""
        is_small = self._problem.num_items <= FEW_PRICED
        return self._problem.price_per_move > 0 and not is_small

    def _column(self, values: Any) -> Any:  # noqa: ANN401 - array or list
        return values if self._compiling.is_on else values.tolist()

    @property
    def _now(self) -> Memory:
        """Memory that the stages work on: arrays, or lists while uncompiled."""
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
            with self._compiling.clocked():
                done += int(run(self._now, *arguments))
            if not self._now.ints[IS_FULL]:
                break
            # A list had no room to grow and moves were skipped: continue with room.
            self._repack()
        return done

    def _repack(self) -> None:
        """Lay out the present state again, with room in every list."""
        ints, floats = self._now
        kept, base_price = {at: ints[at] for at in KEPT}, floats[BASE_PRICE]
        self._begin(arrangement_of(self._now, self._problem))
        for at, value in kept.items():
            self._now.ints[at] = value
        self._now.floats[BASE_PRICE] = base_price

    def _speed_up(self, *, is_long: bool = False, rounds: int = 0) -> None:
        """
        Switch to compiled kernels if that saves time; the answer is the same.

        `is_long`: whether the next stage takes longer than loading the kernels.
        `rounds`: maximum number of ruin rounds that follow.
        """
        left = self._deadline.left()
        if self._compiling.begins(is_long=is_long, rounds=rounds, left=left):
            memory = self._laid_out
            assert memory is not None  # noqa: S101 - made before any stage
            memory.ints[:], memory.floats[:] = self._now
            self._live = memory

    def _is_in_band(self) -> bool:
        ints, floats = self._now
        first = int(ints[PENALTY])
        return not np.any(floats[first : first + int(ints[NUM_NODES])])

    def _moved(self) -> Any:  # noqa: ANN401 - (moved,) items
        """Return the moved items, the dearest first."""
        problem = self._problem
        at = arrangement_of(self._now, problem)
        away = np.not_equal(at.bin_of, problem.home)
        moved = np.nonzero(away)[0]
        cost = problem.cost[problem.group_of[moved]]
        return self._column(moved[np.argsort(-cost, kind="stable")])

    def _begin(self, at: Arrangement) -> None:
        """Write an arrangement into the memory as the present state."""
        if self._laid_out is None:
            self._laid_out = lay_out(self._problem, at, self._seed)
        else:
            self._laid_out = lay_again(self._laid_out, self._problem, at, self._seed)
        laid_out = self._laid_out
        self._live = laid_out if self._compiling.is_on else as_lists(laid_out)

    def _in_turns(
        self,
        entry: Callable[..., int],
        before: tuple[Any, ...],
        limit: int,
        *more: int,
    ) -> int:
        """Run a stage of `limit` steps, in blocks if there is a deadline."""
        if not self._deadline.is_set:
            return self._call(entry, *before, limit, *more)
        is_plain_ruin = entry is stages.shake and not self._compiling.is_on
        at_once = PLAIN_ROUNDS_AT_ONCE if is_plain_ruin else STEPS_AT_ONCE
        done = 0
        for start in range(0, limit, at_once):
            if self._deadline.is_over():
                break
            turn = min(at_once, limit - start)
            made = self._call(entry, *before, turn, *more)
            done += made
            # Ruin makes all its rounds; balancing may end before its step limit.
            if entry is stages.balance_all and made < turn:
                break
        return done
