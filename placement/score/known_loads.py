"""
Loads and capacities for output, NaN where they are unknown.

Scoring needs a capacity for every broker and a number for every load, and uses default
values (1, 0, or the disk size) where they are unknown. Those defaults are not output.
"""

from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from placement.array_types import RateArray
from placement.model.cluster import UNKNOWN, ClusterState
from placement.model.load import RESOURCES, Resource
from placement.model.targets import Members
from placement.score.balance_statistics import ResourceScore, Spread
from placement.score.level_loads import Level, RackLevel
from placement.score.placement_score import Score

USES = ("mean_use", "max_use", "min_use")
"""Figures that are a load over a capacity; the others compare brokers."""
MEASURES = ("load", "target", "deviation")


def given_capacities(state: ClusterState) -> RateArray:
    """Return ``(B, R)`` given capacities of brokers; for counts, `max_replicas`."""
    return np.stack([_given(state, resource) for resource in RESOURCES], axis=1)


def _given(state: ClusterState, resource: Resource) -> RateArray:
    """Return ``(B,)`` given capacities of one resource."""
    brokers = state.brokers
    if resource is Resource.DISK:
        return np.where(brokers.disk_bytes >= 0, brokers.disk_bytes, np.nan)
    if resource is Resource.IN:
        return brokers.in_bytes_per_s
    if resource is Resource.OUT:
        return brokers.out_bytes_per_s
    if resource is Resource.CPU:
        return brokers.cpu_cores
    return np.where(brokers.max_replicas == UNKNOWN, np.nan, brokers.max_replicas)


def known_loads(state: ClusterState, score: Score) -> Mapping[str, RateArray]:
    """Return ``(B, R)`` `load`, `capacity`, `use`, `target` and `deviation`."""
    return _known(score, score, given_capacities(state))


def known_rack_loads(
    state: ClusterState, score: Score, racks: RackLevel
) -> Mapping[str, RateArray]:
    """Return these figures per rack, ``(K, R)``; NaN if a capacity is unknown."""
    members = Members(holds=state.brokers.is_live, leads=state.brokers.may_lead)
    given = given_capacities(state)
    capacity = np.zeros(racks.level.capacity.shape)
    for r in range(len(RESOURCES)):
        member = members.of(r)
        np.add.at(capacity[:, r], state.brokers.rack_idx[member], given[member, r])
    return _known(score, racks.level, capacity)


def known_dir_loads(
    state: ClusterState, score: Score, dirs: Level
) -> Mapping[str, RateArray]:
    """Return these figures per log dir, ``(D, R)``; only disk has a capacity."""
    capacity = np.full(dirs.capacity.shape, np.nan)
    size = state.log_dirs.size_bytes
    disk = RESOURCES.index(Resource.DISK)
    capacity[:, disk] = np.where(size >= 0, dirs.capacity[:, disk], np.nan)
    return _known(score, dirs, capacity)


def has_capacities(state: ClusterState, resource: Resource) -> bool:
    """
    Return whether every broker that counts has a given capacity of a resource.

    Otherwise shares follow other weights, such as disk capacities for replicas and
    leaders, and a load over a weight is not a use.
    """
    members = Members(holds=state.brokers.is_live, leads=state.brokers.may_lead)
    given = _given(state, resource)[members.of(RESOURCES.index(resource))]
    return bool(np.isfinite(given).all())


def known_figures(figures: ResourceScore, *, has_use: bool) -> dict[str, float]:
    """
    Return the balance statistics of a resource by name.

    All are NaN where no load of the resource is known, and the uses also without
    capacities.
    """
    known = figures.known_fraction
    hidden = 0 if known > 0 else np.nan
    values = {
        each.name: getattr(figures, each.name) + hidden for each in fields(figures)
    }
    uses = {} if has_use else dict.fromkeys(USES, np.nan)
    return {**values, **uses, "known_fraction": known}


def known_spread(spread: Spread, known_fraction: RateArray) -> Mapping[str, RateArray]:
    """Return the balance statistics of groups; NaN for groups without a known load."""
    hidden = np.where(known_fraction > 0, 0.0, np.nan)
    return {**_spread(spread, hidden), "known_fraction": known_fraction}


def _spread(spread: Spread, hidden: RateArray) -> dict[str, RateArray]:
    """Return balance statistics by name, plus 0 or NaN per group."""
    return {
        "total": spread.total + hidden,
        "mean_use": spread.mean + hidden,
        "max_use": spread.max + hidden,
        "min_use": spread.min + hidden,
        "max_over_mean": spread.max_over_mean + hidden,
        "cv": spread.cv + hidden,
        "jain": spread.jain + hidden,
    }


def known_rack_figures(
    score: Score, racks: RackLevel, r: int, *, has_use: bool
) -> Mapping[str, RateArray]:
    """Return the balance of a resource inside racks; NaN as in `known_figures`."""
    known = score.resources[RESOURCES[r]].known_fraction
    hidden = 0.0 if known > 0 else np.nan
    nothing = np.full(len(racks.level.load), np.nan)
    return {
        **_spread(racks.spread[r], np.full(len(racks.level.load), hidden)),
        **({} if has_use else dict.fromkeys(USES, nothing)),
        "total": racks.level.load[:, r] + hidden,
        "max_deviation": racks.max_deviation[:, r] + hidden,
        "gini": racks.gini[:, r] + hidden,
        "brokers_out_of_band": racks.out_of_band[:, r].astype(np.float64) + hidden,
        "brokers_over_threshold": racks.over_threshold[:, r].astype(np.float64)
        + hidden,
    }


def _known(
    score: Score, figures: Score | Level, capacity: RateArray
) -> Mapping[str, RateArray]:
    """Return the figures; NaN for resources without a known load."""
    known = [score.resources[resource].known_fraction > 0 for resource in RESOURCES]
    hidden = np.where(known, 0.0, np.nan)
    measures = {name: getattr(figures, name) + hidden for name in MEASURES}
    has = capacity > 0
    use = np.where(has, measures["load"] / np.where(has, capacity, 1.0), 0.0)
    use[np.isnan(capacity) | np.isnan(measures["load"])] = np.nan
    return {
        "load": measures["load"],
        "capacity": capacity,
        "use": use,
        "target": measures["target"],
        "deviation": measures["deviation"],
    }
