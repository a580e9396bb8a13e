"""Outcome of the core: arrangement, status, certificate, shortfalls."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from placement.core.model.arrangement import Arrangement

CLOSED = 1e-6
"""Relative gap up to which a bound proves an answer optimal."""


class Status(StrEnum):
    """Proven quality of an answer."""

    OPTIMAL = "optimal"
    """Hard rules hold, and the cost is proven least for the bands reached, by a
    verified bound or by the bound of a solver (`Bounded.solver`)."""
    FEASIBLE = "feasible"
    """Hard rules hold."""
    PARTIAL = "partial"
    """Some hard rule is not met; infeasibility is not proven."""
    INFEASIBLE = "infeasible"
    """Some hard rule is proven infeasible: see the shortfalls."""


MET = frozenset({Status.OPTIMAL, Status.FEASIBLE})
"""Statuses of answers that keep every hard rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """
    Proof of a lower bound.

    Parameters
    ----------
    kind
        Kind of bound: ``count``, ``cover``, ``flow-dual``, ``forced``, ``heaviest``,
        ``lambda``, ``milp-dual``, ``water-fill``.
    witness
        Plain integers and lists from which `core.verify` computes the bound again.
    """

    kind: str
    witness: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """
    Value of an answer and lower bounds on it.

    Parameters
    ----------
    value
        Value of the answer.
    lower_bound
        Proven lower bound for answers within the bands reached, by the moves allowed.
    proof
        Witness of the bound, or `None` where only 0 is proven.
    solver_bound
        Lower bound stated by a solver and not verified; `None`: none above the proven
        one.
    solver
        Name and version of that solver.
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
        """Whether `value` is within `CLOSED` of the proven or the solver's bound."""
        known = self.lower_bound
        if self.solver_bound is not None:
            known = max(known, self.solver_bound)
        return self.value - known <= known * CLOSED

    def with_solver(
        self, bound: float | None, solver: str | None, *, is_spread: bool = False
    ) -> "Bounded":
        """Return a copy with the bound of a solver, if it exceeds the proven bound."""
        # An answer below a bound on spread answers is not spread: the bound is void.
        is_of_others = is_spread and bound is not None and bound > self.value
        if bound is None or bound <= self.lower_bound or is_of_others:
            return replace(self, solver_bound=None, solver=None, is_spread=False)
        least = min(bound, self.value)
        return replace(self, solver_bound=least, solver=solver, is_spread=is_spread)

    @property
    def gap(self) -> float | None:
        """``value / lower_bound - 1``; 0 if both are 0, `None` if only the bound is."""
        if self.lower_bound == 0:
            return 0.0 if self.value == 0 else None
        return self.value / self.lower_bound - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """
    Values of an answer with lower bounds.

    Parameters
    ----------
    cost, moves, deviation
        Cost of moving, number of moves, and largest distance outside the bands.
    roles, share
        If only roles change: number of role changes, and excess of the fullest
        bin's count over its share, as a fraction.
    """

    cost: Bounded
    moves: Bounded
    deviation: Bounded
    roles: Bounded | None = None
    share: Bounded | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """
    Amount missing for a hard rule to hold.

    Parameters
    ----------
    what
        Kind of amount: ``bins`` (legal bins for an item), ``capacity`` (a resource of a
        node, or of all bins together), ``room`` (a resource of one bin for an item),
        ``pieces`` (items of the group's weight or more that fit into a set of bins),
        ``packing`` (an arrangement that an exact model finds), ``spread`` (nodes of a
        level for a group), ``roles`` (bins that may hold the role of a group),
        ``moves``, ``cost`` or ``crossing`` (caps on all moves).
    have, need
        Available and needed amount, in the units of the problem.
    item, group, bin, node, resource, level
        Rows of the things concerned, names of resource and level; -1 and "": none.
    is_proven
        Whether the rule is proven infeasible.
    message
        One sentence that replaces the generated description; "": none.
    proof
        Witness that `core.verify.shortfalls` can verify, if any.
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
    Outcome of one solve.

    Parameters
    ----------
    status
        Proven quality of the answer.
    best
        Best arrangement found; at worst the initial one.
    certificate
        Bounds with their witnesses.
    shortfalls
        Amounts missing where a hard rule does not hold.
    steps
        Work done, in the steps of the search budget.
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
