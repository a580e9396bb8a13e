"""
Loads and capacities as they are known: not a number where nothing says them.

Targets need a capacity of every broker, and loads a number. Where none is known, a one,
a nothing or the size of a disk stands in while figures are made; that is no fact about
the cluster and not told.
"""

from collections.abc import Mapping

import numpy as np

from placement.cluster import UNKNOWN, ClusterState, RateArray
from placement.load import RESOURCES, Resource
from placement.score.levels import Level, RackLevel
from placement.score.placed import Score

MEASURES = ("load", "target", "deviation")
COUNTS = (Resource.REPLICAS, Resource.LEADERS)


def given_capacities(state: ClusterState) -> RateArray:
    """Return ``(B, R)`` capacities of brokers as given; of counts, `max_replicas`."""
    brokers = state.brokers
    most = np.where(brokers.max_replicas == UNKNOWN, np.nan, brokers.max_replicas)
    given = {
        Resource.DISK: np.where(brokers.disk_bytes >= 0, brokers.disk_bytes, np.nan),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
        Resource.REPLICAS: most,
        Resource.LEADERS: most,
    }
    return np.stack([given[resource] for resource in RESOURCES], axis=1)


def known_loads(state: ClusterState, score: Score) -> Mapping[str, RateArray]:
    """Return ``(B, R)`` `load`, `capacity`, `use`, `target` and `deviation`."""
    return _known(score, score, given_capacities(state))


def known_rack_loads(
    state: ClusterState, score: Score, racks: RackLevel
) -> Mapping[str, RateArray]:
    """Return the same ``(K, R)`` of racks; a broker without a capacity leaves none."""
    lacks = np.isnan(given_capacities(state))
    capacity = racks.level.capacity.astype(np.float64)
    for r in range(len(RESOURCES)):
        capacity[np.unique(state.brokers.rack_idx[lacks[:, r]]), r] = np.nan
    if lacks[:, RESOURCES.index(Resource.REPLICAS)].any():
        capacity[:, [RESOURCES.index(resource) for resource in COUNTS]] = np.nan
    return _known(score, racks.level, capacity)


def known_dir_loads(
    state: ClusterState, score: Score, dirs: Level
) -> Mapping[str, RateArray]:
    """Return the same ``(D, R)`` of log dirs; they have a capacity of disk alone."""
    capacity = np.full(dirs.capacity.shape, np.nan)
    size = state.log_dirs.size_bytes
    disk = RESOURCES.index(Resource.DISK)
    capacity[:, disk] = np.where(size >= 0, dirs.capacity[:, disk], np.nan)
    return _known(score, dirs, capacity)


def _known(
    score: Score, figures: Score | Level, capacity: RateArray
) -> Mapping[str, RateArray]:
    """Return figures of brokers or others, without those of unknown resources."""
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
