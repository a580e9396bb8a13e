"""
Choice between compiled and uncompiled kernels; the answer is the same either way.

Compiled kernels load from disk in half a second and compile in 40 s otherwise. A small
problem is solved faster without them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import thread_time

from placement.core.model.search_budget import FEW_PRICED, Effort
from placement.core.search.kernels import stages
from placement.core.search.kernels.jit import is_at_hand, is_running

PLAIN_ITEMS = 4000
"""Number of items up to which compiling the kernels costs more than it saves."""
FEW_ITEMS = 60
"""Number of items up to which compiled kernels pay only if bands are hard to meet."""
PLAIN_STEPS = 400
"""Number of uncompiled steps after which compiled kernels are loaded from disk."""
FEW_STEPS = 2000
"""Number of uncompiled steps for few items: most searches end earlier."""
LOADING_STEPS = 1000
"""
Number of uncompiled steps of a process that take as long as loading kernels.

After so many steps for small clusters, more such clusters are likely to follow.
"""
PLAIN_S = 20.0
"""
CPU seconds of uncompiled stages of a process after which kernels are compiled.

Compiling takes 40 s, once per installation. A search that has taken half of that rarely
ends soon, and later commands use the compiled kernels as well.
"""
OWN_PLAIN_S = 5.0
"""
CPU seconds of its own uncompiled stages after which a search may compile kernels.

In a long-lived process with many short searches, none should wait for the compiler.
"""
COMPILING_S = 90.0
"""Seconds to a deadline below which no kernel is compiled, with time for its use."""
MANY_ROUNDS = 1000
"""Number of ruin rounds from which kernels are compiled if necessary."""
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
"""Stages of a search without ruin rounds."""


@dataclass(slots=True)
class PlainWork:
    """Steps and CPU seconds of the uncompiled stages of all searches of a process."""

    steps: int = 0
    seconds: float = 0.0


_plain = PlainWork()


def stages_of(effort: Effort) -> tuple[Callable[..., int], ...]:
    """Return the stages that a search with a budget may need."""
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
    Switch of one search from uncompiled to compiled kernels.

    Parameters
    ----------
    num_items
        Number of items of the problem.
    effort
        Budget of the search.
    is_priced
        Whether moves have a price that makes ruin rounds pay.
    is_on
        Whether the search runs compiled from the start in any case.
    """

    def __init__(
        self, num_items: int, effort: Effort, *, is_priced: bool, is_on: bool
    ) -> None:
        self._is_small = num_items <= FEW_ITEMS
        self._rounds = effort.rounds
        self._stages = stages_of(effort)
        self._worked = 0
        self._seconds = 0.0
        self.is_on = (
            is_on
            or num_items > PLAIN_ITEMS
            or (is_priced and effort.more_rounds >= MANY_ROUNDS)
            or (not self._is_small and is_running(self._stages))
        )

    def begins(
        self, *, is_long: bool, rounds: int = 0, left: float | None = None
    ) -> bool:
        """
        Return whether the search switches to compiled kernels now.

        `is_long`: whether the next stage takes longer than loading the kernels.
        `rounds`: maximum number of ruin rounds that follow. `left`: seconds to the
        deadline; `None`: no deadline.
        """
        if self.is_on:
            return False
        is_worth_it = is_long and max(rounds, self._rounds) >= MANY_ROUNDS
        has_taken_long = self._seconds > OWN_PLAIN_S and _plain.seconds > PLAIN_S
        is_worth_it = is_worth_it or has_taken_long
        if is_worth_it and left is not None and left < COMPILING_S:
            # The compiler does not look at the deadline.
            is_worth_it = is_at_hand(self._stages)
        is_late = self._is_late(is_long=is_long)
        self.is_on = is_worth_it or (is_late and is_at_hand(self._stages))
        return self.is_on

    def count(self, steps: int) -> None:
        """Add steps to the work done."""
        self._worked += steps
        _plain.steps += 0 if self.is_on else steps

    @contextmanager
    def clocked(self) -> Iterator[None]:
        """Count the CPU time of a stage, if it runs uncompiled."""
        begun = 0.0 if self.is_on else thread_time()
        yield
        if begun:
            taken = thread_time() - begun
            self._seconds += taken
            _plain.seconds += taken

    def _is_late(self, *, is_long: bool) -> bool:
        """Return whether past or future work makes compiled kernels faster."""
        if not self._is_small:
            is_due = self._worked > PLAIN_STEPS or _plain.steps > LOADING_STEPS
            return is_long or is_due
        if is_running(self._stages):
            # Kernels already loaded cost nothing more.
            return is_long or self._worked > 0
        return self._worked > FEW_STEPS
