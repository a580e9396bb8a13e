"""Losses that the cluster survives after a plan, as text."""

import numpy as np

from placement.failures.controller_majority import (
    any_broker,
    keeps_majority,
    over_all,
)
from planner.plan.documents.plan_document import Plan
from planner.plan.documents.plan_figures import survive
from planner.text.format import plural


def survival_text(plan: Plan) -> str:
    """Return whether the loss of any one broker and of any one rack is survived."""
    after = plan.placed.reassignment.after()
    brokers = after.brokers
    alone = survive(after, np.arange(len(brokers), dtype=np.int32))
    majority = any_broker(plan.voters, brokers.ids.tolist())
    survived = _yes(alone.most_offline, majority)
    text = f"any broker: {survived}{_below_text(alone.most_below)}."
    if alone.offline_before:
        count = plural(alone.offline_before, "partition")
        text = f"{count} offline already, with no loss. Of the others {text}"
    if not any(rack is not None for rack in brokers.racks):
        return f"{text} Racks unknown."
    racks = survive(after, brokers.rack_idx)
    which = "Any rack" if None not in brokers.racks else "Any rack that is known"
    return (
        f"{text} {which}: {_yes(racks.most_offline, _any_rack(plan))} "
        f"({racks.at_min_isr} at min ISR, {racks.most_below} below)."
    )


def _any_rack(plan: Plan) -> bool | None:
    """Return whether the controllers' majority survives the loss of any one rack."""
    brokers = plan.state.brokers
    return over_all(
        keeps_majority(
            plan.voters,
            brokers=brokers.ids[np.equal(brokers.rack_idx, k)].tolist(),
            racks=[name],
        )
        for k, name in enumerate(brokers.racks)
        if name is not None
    )


def _yes(offline: int, majority: bool | None) -> str:
    if majority is False:
        lost = f"{offline} offline and " if offline else ""
        return f"no, {lost}the controllers lose their majority"
    return "yes" if not offline else f"no, {offline} offline"


def _below_text(below: int) -> str:
    return f" ({below} below min ISR)" if below else ""
