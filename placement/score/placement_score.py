"""Figures of a placement: loads, balance and rule violations."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, CountArray, RateArray
from placement.model.cluster import ClusterState
from placement.model.load import (
    RESOURCES,
    Resource,
    WeightArray,
    Weights,
    as_units,
    known_fractions,
    loads_led,
    weigh,
)
from placement.model.targets import Shares, Targets, find_targets
from placement.score.balance_statistics import ResourceScore, gini, jain
from placement.score.rule_violations import VIOLATIONS, partition_violations


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Score:
    """
    Figures of one placement.

    Parameters
    ----------
    resources
        Balance statistics per resource.
    violations
        Number of partitions, replicas or brokers that break each rule.
    load, capacity, target
        ``(B, R)`` in display units.
    deviation
        ``(B, R)`` load / target - 1.
    is_out
        ``(B, R)`` true where a load is outside its band.
    """

    resources: Mapping[Resource, ResourceScore]
    violations: Mapping[str, int]
    load: RateArray
    capacity: RateArray
    target: RateArray
    deviation: RateArray
    is_out: BoolArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Measured:
    """
    Loads, targets and violations of one placement, the input of its figures.

    Parameters
    ----------
    state, weights, shares, leader_idx
        Measured placement: see `score_placement`.
    load
        ``(B, R)`` integer loads.
    limit
        ``(B, R)`` maximum load by the thresholds, in display units; infinite without a
        known capacity.
    targets
        Targets and bands for these loads.
    is_over
        ``(B, R)`` true where a broker that counts is over its threshold.
    broken
        ``(P,)`` violations by rule.
    """

    state: ClusterState
    weights: Weights
    shares: Shares
    leader_idx: npt.NDArray[np.int32]
    load: WeightArray
    limit: RateArray
    targets: Targets
    is_over: BoolArray
    broken: Mapping[str, CountArray]

    @property
    def is_crowded(self) -> BoolArray:
        """``(B,)`` true for brokers that count and hold more than `max_replicas`."""
        most = self.state.brokers.max_replicas
        count = as_units(self.load)[:, RESOURCES.index(Resource.REPLICAS)]
        crowded: BoolArray = self.shares.members.holds & (most >= 0) & (count > most)
        return crowded


def measure(
    state: ClusterState,
    weights: Weights,
    shares: Shares,
    leader_idx: npt.NDArray[np.int32],
    thresholds: Mapping[Resource, float],
) -> Measured:
    """Measure a placement, with the parameters of `score_placement`."""
    load, heaviest = loads_led(state, weights, leader_idx)
    limit = threshold_limits(state, thresholds)
    holds = shares.members.holds
    return Measured(
        state=state,
        weights=weights,
        shares=shares,
        leader_idx=leader_idx,
        load=load,
        limit=limit,
        targets=find_targets(shares, load, heaviest),
        is_over=holds[:, None] & (as_units(load) > limit),
        broken=partition_violations(state, holds, leader_idx),
    )


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
        Cluster with the placement.
    shares
        Brokers that count, and their capacities.
    leader_idx
        ``(P,)`` row of the leader's broker, or `ABSENT`: the current leader for a
        score, the first live replica for a plan.
    thresholds
        Usable fraction of a broker's capacity per resource.
    """
    return score_of(measure(state, weigh(state), shares, leader_idx, thresholds))


def score_of(measured: Measured) -> Score:
    """Return the figures of a measured placement."""
    targets, load = measured.targets, measured.load
    deviation, is_out = targets.deviation(load), targets.is_out(load)
    known = known_fractions(measured.state, measured.weights)
    return Score(
        resources={
            resource: _resource_score(measured, deviation, is_out, r, float(known[r]))
            for r, resource in enumerate(RESOURCES)
        },
        violations=_violations(measured),
        load=as_units(load),
        capacity=as_units(measured.shares.capacity),
        target=as_units(targets.target),
        deviation=deviation,
        is_out=is_out,
    )


def threshold_limits(
    state: ClusterState, thresholds: Mapping[Resource, float]
) -> RateArray:
    """Return ``(B, R)`` maximum loads by thresholds; infinite where unknown."""
    brokers = state.brokers
    given = {
        Resource.DISK: np.where(brokers.disk_bytes >= 0, brokers.disk_bytes, np.nan),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
    }
    limit = np.full((len(brokers), len(RESOURCES)), np.inf)
    for r, resource in enumerate(RESOURCES):
        if resource in given and resource in thresholds:
            # Tolerance for a use that is over the limit by rounding alone.
            most = given[resource] * thresholds[resource] * (1 + 1e-9)
            limit[:, r] = np.where(np.isnan(most), np.inf, most)
    return limit


def _resource_score(
    measured: Measured,
    deviation: RateArray,
    is_out: BoolArray,
    r: int,
    known_fraction: float,
) -> ResourceScore:
    member = measured.shares.members.of(r)
    loads = measured.load[member, r].astype(np.float64)
    given = measured.shares.capacity[member, r]
    use = loads / np.where(given > 0, given, 1.0)
    mean = float(use.mean()) if len(use) else 0.0
    return ResourceScore(
        total=float(as_units(measured.load)[member, r].sum()),
        mean_use=mean,
        max_use=float(use.max(initial=0.0)),
        min_use=float(use.min()) if len(use) else 0.0,
        max_deviation=float(np.abs(deviation[member, r]).max(initial=0.0)),
        max_over_mean=float(use.max()) / mean if mean > 0 else 0.0,
        cv=float(use.std()) / mean if mean > 0 else 0.0,
        gini=gini(use),
        jain=jain(use),
        brokers_out_of_band=int(is_out[member, r].sum()),
        brokers_over_threshold=int(measured.is_over[:, r].sum()),
        known_fraction=known_fraction,
    )


def _violations(measured: Measured) -> dict[str, int]:
    over_capacity = int(measured.is_over.sum())
    return {
        rule: int(measured.broken[rule].sum())
        if rule in measured.broken
        else over_capacity
        for rule in VIOLATIONS
    }
