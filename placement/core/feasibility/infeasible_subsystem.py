"""
Hard rules that cannot be kept together, by CP-SAT's assumptions.

Every kind of rule has a literal under which its rows hold. Where no arrangement keeps
all of them, the literals that the proof used are a set of rules that cannot be kept
together: sufficient, and seldom far from irreducible. Who asks makes it minimal.
"""

from typing import NamedTuple

from ortools.sat.python import cp_model

from placement.core.exact.cp_sat.hard_rules_model import RulesModel
from placement.core.exact.model_scaling import fits_rules
from placement.core.exact.work_limit import ExactWork
from placement.core.feasibility.least_excess import RULE_CELLS
from placement.core.model.problem import Level, Problem
from placement.core.presolve.fix_immovable import Moving


class Kind(NamedTuple):
    """
    A kind of hard rules.

    Parameters
    ----------
    what
        ``capacity`` of bins, ``node`` (a capacity of a level above), ``spread`` (caps
        on the items of a group), ``cap`` on all moves.
    of
        The resource, the level's name, or what the cap is about.
    level
        Name of the level of a ``node``.
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
    status = model.run((work or ExactWork(0, 0)).rules)
    return status == cp_model.INFEASIBLE


def infeasible_kinds(
    problem: Problem, work: ExactWork | None = None
) -> frozenset[Kind] | None:
    """
    Return a sufficient set of kinds of rules for infeasibility.

    Parameters
    ----------
    problem
        The problem; its bands are ignored. Movability, eligibility and even spreads
        have no assumption: they always hold.
    work
        Work limits; `None`: those of the hard rules in one plan.

    Returns
    -------
    The kinds, possibly none; `None` if infeasibility is not proven.
    """
    moving = Moving.of(problem).problem
    if not fits_rules(moving, RULE_CELLS):
        return None
    model = _AssumedModel(moving)
    model.model.add_assumptions(list(model.literals.values()))
    status = model.run((work or ExactWork(0, 0)).rules)
    if status != cp_model.INFEASIBLE:
        return None
    used = set(model.solver.sufficient_assumptions_for_infeasibility())
    return frozenset(
        kind for kind, literal in model.literals.items() if literal.index in used
    )


class _AssumedModel(RulesModel):
    """The hard rules, the rows of each kind under a literal of its own."""

    def __init__(self, problem: Problem) -> None:
        self.literals: dict[Kind, cp_model.IntVar] = {}
        self._now_of: Kind | None = None
        super().__init__(problem)

    def under(self, what: str, of: str, level: str = "") -> None:
        """Put the next rows under the literal of their kind."""
        self._now_of = Kind(what, of, level)

    def _enforced(self, row: cp_model.Constraint) -> None:
        if (kind := self._now_of) is None:
            return
        if kind not in self.literals:
            self.literals[kind] = self.model.new_bool_var("")
        row.only_enforce_if(self.literals[kind])

    def add_row(self, row: cp_model.BoundedLinearExpression | bool) -> None:
        """Add a row under the literal of its kind."""
        self._enforced(self.model.add(row))

    def _add_caps(self, level: Level) -> None:
        # Even spreads ask for more than rows of one kind can say.
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
