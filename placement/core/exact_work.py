"""
How much work HiGHS may put into the exact models of one plan, in steps.

A limit of nodes does not limit what the root costs: rounds of cuts and sub-problems of
heuristics there take seconds where a model is hard. So it is counted how often HiGHS
looks whether to go on, which it does in every round and at every node. That number is
the same on any machine, and so is where it stops.
"""

from dataclasses import dataclass
from typing import Any

from placement.core.effort import Effort

LEAST_PART = 12
"""Part of what a question may take that it gets in any case: most of its root."""
TIMES_ASKED = 3
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
    Counts how often HiGHS looks whether to go on, and tells it to end.

    Parameters
    ----------
    most
        Times after which it is to end.
    """

    def __init__(self, most: int) -> None:
        self.looks = 0
        self._most = most

    def __call__(self, *told: Any) -> None:  # noqa: ANN401 - HiGHS's own
        """Be called by HiGHS: kind, message, what it has, what it is told, our own."""
        self.looks += 1
        if self.looks >= self._most:
            told[3].user_interrupt = True
