"""
How much work HiGHS may put into the exact models of one plan, in steps.

A limit of nodes does not limit what the root costs: rounds of cuts and sub-problems of
heuristics there take seconds where a model is hard. So it is counted how often HiGHS
looks whether to go on, which it does in every round and at every node. That number is
the same on any machine, and so is where it stops.
"""

from dataclasses import dataclass
from typing import Any

LEAST_PART = 12
"""Part of what a question may take that it gets in any case: most of its root."""
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
    """

    per_question: int
    left: int
    rules: float = RULES_S

    @classmethod
    def of(cls, per_question: int) -> "ExactWork":
        """Return the work of one plan: a question, and a third more for all others."""
        return cls(per_question, per_question + per_question // 3)

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
