"""Losses that the cluster survives after a plan, as text."""

from collections.abc import Iterator

import numpy as np

from placement.failures.controller_majority import (
    any_broker,
    keeps_majority,
    over_all,
)
from planner.plan.documents.plan_document import Plan
from planner.plan.documents.plan_figures import Survival, survive
from planner.text.format import plural


def survival_text(plan: Plan) -> str:
    """Return whether the loss of any one broker and of any one rack is survived."""
    after = plan.placed.reassignment.after()
    brokers = after.brokers
    alone = survive(after, np.arange(len(brokers), dtype=np.int32))
    majority = any_broker(plan.voters, brokers.ids.tolist())
    below = f" ({alone.newly_below} below min ISR)" if alone.newly_below else ""
    text = f"any broker: {_yes(alone, majority)}{below}."
    if before := list(_before_texts(alone)):
        text = f"{' and '.join(before)} already, with no loss. Of the others {text}"
    if not any(rack is not None for rack in brokers.racks):
        return f"{text} Racks unknown."
    racks = survive(after, brokers.rack_idx)
    which = "Any rack" if None not in brokers.racks else "Any rack that is known"
    counts = f"{racks.at_min_isr} at min ISR, {racks.newly_below} below"
    return f"{text} {which}: {_yes(racks, _any_rack(plan))} ({counts})."


def _before_texts(found: Survival) -> Iterator[str]:
    """Yield the partitions that fail without any loss."""
    counts = {"offline": found.offline_before, "below min ISR": found.below_before}
    for word, count in counts.items():
        if count:
            yield f"{plural(count, 'partition')} {word}"


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


def _yes(found: Survival, majority: bool | None) -> str:
    """Return the verdict; producers with acks=all need min.insync.replicas."""
    hurt = []
    if found.most_offline:
        hurt.append(f"{found.most_offline} offline")
    elif found.newly_below:
        hurt.append("acks=all refused")
    if majority is False:
        hurt.append("the controllers lose their majority")
    return f"no, {' and '.join(hurt)}" if hurt else "yes"
