"""Figures of a plan for operators: copy time, fullest disk, survived failures."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, RateArray
from placement.model.cluster import ABSENT, ClusterState, sum_rows
from placement.model.load import RESOURCES, Resource, broker_loads, weigh
from placement.model.reassignment import Reassignment
from placement.score import Score
from placement.score.known_loads import given_capacities
from planner.plan.documents.scored_plan import Plan

DEFAULT_RATE_BYTES_PER_S = 50_000_000
"""Default rate at which a broker copies, in and out, in bytes/s."""
COUNTS = (Resource.REPLICAS, Resource.LEADERS)
"""Resources that have no capacity."""
MOST_NOISE = 1e-9
"""Relative excess of a use over a threshold that is due to rounding."""


@dataclass(frozen=True, slots=True)
class CopyTime:
    """
    Least time of the copies, and the broker that determines it.

    Parameters
    ----------
    seconds
        Seconds: bytes over the busiest broker's link, divided by the rate.
    broker_id
        Id of that broker; -1 if nothing is copied.
    """

    seconds: float
    broker_id: int


def copy_time(reassignment: Reassignment, rate_bytes_per_s: float) -> CopyTime:
    """Return the time that the busiest broker needs to send, or receive, its copies."""
    state = reassignment.before
    copied = np.nonzero(reassignment.is_copied)[0]
    of = reassignment.partition_idx[copied]
    size = weigh(state).copy_bytes[of]
    arrives = np.zeros(state.num_brokers, dtype=np.int64)
    np.add.at(arrives, reassignment.broker_idx[copied], size)
    leaves = np.zeros(state.num_brokers, dtype=np.int64)
    # Kafka copies from the leader, whichever replica is replaced.
    source = state.partitions.leader_idx[of]
    np.add.at(leaves, source[source != ABSENT], size[source != ABSENT])
    busiest = np.maximum(arrives, leaves)
    if not len(copied) or not busiest.any():
        return CopyTime(0.0, -1)
    broker = int(busiest.argmax())
    return CopyTime(
        float(busiest[broker]) / rate_bytes_per_s, int(state.brokers.ids[broker])
    )


def counted_out(plan: Plan) -> BoolArray:
    """Return ``(B, R)`` true for loads out of band that the operation counts."""
    draft, after = plan.placed.draft, plan.after
    out = after.is_out & draft.holds[:, None]
    if draft.old_may_be_low:
        out &= draft.is_new[:, None] | (after.deviation > 0)
    return out


def over_threshold(plan: Plan, score: Score, r: int) -> BoolArray:
    """Return ``(B,)`` live brokers over the capacity threshold of a resource."""
    thresholds = plan.placed.draft.settings.capacity_thresholds
    if RESOURCES[r] not in thresholds or RESOURCES[r] in COUNTS:
        return np.zeros(plan.state.num_brokers, dtype=np.bool_)
    capacity = given_capacity(plan.state, RESOURCES[r])
    most = capacity * thresholds[RESOURCES[r]] * (1 + MOST_NOISE)
    is_over: BoolArray = plan.state.brokers.is_live & (score.load[:, r] > most)
    return is_over


def given_capacity(state: ClusterState, resource: Resource) -> RateArray:
    """Return ``(B,)`` capacities as given, NaN if absent."""
    given: RateArray = given_capacities(state)[:, RESOURCES.index(resource)]
    return given


@dataclass(frozen=True, slots=True)
class FullestDisk:
    """Broker with the fullest disk, and its use as a fraction of the capacity."""

    fraction: float
    broker_id: int


def fullest_disk(
    reassignment: Reassignment, *, while_copying: bool
) -> FullestDisk | None:
    """
    Return the fullest disk, before the plan or while it holds both copies.

    `None` if no disk's capacity is known.
    """
    state = reassignment.before
    capacity = state.brokers.disk_bytes
    known = capacity > 0
    if not known.any():
        return None
    weights = weigh(state)
    load = broker_loads(state, weights, state.partitions.leader_idx)[:, 0]
    if while_copying:
        copied = np.nonzero(reassignment.is_copied)[0]
        of = reassignment.partition_idx[copied]
        np.add.at(load, reassignment.broker_idx[copied], weights.copy_bytes[of])
    use = np.where(known, load / np.maximum(capacity, 1), -1.0)
    broker = int(use.argmax())
    return FullestDisk(float(use[broker]), int(state.brokers.ids[broker]))


@dataclass(frozen=True, slots=True)
class Survival:
    """
    Effect on partitions of the loss of any one broker, or rack.

    Parameters
    ----------
    most_offline
        Partitions that the worst single loss leaves without a replica that can lead.
    most_below
        Partitions under min.insync.replicas after the worst single loss, of those with
        a replica that can lead before.
    at_min_isr
        Partitions of those just at min.insync.replicas after the worst single loss.
    offline_before
        Partitions without a replica that can lead before any loss.
    below_before
        Partitions under min.insync.replicas before any loss, of those with a replica
        that can lead.
    """

    most_offline: int
    most_below: int
    at_min_isr: int
    offline_before: int
    below_before: int

    @property
    def newly_below(self) -> int:
        """Partitions that the worst single loss puts under min.insync.replicas."""
        return self.most_below - self.below_before


def survive(state: ClusterState, node_of_broker: npt.NDArray[np.int32]) -> Survival:
    """
    Compute the effect of losing each node: each broker alone, or each rack.

    Parameters
    ----------
    state
        The cluster.
    node_of_broker
        ``(B,)`` node of each broker; the brokers of a node fail together.
    """
    replicas = state.replicas
    # A replica that is offline, or not in sync, cannot become leader.
    is_live = state.can_lead
    of, node = replicas.partition_idx, node_of_broker[replicas.broker_idx]
    live = sum_rows(is_live, replicas.start)
    min_isr = state.min_isr
    count = int(node_of_broker.max(initial=-1)) + 1
    key = of[is_live].astype(np.int64) * max(count, 1) + node[is_live]
    keys, held = np.unique(key, return_counts=True)
    partition, lost = keys // max(count, 1), keys % max(count, 1)
    before = live[partition]
    left, need = before - held, min_isr[partition]
    offline = np.bincount(lost[left == 0], minlength=count)
    # Partitions with nothing on the node stay at, or below, their minimum.
    is_led = live > 0
    below = np.bincount(lost[(left < need) & (before >= need)], minlength=count)
    below_before = int((is_led & (live < min_isr)).sum())
    below += below_before
    at = np.bincount(lost[left == need], minlength=count)
    at -= np.bincount(lost[before == need], minlength=count)
    at += int((is_led & (live == min_isr)).sum())
    # Numbers of nodes may have gaps; without a node nothing is lost.
    nodes = np.unique(node_of_broker)
    return Survival(
        most_offline=int(offline[nodes].max(initial=0)),
        most_below=int(below[nodes].max(initial=below_before)),
        at_min_isr=int(at[nodes].max(initial=0)),
        offline_before=int(np.equal(live, 0).sum()),
        below_before=below_before,
    )
