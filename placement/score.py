"""How balanced a placement is, and which rules it breaks: the figures of a score."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.cluster import (
    ABSENT,
    BoolArray,
    ClusterState,
    LogDirState,
    RateArray,
    sum_rows,
)
from placement.load import (
    RESOURCES,
    Resource,
    WeightArray,
    as_units,
    broker_loads,
    heaviest_replicas,
    known_fractions,
    weigh,
)
from placement.targets import Shares, Targets, find_targets, rack_limit


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ResourceScore:
    """
    Balance of one resource over the brokers that count.

    `total` is in units people read; `use` figures are loads over capacities. See
    interface.md, "A score", for each formula.
    """

    total: float
    mean_use: float
    max_use: float
    min_use: float
    max_deviation: float
    max_over_mean: float
    cv: float
    gini: float
    jain: float
    brokers_out_of_band: int
    brokers_over_threshold: int
    known_fraction: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Score:
    """
    The figures of one placement.

    Parameters
    ----------
    resources
        Balance per resource.
    violations
        How many partitions, replicas or brokers break each rule.
    load, capacity, target
        ``(B, R)`` in units people read.
    deviation
        ``(B, R)`` load / target - 1.
    is_out
        ``(B, R)`` true where a load lies outside its band.
    """

    resources: Mapping[Resource, ResourceScore]
    violations: Mapping[str, int]
    load: RateArray
    capacity: RateArray
    target: RateArray
    deviation: RateArray
    is_out: BoolArray


def score_placement(
    state: ClusterState,
    shares: Shares,
    leader_idx: npt.NDArray[np.int32],
    thresholds: Mapping[Resource, float],
) -> Score:
    """
    Score a placement.

    Parameters
    ----------
    state
        The cluster.
    shares
        The brokers that count and their capacities.
    leader_idx
        ``(P,)`` row of the broker that leads, or `ABSENT`: as it is now for a score,
        the first live replica for a plan.
    thresholds
        Fraction of its capacity that a broker may use, per resource.
    """
    weights = weigh(state)
    load = broker_loads(state, weights, leader_idx)
    targets = find_targets(shares, load, heaviest_replicas(state, weights, leader_idx))
    known = known_fractions(state, weights)
    over = _over_threshold(state, shares, load, thresholds)
    return Score(
        resources={
            resource: _resource_score(r, targets, load, shares, over, float(known[r]))
            for r, resource in enumerate(RESOURCES)
        },
        violations=_violations(state, shares, leader_idx, over),
        load=as_units(load),
        capacity=as_units(shares.capacity),
        target=as_units(targets.target),
        deviation=targets.deviation(load),
        is_out=targets.is_out(load),
    )


def _over_threshold(
    state: ClusterState,
    shares: Shares,
    load: WeightArray,
    thresholds: Mapping[Resource, float],
) -> BoolArray:
    """Return ``(B, R)`` true where a known capacity's threshold is exceeded."""
    brokers = state.brokers
    given = {
        Resource.DISK: np.where(brokers.disk_bytes >= 0, brokers.disk_bytes, np.nan),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
    }
    readable = as_units(load)
    over = np.zeros(load.shape, dtype=np.bool_)
    for r, resource in enumerate(RESOURCES):
        if resource in given and resource in thresholds:
            most = given[resource] * thresholds[resource] * (1 + 1e-9)
            over[:, r] = shares.members.holds & (readable[:, r] > most)
    return over


def _resource_score(
    r: int,
    targets: Targets,
    load: WeightArray,
    shares: Shares,
    over: BoolArray,
    known_fraction: float,
) -> ResourceScore:
    member = shares.members.of(r)
    loads = load[member, r].astype(np.float64)
    capacity = np.where(shares.capacity[member, r] > 0, shares.capacity[member, r], 1.0)
    use = loads / capacity
    mean = float(use.mean()) if len(use) else 0.0
    deviation = np.abs(targets.deviation(load)[member, r])
    return ResourceScore(
        total=float(as_units(load)[member, r].sum()),
        mean_use=mean,
        max_use=float(use.max(initial=0.0)),
        min_use=float(use.min()) if len(use) else 0.0,
        max_deviation=float(deviation.max(initial=0.0)),
        max_over_mean=float(use.max()) / mean if mean > 0 else 0.0,
        cv=float(use.std()) / mean if mean > 0 else 0.0,
        gini=_gini(use),
        jain=_jain(use),
        brokers_out_of_band=int(targets.is_out(load)[member, r].sum()),
        brokers_over_threshold=int(over[:, r].sum()),
        known_fraction=known_fraction,
    )


