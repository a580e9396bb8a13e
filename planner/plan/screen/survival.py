"""Effects of a plan on its cluster, as text: time, fullest disk, survived losses."""

from collections.abc import Iterator, Sequence

import numpy as np

from placement.failures.controller_majority import (
    Voter,
    any_broker,
    keeps_majority,
    over_all,
)
from placement.model.cluster import ClusterState
from placement.model.reassignment import Reassignment
from planner.plan.documents.plan_figures import (
    Survival,
    copy_time,
    fullest_disk,
    survive,
)
from planner.text.format import bytes_text, duration_text, percent_text, plural

AS_NOW = 0.005
"""Difference of disk fractions below which they are shown as equal."""


def time_text(reassignment: Reassignment, rate_bytes_per_s: float) -> str:
    """Return the time of the copies at a rate, and the fullest disk meanwhile."""
    time = copy_time(reassignment, rate_bytes_per_s)
    rate = f"{bytes_text(rate_bytes_per_s)}/s per broker"
    text = f"{duration_text(time.seconds)} at {rate}"
    now = fullest_disk(reassignment, while_copying=False)
    peak = fullest_disk(reassignment, while_copying=True)
    if now is not None and peak is not None:
        is_as_now = abs(peak.fraction - now.fraction) < AS_NOW
        when, as_now = ("", ", as now") if is_as_now else (" meanwhile", "")
        full = percent_text(peak.fraction)
        text += f"; fullest disk{when}: b{peak.broker_id} {full}{as_now}"
    return text


def survival_text(after: ClusterState, voters: Sequence[Voter]) -> str:
    """Return whether the loss of any one broker and of any one rack is survived."""
    brokers = after.brokers
    alone = survive(after, np.arange(len(brokers), dtype=np.int32))
    majority = any_broker(voters, brokers.ids.tolist())
    below = f" ({alone.newly_below} below min ISR)" if alone.newly_below else ""
    text = f"any broker: {_yes(alone, majority)}{below}."
    if before := list(_before_texts(alone)):
        text = f"{' and '.join(before)} already, with no loss. Of the others {text}"
    if not any(rack is not None for rack in brokers.racks):
        return f"{text} Racks unknown."
    racks = survive(after, brokers.rack_idx)
    which = "Any rack" if None not in brokers.racks else "Any rack that is known"
    counts = f"{racks.at_min_isr} at min ISR, {racks.newly_below} below"
    return f"{text} {which}: {_yes(racks, _any_rack(after, voters))} ({counts})."


def _before_texts(found: Survival) -> Iterator[str]:
    """Yield the partitions that fail without any loss."""
    counts = {"offline": found.offline_before, "below min ISR": found.below_before}
    for word, count in counts.items():
        if count:
            yield f"{plural(count, 'partition')} {word}"


def _any_rack(state: ClusterState, voters: Sequence[Voter]) -> bool | None:
    """Return whether the controllers' majority survives the loss of any one rack."""
    brokers = state.brokers
    return over_all(
        keeps_majority(
            voters,
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
