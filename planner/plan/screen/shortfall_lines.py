"""Shortfalls of a plan, the reason, and commands that repair old violations."""

from collections.abc import Iterator

from placement.operations.fix import Defect
from planner.plan.documents.infeasibility import reason_text
from planner.plan.documents.plan_document import shortfall_document
from planner.plan.documents.remedy_text import away_remedy
from planner.plan.documents.scored_plan import Plan
from planner.plan.run.make_plan import Planned
from planner.plan.run.prior_violations import remedy_of
from planner.text.format import labelled

MOST_SHORTFALLS = 3
MOST_REMEDIES = 2
REPAIRING = {"fix", "rebalance"}
"""Operations that repair offline replicas, failed log dirs and racks themselves."""


def lacking_lines(plan: Plan) -> Iterator[str]:
    """Yield the shortfalls of a plan, and the reason for them."""
    found: dict[str, None] = {}
    inherent: dict[str, str] = {}
    for one in plan.placed.solution.shortfalls:
        message = shortfall_document(plan.placed, one)["message"]
        found.setdefault(message)
        if one in plan.placed.draft.shortfalls:
            inherent.setdefault(one.what, message)
    # What no rule causes comes before the rules that stand in the way besides.
    messages = list(dict.fromkeys([*list(found)[:1], *inherent.values(), *found]))
    for message in messages[:MOST_SHORTFALLS]:
        yield from labelled(" lacks", message)
    rest = len(messages) - MOST_SHORTFALLS
    if rest > 0 and plan.creation is None:
        yield from labelled(" lacks", f"and {rest} more, in plan.json")
    if plan.infeasible_set is not None:
        yield from labelled(" reason", reason_text(plan.placed, plan.infeasible_set))


def remedy_lines(planned: Planned) -> Iterator[str]:
    """Yield other commands that repair what was broken before and still is."""
    plan = planned.plan
    found = (remedy_of(one, plan.state) for one in planned.findings)
    remedies = list(dict.fromkeys(filter(None, found)))
    tried = _tried_remedies(plan)
    others = [one for one in remedies if one not in tried]
    if others:
        more = ["more: see check"] if len(others) > MOST_REMEDIES else []
        yield from labelled(" repair", ", then ".join(others[:MOST_REMEDIES] + more))


def _tried_remedies(plan: Plan) -> frozenset[str]:
    """Return commands that repair no more than the plan tried to."""
    itself = f"plan {plan.goal}"
    if plan.placed.has_met_rules or plan.goal not in REPAIRING:
        return frozenset({itself})
    parts = plan.settings.get("only") or list(Defect)
    tried = {itself, *(f"plan fix --only {part}" for part in parts)}
    if plan.settings.get("lost"):
        tried.add(away_remedy(plan.state))
    return frozenset(tried)
