"""What the core answers: arrangement, status, certificate, shortfalls."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from placement.core.model.arrangement import Arrangement

CLOSED = 1e-6
"""Relative gap at which a bound shows an answer to be least."""


class Status(StrEnum):
    """What is known of an answer."""

    OPTIMAL = "optimal"
    """Hard rules hold, and the cost is proven least for the bands reached, by a bound
    that is checked again or by what a solver says (`Bounded.solver`)."""
    FEASIBLE = "feasible"
    """Hard rules hold."""
    PARTIAL = "partial"
    """Some hard rule is not met; that none could is not proven."""
    INFEASIBLE = "infeasible"
    """Some hard rule is not met, and none can meet it: see the shortfalls."""


MET = frozenset({Status.OPTIMAL, Status.FEASIBLE})
"""What is said of answers that keep every hard rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """
    Why no answer can be below a value.

    Parameters
    ----------
    kind
        Which bound: ``count``, ``cover``, ``flow-dual``, ``forced``, ``heaviest``,
        ``lambda``, ``milp-dual``, ``water-fill``.
    witness
        Plain integers and lists from which `core.verify.bound` re-checks it.
    """

    kind: str
    witness: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """
    A value of an answer and what is proven about it.

    Parameters
    ----------
    value
        Of the answer.
    lower_bound
        No answer within the bands reached, by the moves allowed, is below it.
    proof
        The witness, or `None` where nothing but 0 is proven.
    solver_bound
        What a solver says that no answer is below, and nothing here can check again;
        `None`: no more than what is proven.
    solver
        Its name and version.
    is_spread
        Whether `solver_bound` holds only for answers that keep the soft caps on
        collections.
    """

    value: float
    lower_bound: float
    proof: Proof | None = None
    solver_bound: float | None = None
    solver: str | None = None
    is_spread: bool = False

    @property
    def is_least(self) -> bool:
        """Whether no answer is below by more than `CLOSED`: checked, or a solver's."""
        known = self.lower_bound
        if self.solver_bound is not None:
            known = max(known, self.solver_bound)
        return self.value - known <= known * CLOSED

    def with_solver(
        self, bound: float | None, solver: str | None, *, is_spread: bool = False
    ) -> "Bounded":
        """Return the same with what a solver says, if that is more than is proven."""
        # An answer below a bound on spread answers is not spread: no bound on it.
        is_of_others = is_spread and bound is not None and bound > self.value
        if bound is None or bound <= self.lower_bound or is_of_others:
            return replace(self, solver_bound=None, solver=None, is_spread=False)
        least = min(bound, self.value)
        return replace(self, solver_bound=least, solver=solver, is_spread=is_spread)

    @property
    def gap(self) -> float | None:
        """``value / lower_bound - 1``; 0 when both are 0, `None` if only the bound."""
        if self.lower_bound == 0:
            return 0.0 if self.value == 0 else None
        return self.value / self.lower_bound - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """
    Proven lower bounds.

    Parameters
    ----------
    cost, moves, deviation
        On the cost of moving, the number of moves, the distance outside the bands.
    roles, share
        Where roles alone change hands: on their changes, and on how far the count of
        the fullest bin is above its share.
    """

    cost: Bounded
    moves: Bounded
    deviation: Bounded
    roles: Bounded | None = None
    share: Bounded | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """
    What is missing for the hard rules to hold.

    Parameters
    ----------
    what
        ``bins`` (no legal bin for an item), ``capacity`` (a resource of a node, or of
        all bins together), ``room`` (a resource of one bin for an item), ``pieces``
        (items of the group's weight or more that fit into a set of bins), ``packing``
        (an arrangement that an exact model finds), ``spread`` (nodes of a level for a
        group), ``roles`` (a bin that may hold the role of a group), ``moves`` or
        ``cost`` (the caps on all moves).
    have, need
        Amounts, in the units of the problem.
    item, group, bin, node, resource, level
        Where, as rows; -1 and "" where it does not apply.
    is_proven
        Whether no arrangement at all could meet the rule.
    message
        One sentence by whoever knows better than these numbers tell; else "".
    proof
        Why that is so, where `core.verify.shortfalls` can work it out again.
    """

    what: str
    have: int
    need: int
    item: int = -1
    group: int = -1
    bin: int = -1
    node: int = -1
    resource: str = ""
    level: str = ""
    is_proven: bool = False
    message: str = ""
    proof: Proof | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Solution:
    """
    The outcome of one solve.

    Parameters
    ----------
    status
        What is known of the answer.
    best
        The best arrangement found; always one, if only the one given.
    certificate
        Bounds with their witnesses.
    shortfalls
        What is missing where a hard rule does not hold.
    steps
        Work done, in the units that limits are counted in.
    is_cut
        Whether a deadline ended the search.
    seconds
        Time spent on ``solve`` and ``bound``; nothing depends on it.
    """

    status: Status
    best: Arrangement
    certificate: Certificate
    shortfalls: tuple[Shortfall, ...] = ()
    steps: int = 0
    is_cut: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)
