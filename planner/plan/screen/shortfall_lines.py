"""Shortfalls of a plan, the reason, and commands that repair old violations."""

from collections.abc import Iterator

from planner.plan.documents.infeasibility import reason_text
from planner.plan.documents.plan_document import shortfall_document
from planner.plan.documents.scored_plan import Plan
from planner.plan.run.make_plan import Planned
from planner.plan.run.prior_violations import remedy_of, tried_remedies
from planner.text.format import labelled

MOST_SHORTFALLS = 3
MOST_REMEDIES = 2


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
    tried = tried_remedies(
        plan.goal, plan.settings, plan.state, has_met_rules=plan.placed.has_met_rules
    )
    others = [one for one in remedies if one not in tried]
    if others:
        more = ["more: see check"] if len(others) > MOST_REMEDIES else []
        yield from labelled(" repair", ", then ".join(others[:MOST_REMEDIES] + more))
