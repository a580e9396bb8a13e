"""
Infeasible subsystem of the hard rules, from CP-SAT assumptions.

Every kind of rule has a literal that enforces its rows. If the problem is infeasible,
the literals used by the proof are a set of rules that cannot be kept together. The set
is sufficient and seldom far from irreducible; the caller reduces it further.
"""

from typing import NamedTuple

from ortools.sat.python import cp_model

from placement.core.bounds.cover_bounds import aimed_bands
from placement.core.exact.cp_sat.hard_rules_model import RulesModel
from placement.core.exact.model_scaling import Found, fits_rules
from placement.core.exact.work_limit import ExactWork
from placement.core.feasibility.least_excess import RULE_CELLS
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Level, Problem
from placement.core.presolve.fix_immovable import Moving


class Kind(NamedTuple):
    """
    Kind of hard rules.

    Parameters
    ----------
    what
        ``capacity`` (of bins), ``node`` (a capacity of a level above), ``spread`` (caps
        on the items of a group), ``cap`` (on all moves).
    of
        Name of the resource, of the level, or of the quantity capped.
    level
        Name of the level of a ``node``; else "".
    """

    what: str
    of: str
    level: str = ""


def is_infeasible(problem: Problem, work: ExactWork | None = None) -> bool:
    """Return whether CP-SAT proves that no arrangement keeps the hard rules."""
    moving = Moving.of(problem).problem
    if not fits_rules(moving, RULE_CELLS):
        return False
    model = RulesModel(moving)
    status, _ = model.decide((work or ExactWork(0, 0)).rules)
    return status == cp_model.INFEASIBLE


def within_bands(problem: Problem, work: ExactWork) -> tuple[Found, Arrangement | None]:
    """
    Return whether hard rules and bands can be kept together, by CP-SAT.

    Parameters
    ----------
    problem
        Problem to examine.
    work
        Work limits, reduced by the work done.

    Returns
    -------
    Whether there is an arrangement, and one, if any was found. The model rounds limits
    outwards: the caller has to evaluate the arrangement.
    """
    moving = Moving.of(problem)
    if not fits_rules(moving.problem, RULE_CELLS):
        return Found.UNKNOWN, None
    model = RulesModel(moving.problem)
    model.add_bands(aimed_bands(moving.problem))
    found, at, _ = model.solve(work)
    return found, None if at is None else moving.arranged(at)


def infeasible_kinds(
    problem: Problem, work: ExactWork | None = None
) -> frozenset[Kind] | None:
    """
    Return a sufficient set of kinds of rules for infeasibility.

    Parameters
    ----------
    problem
        Problem to examine; its bands are ignored. Movability, eligibility and even
        spreads have no assumption: they are always enforced.
    work
        Work limits; `None`: those of the hard rules in one plan.

    Returns
    -------
    Kinds of rules, possibly empty; `None` if infeasibility is not proven.
    """
    moving = Moving.of(problem).problem
    if not fits_rules(moving, RULE_CELLS):
        return None
    model = _AssumedModel(moving)
    model.model.add_assumptions(list(model.literals.values()))
    status, _ = model.decide((work or ExactWork(0, 0)).rules)
    if status != cp_model.INFEASIBLE:
        return None
    used = set(model.solver.sufficient_assumptions_for_infeasibility())
    if used - {literal.index for literal in model.literals.values()}:
        # CP-SAT may name a variable of its own in place of a literal
        # (google/or-tools#5141): all rules together are infeasible in any case.
        return frozenset(model.literals)
    return frozenset(
        kind for kind, literal in model.literals.items() if literal.index in used
    )


class _AssumedModel(RulesModel):
    """Model of the hard rules with one enforcement literal per kind."""

    def __init__(self, problem: Problem) -> None:
        self.literals: dict[Kind, cp_model.IntVar] = {}
        self._now_of: Kind | None = None
        super().__init__(problem)

    def under(self, what: str, of: str, level: str = "") -> None:
        """Enforce the next rows by the literal of a kind."""
        self._now_of = Kind(what, of, level)

    def _enforced(self, row: cp_model.Constraint) -> None:
        if (kind := self._now_of) is None:
            return
        if kind not in self.literals:
            self.literals[kind] = self.model.new_bool_var("")
        row.only_enforce_if(self.literals[kind])

    def add_row(self, row: cp_model.BoundedLinearExpression | bool) -> None:
        """Add a row enforced by the literal of the current kind."""
        self._enforced(self.model.add(row))

    def _add_caps(self, level: Level) -> None:
        # An even spread is not expressed by rows of one kind: enforce it always.
        self._now_of = None if level.is_even else Kind("spread", level.name)
        super()._add_caps(level)
        self._now_of = None

    def _add_cap(
        self,
        level: Level,
        group: int,
        held: cp_model.LinearExprT,
        limits: tuple[int, int],
    ) -> None:
        self._enforced(self.model.add(held <= limits[0]))
