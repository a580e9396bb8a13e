"""
When a search goes on compiled: its answer is the same either way, its time is not.

Kernels that are compiled on disk load in half a second, and compile in 40 s where they
are not; a small problem is solved sooner without.
"""

from collections.abc import Callable
from dataclasses import dataclass

from placement.core.model.search_budget import FEW_PRICED, Effort
from placement.core.search.kernels import stages
from placement.core.search.kernels.jit import is_at_hand, is_running

PLAIN_ITEMS = 4000
"""Up to so many items, compiling the kernels costs more than it saves."""
FEW_ITEMS = 60
"""Up to so many items compiled kernels save time only where bands are hard to meet."""
PLAIN_STEPS = 400
"""After so many steps uncompiled, kernels that are compiled on disk are loaded."""
FEW_STEPS = 2000
"""The same of few items: most are done by then."""
LOADING_STEPS = 1000
"""
Steps uncompiled of all searches of a process that take as long as loading kernels does:
where so many small clusters were planned, more are likely to follow.
"""
MANY_ROUNDS = 1000
"""From so many rounds of ruin on, kernels are compiled for them if they have to be."""
STAGES = (
    stages.fill,
    stages.level_roles,
    stages.balance_all,
    stages.trim,
    stages.return_roles,
    stages.shake,
)
"""Stages that any search may need."""
STAGES_WITHOUT_ROUNDS = tuple(each for each in STAGES if each is not stages.shake)
"""The same of one that makes no rounds of ruin."""


@dataclass(slots=True)
class PlainSteps:
    """Steps that all searches of a process made uncompiled."""

    made: int = 0


_plain = PlainSteps()


def stages_of(effort: Effort) -> tuple[Callable[..., int], ...]:
    """Return the stages that a search of some effort may need."""
    return STAGES if effort.rounds else STAGES_WITHOUT_ROUNDS


def needs_compiling(num_items: int, *, has_rounds: bool = False) -> bool:
    """
    Return whether a search may have to compile first.

    `has_rounds`: its effort makes many rounds of ruin, beyond `FEW_PRICED` items.
    """
    most = min(PLAIN_ITEMS, FEW_PRICED) if has_rounds else PLAIN_ITEMS
    return num_items > most and not is_at_hand(STAGES)


class Compiling:
    """
    Whether one search runs compiled, and when it begins to.

    Parameters
    ----------
    num_items
        Of its problem.
    effort
        How much work it does.
    is_priced
        Whether moves have a price that makes rounds of ruin pay.
    is_on
        Whether it runs compiled from the start in any case.
    """

    def __init__(
        self, num_items: int, effort: Effort, *, is_priced: bool, is_on: bool
    ) -> None:
        self._is_small = num_items <= FEW_ITEMS
        self._rounds = effort.rounds
        self._stages = stages_of(effort)
        self._worked = 0
        self.is_on = (
            is_on
            or num_items > PLAIN_ITEMS
            or (is_priced and effort.more_rounds >= MANY_ROUNDS)
            or (not self._is_small and is_running(self._stages))
        )

    def begins(self, *, is_long: bool, rounds: int = 0) -> bool:
        """
        Tell whether it goes on compiled from here, which it did not before.

        `is_long`: what comes next takes longer than loading, whatever was done so far.
        `rounds`: rounds of ruin that come next at most.
        """
        if self.is_on:
            return False
        is_worth_it = is_long and max(rounds, self._rounds) >= MANY_ROUNDS
        is_late = self._is_late(is_long=is_long)
        self.is_on = is_worth_it or (is_late and is_at_hand(self._stages))
        return self.is_on

    def count(self, steps: int) -> None:
        """Count steps that were made."""
        self._worked += steps
        _plain.made += 0 if self.is_on else steps

    def _is_late(self, *, is_long: bool) -> bool:
        """Tell whether so much is done, or to be done, that compiled is quicker."""
        if not self._is_small:
            is_due = self._worked > PLAIN_STEPS or _plain.made > LOADING_STEPS
            return is_long or is_due
        if is_running(self._stages):
            # What is loaded already costs nothing more.
            return is_long or self._worked > 0
        return self._worked > FEW_STEPS