def _gini(use: RateArray) -> float:
    """Return the Gini coefficient, by ranks instead of all pairs."""
    total = float(use.sum())
    if total <= 0:
        return 0.0
    ordered = np.sort(use)
    count = len(ordered)
    ranks = 2 * np.arange(1, count + 1) - count - 1
    return float((ranks * ordered).sum()) / (count * total)


def _jain(use: RateArray) -> float:
    """Return Jain's fairness index."""
    squares = float((use * use).sum())
    if squares <= 0:
        return 1.0
    return float(use.sum()) ** 2 / (len(use) * squares)


def _violations(
    state: ClusterState,
    shares: Shares,
    leader_idx: npt.NDArray[np.int32],
    over: BoolArray,
) -> dict[str, int]:
    replicas, start = state.replicas, state.replicas.start
    is_offline = ~state.brokers.is_live[replicas.broker_idx]
    if len(state.log_dirs):
        dead_dir = np.equal(state.log_dirs.state, LogDirState.OFFLINE)
        located = replicas.log_dir_idx != ABSENT
        is_offline = is_offline | (located & dead_dir[replicas.log_dir_idx])
    factor = state.replication_factor
    in_sync = sum_rows(replicas.is_in_sync, start)
    min_isr = state.topics.min_insync_replicas[state.partitions.topic_idx]
    first = replicas.broker_idx_at(start[:-1])
    is_led = np.not_equal(leader_idx, ABSENT)
    return {
        "rack": int(rack_broken(state, shares.members.holds).sum()),
        "offline_replicas": int(is_offline.sum()),
        "offline_partitions": int((~is_led).sum()),
        "under_replicated": int((in_sync < factor).sum()),
        "under_min_isr": int((in_sync < min_isr).sum()),
        "at_min_isr": int((in_sync == min_isr).sum()),
        "leader_not_preferred": int((is_led & (leader_idx != first)).sum()),
        "over_capacity": int(over.sum()),
        "rf1": int((factor == 1).sum()),
        "rf_equals_min_isr": int((factor == min_isr).sum()),
    }


def rack_broken(state: ClusterState, holds: BoolArray) -> BoolArray:
    """
    Return ``(P,)`` true for partitions that break the rack rule.

    Parameters
    ----------
    state
        The cluster.
    holds
        ``(B,)`` brokers that count; replicas elsewhere are not looked at.
    """
    racks, num_racks = state.brokers.rack_idx, state.num_racks
    in_rack = np.bincount(racks[holds], minlength=num_racks)
    limit = rack_limit(state.replication_factor, in_rack)
    replicas = state.replicas
    counted = holds[replicas.broker_idx]
    key = replicas.partition_idx.astype(np.int64) * max(num_racks, 1)
    key = key[counted] + racks[replicas.broker_idx[counted]]
    keys, counts = np.unique(key, return_counts=True)
    of = keys // max(num_racks, 1)
    broken = np.zeros(state.num_partitions, dtype=np.bool_)
    broken[of[counts > limit[of]]] = True
    # With κ = 1 no rack can hold two more than another; only wider rows need a look.
    fullest = np.zeros(state.num_partitions, dtype=np.int64)
    np.maximum.at(fullest, of, counts)
    for p in np.nonzero((fullest > 1) & ~broken)[0]:
        held = np.zeros(num_racks, dtype=np.int64)
        low, high = np.searchsorted(keys, [p * num_racks, (p + 1) * num_racks])
        held[keys[low:high] - p * num_racks] = counts[low:high]
        free = held < in_rack
        broken[p] = bool(free.any() and held.max() - held[free].min() > 1)
    return broken
