"""
Irreducible infeasible set of hard rules: rules that no plan keeps together.

A deletion filter lifts one rule after the other. A rule without which a plan is still
infeasible is not part of the reason and stays lifted. The remaining rules conflict, and
each of them is needed for the conflict. Feasible means that a plan was found, and
infeasible that this is proven: by `core.bounds.infeasibility`, and for small clusters
also by CP-SAT, whose assumptions name a sufficient set of rules
(`core.feasibility.infeasible_subsystem`). A rule for which neither is known stays in
the reason, and the reason is not called irreducible.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial

import numpy as np

from placement.core.bounds.infeasibility import is_impossible
from placement.core.bounds.shortfalls import MAX_SHORTFALLS
from placement.core.exact.work_limit import ExactWork
from placement.core.model.problem import Problem
from placement.core.model.solution import Shortfall, Status
from placement.draft.draft import Draft, Settings
from placement.log_dirs.dir_plan import are_dirs_impossible
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES
from placement.model.targets import find_targets
from placement.operations.operation import Operation
from placement.planning.decode import kept_on_removed
from placement.planning.elastic.hard_goals import hard_alone
from placement.planning.encode import build_problem
from placement.planning.infeasibility.hard_bands import are_hard_goals_met
from placement.planning.infeasibility.remedies import find_remedies
from placement.planning.infeasibility.remedy import Asked, Remedy
from placement.planning.infeasibility.rule_assumptions import (
    enough_rules,
    is_infeasible,
)
from placement.planning.outcome.prior_violations import admit_existing
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import draft_shares, make_draft, plan
from placement.rules.registry import LIFTED, RULES, rules_named

MOST_SOLVED = 3000
"""Maximum number of replicas of a cluster that is planned again without each rule."""
MOST_EXACT = 200
"""Maximum number of replicas for plans with normal effort, exact models included."""

MET = {Status.OPTIMAL, Status.FEASIBLE}
Planner = Callable[[Settings], PlannedPlacement]


@dataclass(frozen=True, slots=True)
class InfeasibleSet:
    """
    The reason why no plan keeps every hard rule.

    Parameters
    ----------
    rules
        Names of conflicting rules; keys of `placement.rules.registry.LIFTED`.
    helps
        For each rule, whether a plan was found that keeps all hard rules but this one;
        `None` if that is not known.
    is_proven
        Whether the conflict is proven; otherwise only no plan was found.
    is_irreducible
        Whether each rule is known to be needed for the conflict.
    remedies
        Changes for each of which a plan was made that keeps every hard rule.
    is_of_rest
        Whether all this leaves out shortfalls that no rule causes, such as partitions
        without a source.
    """

    rules: tuple[str, ...]
    helps: tuple[bool | None, ...]
    is_proven: bool
    is_irreducible: bool
    remedies: tuple[Remedy, ...] = ()
    is_of_rest: bool = False


class _Verdict(Enum):
    POSSIBLE = 1
    IMPOSSIBLE = 2
    UNKNOWN = 3


def explain_impossible(
    operation: Operation,
    settings: Settings,
    found: PlannedPlacement,
    planned: Planner | None = None,
) -> InfeasibleSet | None:
    """
    Find the reason why a plan does not keep every hard rule.

    Parameters
    ----------
    operation, settings
        Arguments with which the plan was made.
    found
        The best plan.
    planned
        Function that makes a plan of this operation under given settings; `plan` if
        `None`.

    Returns
    -------
    The reason, or `None` if the plan keeps every hard rule.

    Notes
    -----
    Each rule takes proofs in time proportional to the number of replicas. Plans without
    a rule are made for clusters of up to `MOST_SOLVED` replicas. In a larger cluster
    without a proof, the reason is the set of all rules.
    """
    if found.has_met_rules:
        return None
    draft = found.draft
    asked = Asked(
        state=draft.state if draft.decided is None else draft.decided.before,
        operation=operation,
        settings=settings,
    )
    settings, given_way = _without_soft(settings)
    active = [
        name
        for name, rule in LIFTED.items()
        if name not in given_way and rule.limits(found.draft)
    ]
    inherent = _Inherent.of(asked, settings, active, found)
    filtered = _Filter(found.draft, operation, settings, planned, inherent)
    is_proven = filtered.verdict(active, active) is _Verdict.IMPOSSIBLE
    if not is_proven and not filtered.is_small:
        nothing = (None,) * len(active)
        return InfeasibleSet(
            tuple(active),
            nothing,
            is_proven=False,
            is_irreducible=False,
            is_of_rest=bool(inherent.known),
        )
    rules, doubts = filtered.reduce(active)
    helps = tuple(filtered.helps(active, rule) for rule in rules)
    remedies: tuple[Remedy, ...] = ()
    if filtered.is_small:
        helping = tuple(
            rule for rule, is_help in zip(rules, helps, strict=True) if is_help
        )
        remedies = _remedies(asked, found, helping, planned, inherent)
    return InfeasibleSet(
        rules=tuple(rules),
        helps=helps,
        is_proven=is_proven,
        is_irreducible=is_proven and not doubts,
        remedies=remedies,
        is_of_rest=bool(inherent.known),
    )


@dataclass(frozen=True, slots=True)
class _Inherent:
    """
    Shortfalls that no rule causes, where others stand beside them.

    Parameters
    ----------
    known
        Kind, level and partition of each. Empty: none is left out of the reason.
    """

    known: frozenset[tuple[str, str, int]]

    @classmethod
    def of(
        cls,
        asked: Asked,
        settings: Settings,
        active: list[str],
        found: PlannedPlacement,
    ) -> "_Inherent":
        """Return the shortfalls of a draft without rules, if the plan has others."""
        nothing = cls(frozenset())
        if not found.draft.shortfalls or found.draft.is_emptied_dir is not None:
            return nothing
        for name in active:
            settings = LIFTED[name].lifted(settings)
        draft = make_draft(asked.state, asked.operation, settings)
        inherent = cls(frozenset(map(_kind, draft.shortfalls)))
        # A list at its limit may hide others.
        is_whole = len(found.solution.shortfalls) < MAX_SHORTFALLS
        return inherent if is_whole and inherent.rest(found) else nothing

    def without(self, shortfalls: Iterable[Shortfall]) -> list[Shortfall]:
        """Return the shortfalls that are not inherent."""
        return [one for one in shortfalls if _kind(one) not in self.known]

    def rest(self, found: PlannedPlacement) -> list[Shortfall]:
        """Return the shortfalls of a plan that are not inherent."""
        return self.without(found.solution.shortfalls)

    def status(self, found: PlannedPlacement) -> Status:
        """Return the status of a plan but for its inherent shortfalls."""
        status = found.solution.status
        if not self.known or status in MET or not found.solution.shortfalls:
            return status
        rest = self.rest(found)
        if not rest:
            return Status.FEASIBLE
        is_proven = any(one.is_proven for one in rest)
        return status if is_proven else Status.PARTIAL


def _kind(one: Shortfall) -> tuple[str, str, int]:
    return one.what, one.level, one.group


def _without_soft(settings: Settings) -> tuple[Settings, frozenset[str]]:
    """Return settings without soft rules, which forbid nothing, and their names."""
    given_way = rules_named(settings.soft)
    for name in given_way:
        settings = RULES[name].lifted(settings)
    return replace(settings, soft=()), given_way


def _remedies(
    asked: Asked,
    found: PlannedPlacement,
    helping: tuple[str, ...],
    planned: Planner | None,
    inherent: _Inherent,
) -> tuple[Remedy, ...]:
    """Return remedies that work; remedies of options alone if `planned` is given."""

    def make(
        state: ClusterState, operation: Operation, settings: Settings
    ) -> PlannedPlacement | None:
        settings = replace(settings, effort="quick", deadline_s=None)
        if planned is None:
            made = plan(state, operation, settings)
        elif state is asked.state:
            made = planned(settings)
        else:
            return None
        solution = replace(made.solution, status=inherent.status(made))
        return replace(made, solution=solution)

    def is_disproved(changed: Asked) -> bool:
        settings, _ = _without_soft(changed.settings)
        draft = make_draft(changed.state, changed.operation, settings)
        return _is_disproved(draft, inherent)

    rest = replace(found.solution, shortfalls=tuple(inherent.rest(found)))
    found = replace(found, solution=rest)
    return find_remedies(asked, found, helping, make, is_disproved)


def _bare_problem(draft: Draft) -> Problem:
    """Return the problem with every resource, without bands and repairs of none."""
    shares = draft_shares(draft)
    shape = (draft.state.num_brokers, len(RESOURCES))
    nothing = np.zeros(shape, dtype=np.int64)
    problem = build_problem(draft, find_targets(shares, nothing, nothing), ())
    return admit_existing(draft, problem)


def _is_disproved(draft: Draft, inherent: _Inherent) -> bool:
    """Return whether fast bounds prove a draft infeasible; bands do not count."""
    if draft.is_emptied_dir is not None:
        return are_dirs_impossible(draft)
    if inherent.without([*draft.shortfalls, *kept_on_removed(draft)]):
        return True
    return is_impossible(_bare_problem(draft))


class _Filter:
    """Deletion filter: determine whether a plan is feasible with some rules lifted."""

    def __init__(
        self,
        draft: Draft,
        operation: Operation,
        settings: Settings,
        planned: Planner | None,
        inherent: _Inherent,
    ) -> None:
        # The operation decides anew, as its decision may differ with a rule lifted.
        decided = draft.decided
        self._state = draft.state if decided is None else decided.before
        self._operation = operation
        self._planned = planned or partial(plan, self._state, operation)
        self._settings = replace(settings, deadline_s=None)
        self._inherent = inherent
        is_tiny = len(draft.state.replicas) <= MOST_EXACT
        self._efforts = ("quick", "normal") if is_tiny else ("quick",)
        self.is_small = len(draft.state.replicas) <= MOST_SOLVED
        # All proofs with bands share one limit; each of those without has its own.
        self._work = ExactWork(0, 0)
        self._known: dict[frozenset[str], _Verdict] = {}
        self._enough: list[set[str]] = []

    def reduce(self, active: list[str]) -> tuple[list[str], bool]:
        """Return the remaining rules, and whether any remains for lack of proof."""
        kept, has_doubts = list(active), False
        if self.is_small:
            self._assume(active)
        for rule in active:
            rest = [name for name in kept if name != rule]
            verdict = self.verdict(active, rest)
            if verdict is _Verdict.IMPOSSIBLE:
                kept = rest
            has_doubts |= verdict is _Verdict.UNKNOWN
        return kept, has_doubts

    def _assume(self, active: list[str]) -> None:
        """Find a sufficient set of rules; store it if the verdict confirms it."""
        draft = make_draft(self._state, self._operation, self._settings)
        if draft.is_emptied_dir is not None or _is_disproved(draft, self._inherent):
            # A conflict proven without CP-SAT is proven fast for fewer rules too.
            return
        enough = enough_rules(_bare_problem(draft), active)
        if enough is None or len(enough) == len(active):
            return
        # Without the other rules fewer replicas may have to move, unlike in the model.
        if self.verdict(active, enough) is _Verdict.IMPOSSIBLE:
            self._enough.append(set(enough))

    def helps(self, active: list[str], rule: str) -> bool | None:
        """Return whether lifting this rule makes a plan feasible; `None` if unknown."""
        verdict = self.verdict(active, [name for name in active if name != rule])
        return None if verdict is _Verdict.UNKNOWN else verdict is _Verdict.POSSIBLE

    def verdict(self, active: list[str], kept: list[str]) -> _Verdict:
        """Return the verdict on plans that keep only `kept` of the active rules."""
        lifted = frozenset(active) - frozenset(kept)
        if any(enough <= set(kept) for enough in self._enough):
            return _Verdict.IMPOSSIBLE
        if lifted not in self._known:
            self._known[lifted] = self._judge(lifted)
        return self._known[lifted]

    def _judge(self, lifted: frozenset[str]) -> _Verdict:
        settings = self._settings
        for name, rule in LIFTED.items():
            if name in lifted:
                settings = rule.lifted(settings)
        draft = make_draft(self._state, self._operation, settings)
        if _is_disproved(draft, self._inherent):
            return _Verdict.IMPOSSIBLE
        if not self.is_small:
            return _Verdict.UNKNOWN
        is_met = self._solved(draft, settings)
        if is_met is not None:
            return _Verdict.POSSIBLE if is_met else _Verdict.IMPOSSIBLE
        return self._search(settings)

    def _solved(self, draft: Draft, settings: Settings) -> bool | None:
        """Return whether there is a plan, by CP-SAT; `None`: not known."""
        if draft.is_emptied_dir is not None:
            return None
        if settings.hard:
            # Goals that are not hard decide nothing.
            alone = hard_alone(settings, draft)
            hard = make_draft(self._state, self._operation, alone)
            is_met = are_hard_goals_met(hard, alone, self._work)
            if is_met is not None:
                return is_met
        return False if is_infeasible(_bare_problem(draft)) else None

    def _search(self, settings: Settings) -> _Verdict:
        """Search for a plan, with more effort if the cluster is tiny."""
        for effort in self._efforts:
            limited = replace(settings, effort=effort)
            status = self._inherent.status(self._planned(limited))
            if status in MET:
                return _Verdict.POSSIBLE
            if status is Status.INFEASIBLE:
                return _Verdict.IMPOSSIBLE
        return _Verdict.UNKNOWN
