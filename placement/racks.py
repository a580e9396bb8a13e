"""Which partitions break the rack rule; brokers in few words."""

import numpy as np
import numpy.typing as npt

from placement.cluster import BoolArray, ClusterState
from placement.targets import rack_limit


def rack_broken(state: ClusterState, holds: BoolArray) -> BoolArray:
    """
    Return ``(P,)`` true for partitions that break the rack rule.

    A partition being reassigned is judged by its target list.

    Parameters
    ----------
    state
        The cluster.
    holds
        ``(B,)`` brokers that count; replicas elsewhere are not looked at.
    """
    racks, num_racks = state.brokers.rack_idx, state.num_racks
    in_rack = np.bincount(racks[holds], minlength=num_racks)
    limit = rack_limit(state.target_factor, in_rack)
    replicas = state.replicas
    counted = holds[replicas.broker_idx] & ~replicas.is_removing
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


def broker_ranges(ids: npt.NDArray[np.integer]) -> str:
    """
    Return broker ids as ranges.

    Examples
    --------
    >>> broker_ranges(np.array([1, 2, 3, 7, 9, 10]))
    '1-3,7,9-10'
    """
    runs = np.split(ids, np.nonzero(np.diff(ids) != 1)[0] + 1) if len(ids) else []
    ends = [(int(run[0]), int(run[-1])) for run in runs]
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ends)
