"""
Copy rate and duration of each wave.

Regular traffic and copies of a broker together stay under the threshold of its network,
in each direction separately. A wave copies at the configured bandwidth, or at the slack
of its most loaded broker if that is less. A broker with little or no slack still copies
at a hundredth of its capacity; otherwise no copy could ever relieve it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import RateArray, RowArray
from placement.model.cluster import ABSENT, ClusterState
from placement.model.copies import Copies, sent_by
from placement.model.load import Resource, first_true
from placement.model.reassignment import Reassignment
from placement.waves.replica_removals import Removals

LEAST_SHARE = 0.01
"""Fraction of its capacity at which a broker may always copy."""
WAYS = (Resource.IN, Resource.OUT)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Paces:
    """
    Copy rates and durations of ``W`` waves.

    Parameters
    ----------
    bytes_per_s
        ``(W,)`` bytes/s at which a broker may send, and receive, copies.
    seconds
        ``(W,)`` seconds until the busiest broker of each wave has finished.
    slowed_by
        ``(W,)`` row of the broker whose network slows the wave; `ABSENT`: none.
    is_out
        ``(W,)`` true where the limit is on the bytes out of that broker.
    load_bytes_per_s
        ``(W,)`` bytes/s into, or out of, that broker without copies.
    """

    bytes_per_s: RateArray
    seconds: RateArray
    slowed_by: RowArray
    is_out: npt.NDArray[np.bool_]
    load_bytes_per_s: RateArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Network:
    """
    Network loads and limits of brokers, in the order of `WAYS`.

    Parameters
    ----------
    load
        ``(2, B)`` bytes/s before the waves.
    limit
        ``(2, B)`` bytes/s. Usable part of each capacity; infinite where unknown.
    least
        ``(2, B)`` bytes/s that copies may always use.
    """

    load: RateArray
    limit: RateArray
    least: RateArray

    def left(self, load: RateArray, way: int) -> RateArray:
        """Return bytes/s that copies may use beside a load, for each broker."""
        found: RateArray = np.maximum(self.limit[way] - load, self.least[way])
        return found


def written_to(state: ClusterState, rate: RateArray) -> RateArray:
    """
    Return ``(B,)`` bytes/s written to the replicas of each broker.

    Parameters
    ----------
    state
        Cluster before the waves.
    rate
        ``(P,)`` bytes/s written to each replica of a partition.
    """
    replicas = state.replicas
    each = np.repeat(rate, np.diff(replicas.start))
    total = np.bincount(replicas.broker_idx, each, state.num_brokers)
    return total.astype(np.float64)


def network_of(
    state: ClusterState, thresholds: tuple[float, float], written: RateArray
) -> Network | None:
    """
    Return network loads and limits, or `None` where no capacity is known.

    Parameters
    ----------
    state
        Cluster before the waves.
    thresholds
        Usable fractions of the capacities in and out.
    written
        ``(B,)`` bytes/s written to the replicas of each broker.
    """
    brokers = state.brokers
    capacity = np.stack([brokers.in_bytes_per_s, brokers.out_bytes_per_s])
    if not np.isfinite(capacity).any():
        return None
    leader, count = sent_by(state), state.num_brokers
    led = np.nonzero(leader != ABSENT)[0]
    outward = _served(state, led, state.replication_factor[led])
    load = np.stack([written, np.bincount(leader[led], outward, count)])
    whole = np.where(np.isfinite(capacity), capacity, np.inf)
    share = np.array(thresholds)[:, None]
    return Network(load=load, limit=whole * share, least=whole * LEAST_SHARE)


def _served(state: ClusterState, chosen: RowArray, counts: RowArray) -> RateArray:
    """Return bytes/s sent by leaders, given replica counts; unknown rates are 0."""
    partitions = state.partitions
    read = np.nan_to_num(partitions.out_bytes_per_s[chosen])
    written = np.nan_to_num(partitions.in_bytes_per_s[chosen])
    found: RateArray = read + np.maximum(counts - 1, 0) * written
    return found


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Events:
    """
    Loads that begin at the start of a wave, or end at the end of one.

    Parameters
    ----------
    wave, broker_idx
        ``(N,)`` wave and broker row of each load.
    bytes_per_s
        ``(N,)`` bytes/s of each load.
    """

    wave: RowArray
    broker_idx: RowArray
    bytes_per_s: RateArray

    def table(self, num_waves: int, num_brokers: int) -> RateArray:
        """Return ``(W, B)`` bytes/s of all loads by wave and broker."""
        return _table(
            self.wave, self.broker_idx, self.bytes_per_s, num_waves, num_brokers
        )


_Ways = tuple[tuple[_Events, _Events], tuple[_Events, _Events]]
"""Loads that begin and that end, in each direction: in, then out."""


def _table(
    wave: RowArray, broker: RowArray, values: RateArray, num: int, count: int
) -> RateArray:
    """Return ``(W, B)`` sums of values by wave and broker, without absent ones."""
    is_known = (wave >= 0) & (wave < num) & (broker >= 0)
    at = wave[is_known] * count + broker[is_known]
    sums: RateArray = np.bincount(at, values[is_known], num * count).astype(np.float64)
    return sums.reshape(num, count)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Schedule:
    """
    Copies with their waves and removals.

    Parameters
    ----------
    reassignment
        Change of the placement.
    copies, wave, removals
        Copies, ``(E,)`` wave of each (below 0: none), and removal of each.
    bandwidth_bytes_per_s
        Maximum bytes/s at which a broker sends, and receives, copies.
    """

    reassignment: Reassignment
    copies: Copies
    wave: RowArray
    removals: Removals
    bandwidth_bytes_per_s: float

    def paces(self, network: Network | None) -> Paces:
        """Return the copy rate and duration of each wave."""
        num = int(self.wave.max(initial=-1)) + 1
        pace = self._unslowed(num)
        if network is not None:
            events = self._events()
            if self._least_pace(network, events) < self.bandwidth_bytes_per_s:
                self._slow(pace, network, events, num)
        self._time(pace, num)
        return pace

    def _unslowed(self, num: int) -> Paces:
        return Paces(
            bytes_per_s=np.full(num, self.bandwidth_bytes_per_s, dtype=np.float64),
            seconds=np.zeros(num),
            slowed_by=np.full(num, ABSENT, dtype=np.int64),
            is_out=np.zeros(num, dtype=np.bool_),
            load_bytes_per_s=np.zeros(num),
        )

    def least_pace(self, network: Network | None) -> float:
        """Return a lower bound in bytes/s on the copy rate of any wave."""
        if network is None:
            return self.bandwidth_bytes_per_s
        return self._least_pace(network, self._events())

    def _least_pace(self, network: Network, events: "_Ways") -> float:
        found = self.bandwidth_bytes_per_s
        copies, count = self.copies, network.load.shape[1]
        for way, (begins, _) in enumerate(events):
            ends = copies.source_idx if way else copies.target_idx
            ends = ends[copies.passes & (ends >= 0)]
            is_known = begins.broker_idx >= 0
            comes = np.bincount(
                begins.broker_idx[is_known], begins.bytes_per_s[is_known], count
            )
            left = network.left(network.load[way] + comes, way)
            found = min(found, float(left[ends].min(initial=np.inf)))
        return found

    def _slow(self, pace: Paces, network: Network, events: "_Ways", num: int) -> None:
        """Reduce the rate of waves to the slack of the networks."""
        count = network.load.shape[1]
        rate, slowed, is_out = pace.bytes_per_s, pace.slowed_by, pace.is_out
        busiest = pace.load_bytes_per_s
        copies = self.copies
        rows = np.arange(num)
        for way, (begins, ends) in enumerate(events):
            begin, end = begins.table(num, count), ends.table(num, count)
            load = network.load[way] + np.cumsum(begin - end, axis=0) + end
            of = np.where(
                copies.passes, copies.source_idx if way else copies.target_idx, ABSENT
            )
            busy = _table(self.wave, of, np.ones(len(of)), num, count) > 0
            left = np.maximum(network.limit[way] - load, network.least[way])
            left[~busy] = np.inf
            tightest = left.argmin(axis=1)
            is_tighter = left[rows, tightest] < rate
            rate[is_tighter] = left[rows, tightest][is_tighter]
            slowed[is_tighter] = tightest[is_tighter]
            busiest[is_tighter] = load[rows, tightest][is_tighter]
            is_out[is_tighter] = bool(way)

    def _events(self) -> "_Ways":
        """Return the loads that begin and that end, in each direction."""
        copies, wave = self.copies, self.wave
        state = self.reassignment.before
        of = copies.partition_idx
        is_inside = copies.is_inside
        comes = np.where(is_inside, ABSENT, copies.target_idx)
        own = np.equal(self.removals.broker_idx, copies.target_idx)
        goes = np.where(own, ABSENT, self.removals.broker_idx)
        leader = sent_by(state)[of]
        rate = np.nan_to_num(state.partitions.in_bytes_per_s[of])
        sends = np.where(copies.passes, copies.source_idx, ABSENT)
        fewer = np.where(np.equal(goes, ABSENT), ABSENT, leader)
        # New leader after a leader's removal, and its bytes/s to clients and followers.
        left = np.nonzero(np.equal(goes, leader) & (goes >= 0) & (wave >= 0))[0]
        successor = self._successors(of[left])
        starts = self.reassignment.start
        whole = _served(state, of[left], starts[of[left] + 1] - starts[of[left]])
        return (
            (
                _Events(wave=wave, broker_idx=comes, bytes_per_s=rate),
                _Events(wave=wave, broker_idx=goes, bytes_per_s=rate),
            ),
            (
                _joined(
                    _Events(wave=wave, broker_idx=sends, bytes_per_s=rate),
                    _Events(
                        wave=wave[left] + 1, broker_idx=successor, bytes_per_s=whole
                    ),
                ),
                _joined(
                    _Events(wave=wave, broker_idx=fewer, bytes_per_s=rate),
                    _Events(
                        wave=wave[left], broker_idx=leader[left], bytes_per_s=whole
                    ),
                ),
            ),
        )

    def _successors(self, partitions: RowArray) -> RowArray:
        """Return the first live broker in the lists of the plan, or `ABSENT`."""
        change = self.reassignment
        is_live = change.before.brokers.is_live[change.broker_idx]
        first = first_true(is_live, change.start)[partitions]
        found = np.append(change.broker_idx.astype(np.int64), ABSENT)[first]
        return found.astype(np.int64)

    def _time(self, pace: Paces, num: int) -> None:
        """Set the duration of each wave; moves inside brokers use no network."""
        copies, count = self.copies, self.reassignment.before.num_brokers
        size = copies.size_bytes.astype(np.float64)
        passes, inside = copies.passes, copies.is_inside & ~copies.is_drop
        most = np.zeros(num)
        for ends in (copies.source_idx, copies.target_idx):
            of = np.where(passes, ends, ABSENT)
            table = _table(self.wave, of, size, num, count)
            most = np.maximum(most, table.max(axis=1, initial=0.0))
        pace.seconds[:] = most / pace.bytes_per_s
        if inside.any():
            of = np.where(inside, copies.target_idx, ABSENT)
            moved = _table(self.wave, of, size, num, count).max(axis=1, initial=0.0)
            alone = moved / self.bandwidth_bytes_per_s
            pace.seconds[:] = np.maximum(pace.seconds, alone)


def _joined(one: _Events, other: _Events) -> _Events:
    return _Events(
        wave=np.concatenate([one.wave, other.wave]),
        broker_idx=np.concatenate([one.broker_idx, other.broker_idx]),
        bytes_per_s=np.concatenate([one.bytes_per_s, other.bytes_per_s]),
    )
