"""
Greedy choice of brokers for new replicas.

Each replica in turn goes to a rack with the fewest replicas of its partition. In such
racks it goes to the broker whose fullest resource is least full with it; ties go to the
lowest id. No other replica moves, so a later plan starts from the present placement.
"""

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IndexArray, RateArray
from placement.model.cluster import ClusterState, LogDirState
from placement.model.load import WeightArray, Weights, broker_loads, weigh
from placement.model.targets import Members, share_capacities

MANY = np.iinfo(np.int64).max


def open_brokers(state: ClusterState, leaving: frozenset[int]) -> BoolArray:
    """Return ``(B,)`` true for brokers that may get new replicas."""
    dirs, count = state.log_dirs, state.num_brokers
    every = np.bincount(dirs.broker_idx, minlength=count)
    online = np.equal(dirs.state, LogDirState.ONLINE)
    usable = np.bincount(dirs.broker_idx[online], minlength=count)
    stays = ~np.isin(state.brokers.ids, sorted(leaving))
    found: BoolArray = state.brokers.is_live & stays & ((every == 0) | (usable > 0))
    return found


class Filler:
    """
    Greedy choice of brokers for new replicas, with running loads.

    Parameters
    ----------
    state
        Cluster before the new replicas.
    may_receive
        ``(B,)`` true for brokers that may get new replicas.
    """

    def __init__(self, state: ClusterState, may_receive: BoolArray) -> None:
        self.may_receive = may_receive
        self.racks = state.brokers.rack_idx
        self.num_racks = state.num_racks
        weights = weigh(state)
        load = broker_loads(state, weights, state.partitions.leader_idx)
        self._unit = _units(state, may_receive, load)
        self._use = load / self._unit

    def place(self, held: IndexArray, weight: WeightArray) -> int:
        """
        Choose the broker of one more replica, and add its load.

        Parameters
        ----------
        held
            Rows of the brokers with a replica of the partition.
        weight
            ``(R,)`` load of the new replica.

        Returns
        -------
        Row of the broker, or -1 if none is free.
        """
        in_rack = np.bincount(self.racks[held], minlength=self.num_racks)
        crowded = in_rack[self.racks]
        is_free = self.may_receive.copy()
        is_free[held] = False
        if not is_free.any():
            return -1
        is_free &= crowded == np.where(is_free, crowded, MANY).min()
        peak = (self._use + weight / self._unit).max(axis=1)
        row = int(np.where(is_free, peak, np.inf).argmin())
        self._use[row] += weight / self._unit[row]
        return row


def _units(state: ClusterState, may_receive: BoolArray, load: WeightArray) -> RateArray:
    """Return ``(B, R)`` load that counts as 1: the share of the total by capacity."""
    members = Members(holds=may_receive, leads=may_receive & state.brokers.may_lead)
    capacity = share_capacities(state, members)
    total = capacity.sum(axis=0)
    share = capacity / np.where(total > 0, total, 1.0)
    unit = share * np.maximum(load.sum(axis=0), 1)
    return np.where(unit > 0, unit, np.inf)


def leader_weights(weights: Weights, p: int) -> npt.NDArray[np.int64]:
    """Return ``(R,)`` load of a leading replica of one partition."""
    both: npt.NDArray[np.int64] = weights.replica[p] + weights.leader[p]
    return both
