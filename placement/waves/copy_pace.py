"""
How fast copies may pass while waves run, and how long each wave takes.

What a broker gets and sends anyway, and copies besides, stay under the threshold of its
network, each way by itself: a wave passes at the bandwidth, or at what its tightest
broker has left. A broker that has nothing left, or next to it, still copies at a
hundredth of its capacity: else it could never be relieved.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.model.cluster import ABSENT, ClusterState
from placement.model.copies import Copies, sent_by
from placement.model.load import Resource, first_true
from placement.model.reassignment import Reassignment
from placement.waves.replica_removals import Removals

RowArray = npt.NDArray[np.int64]
RateArray = npt.NDArray[np.float64]
LEAST_SHARE = 0.01
"""Of its capacity that a broker may always copy at."""
WAYS = (Resource.IN, Resource.OUT)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Paces:
    """
    How fast ``W`` waves are.

    Parameters
    ----------
    bytes_per_s
        ``(W,)`` bytes/s that a broker may send, and get, by copies.
    seconds
        ``(W,)`` seconds until the busiest broker of each wave is done.
    slowed_by
        ``(W,)`` row of the broker whose network slows a wave, `ABSENT`: none does.
    is_out
        ``(W,)`` whether it is what that broker sends.
    load_bytes_per_s
        ``(W,)`` bytes/s that this broker gets, or sends, without copies.
    """

    bytes_per_s: RateArray
    seconds: RateArray
    slowed_by: RowArray
    is_out: npt.NDArray[np.bool_]
    load_bytes_per_s: RateArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Network:
    """
    What networks carry, and may; both in the order of `WAYS`.

    Parameters
    ----------
    load
        ``(2, B)`` bytes/s before.
    limit
        ``(2, B)`` bytes/s. Thresholds of the capacities; infinite where not known.
    least
        ``(2, B)`` bytes/s that copies may always have.
    """

    load: RateArray
    limit: RateArray
    least: RateArray

    def left(self, load: RateArray, way: int) -> RateArray:
        """Return what copies may have besides a load, for each broker."""
        found: RateArray = np.maximum(self.limit[way] - load, self.least[way])
        return found


def written_to(state: ClusterState, rate: RateArray) -> RateArray:
    """
    Return ``(B,)`` bytes/s that are written to the replicas of each broker.

    Parameters
    ----------
    state
        The cluster.
    rate
        ``(P,)`` bytes/s that are written to each replica of a partition.
    """
    replicas = state.replicas
    each = np.repeat(rate, np.diff(replicas.start))
    total = np.bincount(replicas.broker_idx, each, state.num_brokers)
    return total.astype(np.float64)


def network_of(
    state: ClusterState, thresholds: tuple[float, float], written: RateArray
) -> Network | None:
    """
    Return what networks carry and may, `None` where no capacity is known.

    Parameters
    ----------
    state
        The cluster.
    thresholds
        Fractions of the capacities in and out.
    written
        ``(B,)`` bytes/s that are written to the replicas of each broker.
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
    """Return bytes/s that leaders of so many replicas send, 0 for what is unknown."""
    partitions = state.partitions
    read = np.nan_to_num(partitions.out_bytes_per_s[chosen])
    written = np.nan_to_num(partitions.in_bytes_per_s[chosen])
    found: RateArray = read + np.maximum(counts - 1, 0) * written
    return found


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Events:
    """
    Loads that begin with a wave, or end when one is over.

    Parameters
    ----------
    wave, broker_idx
        ``(N,)`` which.
    bytes_per_s
        ``(N,)`` bytes/s.
    """

    wave: RowArray
    broker_idx: RowArray
    bytes_per_s: RateArray

    def table(self, num_waves: int, num_brokers: int) -> RateArray:
        """Return ``(W, B)`` sums."""
        return _table(
            self.wave, self.broker_idx, self.bytes_per_s, num_waves, num_brokers
        )


_Ways = tuple[tuple[_Events, _Events], tuple[_Events, _Events]]
"""What begins and ends of the loads in, and of those out."""


def _table(
    wave: RowArray, broker: RowArray, values: RateArray, num: int, count: int
) -> RateArray:
    """Return ``(W, B)`` sums of what concerns some broker in some wave."""
    told = (wave >= 0) & (wave < num) & (broker >= 0)
    at = wave[told] * count + broker[told]
    sums: RateArray = np.bincount(at, values[told], num * count).astype(np.float64)
    return sums.reshape(num, count)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Schedule:
    """
    Copies in their waves.

    Parameters
    ----------
    reassignment
        What changes.
    copies, wave, removals
        The copies, ``(E,)`` the wave of each, below 0: none, and what each deletes.
    bandwidth_bytes_per_s
        What a broker may send, and get, at most.
    """

    reassignment: Reassignment
    copies: Copies
    wave: RowArray
    removals: Removals
    bandwidth_bytes_per_s: float

    def paces(self, network: Network | None) -> Paces:
        """Return how fast waves are."""
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
        """Return a pace that no broker is too busy for, whatever the waves."""
        if network is None:
            return self.bandwidth_bytes_per_s
        return self._least_pace(network, self._events())

    def _least_pace(self, network: Network, events: "_Ways") -> float:
        found = self.bandwidth_bytes_per_s
        copies, count = self.copies, network.load.shape[1]
        for way, (begins, _) in enumerate(events):
            ends = copies.source_idx if way else copies.target_idx
            ends = ends[copies.passes & (ends >= 0)]
            told = begins.broker_idx >= 0
            comes = np.bincount(
                begins.broker_idx[told], begins.bytes_per_s[told], count
            )
            left = network.left(network.load[way] + comes, way)
            found = min(found, float(left[ends].min(initial=np.inf)))
        return found

    def _slow(self, pace: Paces, network: Network, events: "_Ways", num: int) -> None:
        """Slow waves down to what networks have left."""
        count = network.load.shape[1]
        rate, slowed, is_out = pace.bytes_per_s, pace.slowed_by, pace.is_out
        told = pace.load_bytes_per_s
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
            told[is_tighter] = load[rows, tightest][is_tighter]
            is_out[is_tighter] = bool(way)

    def _events(self) -> "_Ways":
        """Return what begins and ends of the loads in, and of those out."""
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
        # Who leads from its removal on, and what it sends to all of its followers.
        left = np.nonzero(np.equal(goes, leader) & (goes >= 0) & (wave >= 0))[0]
        heir = self._heirs(of[left])
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
                    _Events(wave=wave[left] + 1, broker_idx=heir, bytes_per_s=whole),
                ),
                _joined(
                    _Events(wave=wave, broker_idx=fewer, bytes_per_s=rate),
                    _Events(
                        wave=wave[left], broker_idx=leader[left], bytes_per_s=whole
                    ),
                ),
            ),
        )

    def _heirs(self, partitions: RowArray) -> RowArray:
        """Return the broker that stands first in the lists of the plan."""
        change = self.reassignment
        is_live = change.before.brokers.is_live[change.broker_idx]
        first = first_true(is_live, change.start)[partitions]
        found = np.append(change.broker_idx.astype(np.int64), ABSENT)[first]
        return found.astype(np.int64)

    def _time(self, pace: Paces, num: int) -> None:
        """Say how long waves take: inside brokers the network is of no concern."""
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
