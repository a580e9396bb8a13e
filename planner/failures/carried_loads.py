"""Loads of the surviving brokers of one loss, during the loss and on return."""

from collections.abc import Iterable

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.failures.failover import (
    CARRIED_COLUMNS,
    LED,
    LED_COLUMNS,
    ON_RETURN,
)
from placement.failures.failure_outlook import Outlook, carried_loads
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import (
    RESOURCES,
    UNIT_ROW,
    Resource,
    WeightArray,
    broker_loads,
)
from planner.failures.all_failures import knows
from planner.failures.failure_records import (
    BusiestOfAllRecord,
    BusiestRecord,
    LossOnReturnRecord,
    SurvivorRecord,
)
from planner.text.document_numbers import rounded

OUT = LED_COLUMNS[LED.index(Resource.OUT)]
IN = RESOURCES.index(Resource.IN)
HOUR_S = 3600


def carried(given: Outlook, state: ClusterState) -> WeightArray:
    """Return ``(B, 4)`` loads by `CARRIED_COLUMNS` at one stage of a loss."""
    load = broker_loads(state, given.weights, state.partitions.leader_idx)
    return carried_loads(state, given.weights, load)


def count_over(given: Outlook, lost: ClusterState, columns: Iterable[int]) -> int:
    """Count the surviving brokers that a loss pushes over a threshold."""
    load = carried(given, lost)
    over = np.zeros(lost.num_brokers, dtype=np.bool_)
    for y in columns:
        r = CARRIED_COLUMNS[y]
        use = load[:, y] / given.scale.unit[:, r]
        over |= (load[:, y] > given.carried[:, y]) & (use > given.scale.most[r])
    return int((over & lost.brokers.is_live).sum())


def busiest(given: Outlook, state: ClusterState) -> BusiestOfAllRecord:
    """Return the busiest live broker in each resource that leaders use."""
    load = carried(given, state)
    return BusiestOfAllRecord(
        **{
            str(resource): _busiest(given, state, load[:, y].astype(float), resource)
            for y, resource in enumerate(LED)
        }
    )


def _busiest(
    given: Outlook, state: ClusterState, load: RateArray, resource: Resource
) -> BusiestRecord | None:
    """Return the live broker with the highest use; `None` where loads are unknown."""
    live, r = np.nonzero(state.brokers.is_live)[0], RESOURCES.index(resource)
    if not len(live) or not knows(given, resource):
        return None
    use = load[live] / given.scale.unit[live, r]
    at = int(use.argmax())
    return BusiestRecord(
        broker=int(state.brokers.ids[live[at]]),
        load=rounded(float(load[live[at]] / UNIT_ROW[r])),
        use=rounded(float(use[at])) if given.scale.is_use[r] else None,
    )


def binding(given: Outlook, lost: ClusterState) -> SurvivorRecord | None:
    """
    Return the surviving broker with the largest ratio of use to threshold.

    Only resources that leaders use count. The result is `None` where of none of them
    capacity and load are known, or no broker survives.
    """
    load = carried(given, lost)
    live = np.nonzero(lost.brokers.is_live)[0]
    is_capped = np.isfinite(given.scale.most) & given.is_known
    capped = [y for y, r in enumerate(LED_COLUMNS) if is_capped[r]]
    if not len(live) or not capped:
        return None
    rows = [LED_COLUMNS[y] for y in capped]
    use = load[live][:, capped] / given.scale.unit[live][:, rows]
    most = given.scale.most[rows]
    row, column = np.unravel_index(int((use / most).argmax()), use.shape)
    return SurvivorRecord(
        resource=str(RESOURCES[rows[column]]),
        broker=int(lost.brokers.ids[live[row]]),
        use=rounded(float(use[row, column])),
        threshold=rounded(float(most[column])),
    )


def on_return(
    given: Outlook, before: ClusterState, lost: ClusterState
) -> LossOnReturnRecord:
    """
    Return the loads of the survivors once the lost replicas are back, or rebuilt.

    All followers fetch again. Brokers that send missed records or whole replicas send
    up to the bandwidth in addition.
    """
    load = carried(given, lost)[:, ON_RETURN].astype(np.float64)
    is_copied = _copied(before, lost)
    sends = np.zeros(lost.num_brokers, dtype=np.bool_)
    source = lost.partitions.leader_idx[before.replicas.partition_idx[is_copied]]
    sends[source[source != ABSENT]] = True
    more = load + sends * given.bandwidth_bytes_per_s * UNIT_ROW[OUT]
    return LossOnReturnRecord(
        busiest_out=_busiest(given, lost, load, Resource.OUT),
        over_threshold=count_over(given, lost, range(1, ON_RETURN + 1)),
        busiest_out_while_copying=_busiest(given, lost, more, Resource.OUT),
        catch_up_s_per_hour=_catch_up(given, before, lost),
    )


def _copied(before: ClusterState, lost: ClusterState) -> BoolArray:
    """Return ``(R,)`` true for lost replicas whose partition still has a source."""
    is_gone = lost.is_offline & ~before.is_offline
    copied: BoolArray = is_gone & lost.has_source[before.replicas.partition_idx]
    return copied


def _catch_up(given: Outlook, before: ClusterState, lost: ClusterState) -> float | None:
    """Return the seconds that the busiest broker needs to catch up per hour of loss."""
    if not knows(given, Resource.IN):
        return None
    rows = np.nonzero(_copied(before, lost))[0]
    p = before.replicas.partition_idx[rows]
    rate = given.weights.replica[p, IN] / UNIT_ROW[IN]
    source, owner = lost.partitions.leader_idx[p], before.replicas.broker_idx[rows]
    is_led, count = source != ABSENT, before.num_brokers
    sent = np.bincount(source[is_led], weights=rate[is_led], minlength=count)
    received = np.bincount(owner, weights=rate, minlength=count)
    busiest_rate = max(sent.max(initial=0.0), received.max(initial=0.0))
    return rounded(float(busiest_rate) / given.bandwidth_bytes_per_s * HOUR_S)
