"""Rate of copies chosen from the head-room that the networks of brokers have."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil, inf, isfinite, isnan
from typing import Any

import numpy as np

from placement.draft.settings import DEFAULT_THRESHOLDS
from placement.model.cluster import ClusterState
from placement.model.copies import sent_by
from placement.model.load import Resource
from placement.waves.copy_pace import LEAST_SHARE, WAYS, written_to
from planner.execution.changes import Change
from planner.execution.least_throttle import LeastRate
from planner.plan.documents.plan_figures import DEFAULT_RATE_BYTES_PER_S
from planner.plan.input.plan_input import PlanInput
from planner.text.format import bytes_text

MOST_RATE_BYTES_PER_S = 1_000_000_000
"""Largest rate in bytes/s that a run chooses by itself."""
Way = tuple[int, Resource]
"""Broker id, and direction of its network."""


@dataclass(frozen=True, slots=True)
class ChosenRate:
    """
    Rate of copies.

    Parameters
    ----------
    bytes_per_s
        Rate of the throttle.
    notes
        Sentence that says what it was chosen from, unless it was given.
    """

    bytes_per_s: int
    notes: tuple[str, ...] = ()


def choose_rate(
    plan: PlanInput, state: ClusterState, changes: Iterable[Change], least: LeastRate
) -> ChosenRate:
    """
    Return the rate of copies that the networks of their brokers have room for.

    As for waves, what a broker receives and sends anyway, and copies besides, stay
    under the threshold of its capacity in each direction. The tightest end of a copy
    decides, and has at least a hundredth of its capacity: it could never be relieved
    otherwise. What throttled replicas in sync take comes on top, since Kafka counts it
    against the rate. So the rate is always above the least one.

    Parameters
    ----------
    plan
        The plan: thresholds, and capacities and loads that the cluster does not know.
    state
        The cluster now.
    changes
        Changes that are left.
    least
        Traffic that a throttle has to exceed.

    Notes
    -----
    A load is the larger of the one now and the one in plan.json, where both are known:
    a running cluster does not say what consumers read. Where a capacity or a load of a
    broker that copies is unknown, the rate is the default.
    """
    ways = sorted(set(_ways(changes)))
    rooms = _rooms(plan, state)
    if not ways:
        return ChosenRate(DEFAULT_RATE_BYTES_PER_S)
    if not rooms.keys() >= set(ways):
        reason = "the rate is the default: network capacities or loads are unknown"
        return ChosenRate(DEFAULT_RATE_BYTES_PER_S, (reason,))
    room, (broker, way) = min((rooms[one], one) for one in ways)
    pace = min(room, MOST_RATE_BYTES_PER_S)
    word = "into" if way is Resource.IN else "out of"
    reason = (
        f"the rate was chosen from head-room: {bytes_text(pace)}/s {word} broker "
        f"{broker}, and what replicas in sync take"
    )
    return ChosenRate(ceil(pace + least.bytes_per_s), (reason,))


def _ways(changes: Iterable[Change]) -> Iterator[Way]:
    """Yield the ends of copies: the brokers that send, and those that receive."""
    for change in changes:
        targets = [broker for step in change.steps for broker in step.copies]
        yield from ((broker, Resource.IN) for broker in targets)
        if targets and change.leader is not None:
            yield change.leader, Resource.OUT


def _rooms(plan: PlanInput, state: ClusterState) -> dict[Way, float]:
    """Return the bytes/s that copies may use, where capacity and load are known."""
    planned = _planned(plan)
    found: dict[Way, float] = {}
    for way, capacity, load in zip(
        WAYS, _capacities(state), _loads(state), strict=True
    ):
        threshold = plan.settings.capacity_threshold.get(way, DEFAULT_THRESHOLDS[way])
        for row, broker in enumerate(state.brokers.ids.tolist()):
            given, was = planned.get((broker, way), (None, None))
            most = capacity[row] if isfinite(capacity[row]) else given
            loads = [one for one in (load[row], was) if one is not None]
            known = [one for one in loads if not isnan(one)]
            if most is not None and known:
                room = threshold * most - max(known)
                found[broker, way] = max(room, LEAST_SHARE * most)
    return found


def _capacities(state: ClusterState) -> tuple[list[float], list[float]]:
    brokers = state.brokers
    return brokers.in_bytes_per_s.tolist(), brokers.out_bytes_per_s.tolist()


def _loads(state: ClusterState) -> tuple[list[float], list[float]]:
    """Return bytes/s into and out of each broker; NaN where a rate is unknown."""
    partitions, leader = state.partitions, sent_by(state)
    followers = np.maximum(state.replication_factor - 1, 0)
    sent = partitions.out_bytes_per_s + followers * partitions.in_bytes_per_s
    led = leader >= 0
    outward = np.bincount(leader[led], sent[led], state.num_brokers)
    return written_to(state, partitions.in_bytes_per_s).tolist(), outward.tolist()


def _planned(plan: PlanInput) -> dict[Way, tuple[float | None, float | None]]:
    """Return the capacity and the load of each broker in plan.json."""
    before = plan.document.get("before")
    rows = before.get("by_broker") if isinstance(before, dict) else None
    return {
        (row["broker"], way): (_number(row, way, "capacity"), _number(row, way, "load"))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and isinstance(row.get("broker"), int)
        for way in WAYS
    }


def _number(row: Mapping[str, Any], way: Resource, name: str) -> float | None:
    """Return a number above or equal to 0 of a broker, `None` if there is none."""
    cell = row.get(way)
    value = cell.get(name) if isinstance(cell, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < inf else None
