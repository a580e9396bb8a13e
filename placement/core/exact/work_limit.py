"""
Work limit of HiGHS for the exact models of one plan, in steps.

A node limit does not limit the work at the root: rounds of cuts and sub-problems of
heuristics take seconds there for a hard model. So the limit counts the progress checks
of HiGHS, one per round and per node. Their number, and so the point of interruption, is
the same on any machine.
"""

from dataclasses import dataclass
from typing import Any

from placement.core.model.search_budget import Effort

LEAST_PART = 12
"""Divisor of the work per solve that every solve gets: enough for most of its root."""
TIMES_ASKED = 5
"""Number of full solves of models with bands that one plan may use."""
RULES_S = 6.0
"""Deterministic seconds of CP-SAT for hard rules, about as many real seconds."""


@dataclass(slots=True)
class ExactWork:
    """
    Remaining work of all exact models of one plan.

    Parameters
    ----------
    per_question
        Largest number of progress checks of HiGHS in one solve.
    left
        Remaining number of progress checks in all solves.
    rules
        Remaining deterministic seconds for models of the hard rules alone.
    bands
        Remaining deterministic seconds for models with bands.
    """

    per_question: int
    left: int
    rules: float = RULES_S
    bands: float = 0.0

    @classmethod
    def of(cls, effort: Effort) -> "ExactWork":
        """Return the work of one plan: one full solve, and a third more for others."""
        looks = effort.milp_looks
        bands = effort.exact_work * TIMES_ASKED
        return cls(looks, looks + looks // 3, bands=bands)

    def for_one(self) -> int:
        """Return the work limit of the next solve."""
        least = self.per_question // LEAST_PART
        return max(least, min(self.per_question, self.left))


class Watch:
    """
    Callback that measures the work of HiGHS and interrupts it at a limit.

    Parameters
    ----------
    most
        Work after which HiGHS is interrupted.
    at_root, in_tree
        Work of each callback at the root, and at the nodes of the tree.
    near
        Relative gap from which on HiGHS may only double its work.

    Attributes
    ----------
    spent
        Work so far.
    """

    def __init__(
        self,
        most: float,
        at_root: float = 1,
        in_tree: float = 1,
        near: float = 0.0,
    ) -> None:
        self.spent: float = 0
        self._most, self._at_root, self._in_tree = most, at_root, in_tree
        self._near, self._is_near = near, False

    def __call__(
        self,
        _kind: Any,  # noqa: ANN401 - of HiGHS, as all of these
        _message: str,
        state: Any,  # noqa: ANN401
        reply: Any,  # noqa: ANN401
        _data: object,
    ) -> None:
        """Count one callback of HiGHS, and set its reply."""
        is_in_tree = state.mip_node_count > 0
        self.spent += self._in_tree if is_in_tree else self._at_root
        if not self._is_near and state.mip_gap <= self._near:
            self._is_near, self._most = True, min(self._most, 2 * self.spent)
        if self.spent >= self._most:
            reply.user_interrupt = True
