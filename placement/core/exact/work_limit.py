"""
How much work HiGHS may put into the exact models of one plan, in steps.

A limit of nodes does not limit what the root costs: rounds of cuts and sub-problems of
heuristics there take seconds where a model is hard. So it is counted how often HiGHS
looks whether to go on, which it does in every round and at every node. That number is
the same on any machine, and so is where it stops.
"""

from dataclasses import dataclass
from typing import Any

from placement.core.model.search_budget import Effort

LEAST_PART = 12
"""Part of what a question may take that it gets in any case: most of its root."""
TIMES_ASKED = 5
"""What may be asked of models with bands, in questions that take all that one may."""
RULES_S = 6.0
"""Deterministic seconds of CP-SAT, about as many of a machine of today."""


@dataclass(slots=True)
class ExactWork:
    """
    What the questions to exact models may still take together.

    Parameters
    ----------
    per_question
        Times that HiGHS may look whether to go on at most, of one question.
    left
        The same of all of them.
    rules
        Deterministic seconds that models of the hard rules alone may take.
    bands
        The same of models with bands.
    """

    per_question: int
    left: int
    rules: float = RULES_S
    bands: float = 0.0

    @classmethod
    def of(cls, effort: Effort) -> "ExactWork":
        """Return the work of one plan: a question, and some more for all others."""
        looks = effort.milp_looks
        bands = effort.exact_work * TIMES_ASKED
        return cls(looks, looks + looks // 3, bands=bands)

    def for_one(self) -> int:
        """Return how much the next question may take."""
        least = self.per_question // LEAST_PART
        return max(least, min(self.per_question, self.left))


class Watch:
    """
    Measures the work of HiGHS by its interrupt callbacks, and interrupts it.

    Parameters
    ----------
    most
        Work after which HiGHS is interrupted.
    at_root, in_tree
        Work of each callback at the root, and at the nodes of the tree.

    Attributes
    ----------
    spent
        The work so far.
    """

    def __init__(self, most: float, at_root: float = 1, in_tree: float = 1) -> None:
        self.spent: float = 0
        self._most, self._at_root, self._in_tree = most, at_root, in_tree

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
        if self.spent >= self._most:
            reply.user_interrupt = True
