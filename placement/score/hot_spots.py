"""Overloaded brokers, the causes of their load, and leader moves to relieve them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, RateArray
from placement.model.cluster import ClusterState
from placement.model.disk_bytes import fixed_disk_bytes
from placement.model.load import RESOURCES, Resource, WeightArray, Weights, as_units
from placement.model.targets import TOLERANCE
from placement.score.placement_score import Measured

MOST_SPOTS = 20
MOST_TOPICS = 3
MOST_PARTITIONS = 5
MOST_TRIED = 5_000
"""Maximum number of leaders tried for one hot spot, heaviest first."""
_HANDED_ON = (Resource.OUT, Resource.CPU, Resource.LEADERS)
"""Resources with load that follows leadership."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotTopic:
    """Load of one topic on a hot broker, in display units."""

    topic_idx: int
    load: float
    fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HotPartition:
    """Load that a hot broker would lose with one of its replicas."""

    partition_idx: int
    load: float
    leads: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderMove:
    """Move of a partition's leadership from a hot broker to an in-sync follower."""

    partition_idx: int
    to_broker_idx: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HotSpot:
    """
    Broker with more load of a resource than its band or its threshold allows.

    Parameters
    ----------
    broker_idx, resource
        Row of the broker, and the overloaded resource.
    load, limit
        Load of the broker and its upper limit, in display units.
    is_over_threshold
        Whether the load exceeds the threshold of the capacity, not only the band.
    fixed
        Bytes in the load that belong to no replica.
    topics
        Topics with the most load on the broker, heaviest first.
    partitions
        Replicas with the most load on the broker, heaviest first.
    leader_moves
        Leader moves to in-sync followers that bring the load within its limit while no
        follower's broker exceeds its own; empty where none were found.
    """

    broker_idx: int
    resource: Resource
    load: float
    limit: float
    is_over_threshold: bool
    fixed: float
    topics: tuple[HotTopic, ...]
    partitions: tuple[HotPartition, ...]
    leader_moves: tuple[LeaderMove, ...]

    @property
    def excess(self) -> float:
        """Load above the limit, in display units."""
        return self.load - self.limit

    @property
    def would_leaders_do(self) -> bool:
        """Whether leader moves alone are enough, without moving bytes."""
        return bool(self.leader_moves)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Heat:
    """
    Loads and limits of all brokers that decide which are hot, without replicas.

    Parameters
    ----------
    load, limit, floor, target
        ``(B, R)`` in display units. Load of each broker, its maximum by band and
        threshold, its minimum by the band, and its target.
    counts, is_over
        ``(B, R)`` true where a broker shares the resource, and where its load is over
        the threshold.
    leads
        ``(B,)`` true for brokers that may lead.
    fixed
        ``(B,)`` bytes on disks that belong to no replica.
    """

    load: RateArray
    limit: RateArray
    floor: RateArray
    target: RateArray
    counts: BoolArray
    is_over: BoolArray
    leads: BoolArray
    fixed: WeightArray

    def worst(self) -> tuple[list[tuple[int, int]], int]:
        """
        Return broker and resource of the worst `MOST_SPOTS` hot spots.

        Loads over a threshold come before loads over a band only, each by the excess
        relative to the target.

        Returns
        -------
        Pairs of broker and resource, and the number of hot spots in all.
        """
        hot = self.counts & (self.load > self.limit * (1 + TOLERANCE))
        brokers, resources = np.nonzero(hot)
        target = self.target[brokers, resources]
        over = self.load[brokers, resources] - self.limit[brokers, resources]
        severity = over / np.where(target > 0, target, 1.0)
        is_over = self.is_over[brokers, resources]
        order = np.lexsort((resources, brokers, -severity, ~is_over))[:MOST_SPOTS]
        places = zip(brokers[order].tolist(), resources[order].tolist(), strict=True)
        return list(places), len(brokers)


def heat_of(measured: Measured, fixed: WeightArray | None = None) -> Heat:
    """
    Return the loads and limits that decide which brokers are hot.

    Parameters
    ----------
    measured
        Loads and targets.
    fixed
        ``(B,)`` bytes as in `Heat`; `None`: computed from the state.
    """
    targets, members = measured.targets, measured.shares.members
    upper = np.where(targets.target > 0, as_units(targets.upper), np.inf)
    return Heat(
        load=as_units(measured.load),
        limit=np.minimum(upper, measured.limit),
        floor=as_units(targets.lower),
        target=as_units(targets.target),
        counts=np.stack([members.of(r) for r in range(len(RESOURCES))], axis=1),
        is_over=measured.is_over,
        leads=members.leads,
        fixed=fixed_disk_bytes(measured.state) if fixed is None else fixed,
    )


def find_hot_spots(measured: Measured) -> tuple[tuple[HotSpot, ...], int]:
    """
    Return the hot spots, worst first.

    Returns
    -------
    The worst `MOST_SPOTS` hot spots, and the number of hot spots in all.
    """
    heat = heat_of(measured)
    places, count = heat.worst()
    state, weights = measured.state, measured.weights
    return spots_at(places, heat, state, weights, measured.leader_idx), count


def spots_at(
    places: Sequence[tuple[int, int]],
    heat: Heat,
    state: ClusterState,
    weights: Weights,
    leader_idx: npt.NDArray[np.int32],
) -> tuple[HotSpot, ...]:
    """
    Return the hot spots at given places, with their causes.

    Parameters
    ----------
    places
        Broker row and resource column of each hot spot.
    heat
        Loads and limits of all brokers.
    state, weights, leader_idx
        All brokers, and at least the partitions with a replica on a hot broker.
    """
    finder = _Finder(heat, state, weights, leader_idx, {b for b, _ in places})
    return tuple(finder.spot(b, r) for b, r in places)


class _Finder:
    """Search for the causes of hot spots among the replicas of the hot brokers."""

    def __init__(
        self,
        heat: Heat,
        state: ClusterState,
        weights: Weights,
        leader_idx: npt.NDArray[np.int32],
        hot: Collection[int],
    ) -> None:
        self._heat = heat
        self._state = state
        self._weights_of = weights
        self._leader_idx = leader_idx
        is_hot = np.zeros(state.num_brokers, dtype=np.bool_)
        is_hot[list(hot)] = True
        rows = np.nonzero(is_hot[state.replicas.broker_idx])[0]
        place = state.replicas.broker_idx[rows]
        rows = rows[np.argsort(place, kind="stable")]
        start = np.searchsorted(np.sort(place), np.arange(state.num_brokers + 1))
        self._rows = {b: rows[start[b] : start[b + 1]] for b in hot}
        self._of = state.replicas.partition_idx

    def spot(self, b: int, r: int) -> HotSpot:
        heat, rows = self._heat, self._rows[b]
        partitions = self._of[rows]
        leads = np.equal(self._leader_idx[partitions], b)
        weight = as_units(self._weights(rows, partitions, leads))[:, r]
        return HotSpot(
            broker_idx=b,
            resource=RESOURCES[r],
            load=float(heat.load[b, r]),
            limit=float(heat.limit[b, r]),
            is_over_threshold=bool(heat.is_over[b, r]),
            fixed=float(heat.fixed[b]) if r == 0 else 0.0,
            topics=self._topics(b, r, partitions, weight),
            partitions=tuple(
                HotPartition(
                    partition_idx=int(partitions[i]),
                    load=float(weight[i]),
                    leads=bool(leads[i]),
                )
                for i in np.argsort(-weight, kind="stable")[:MOST_PARTITIONS]
                if weight[i] > 0
            ),
            leader_moves=self._hand_on(b, r, partitions[leads]),
        )

    def _weights(
        self,
        rows: npt.NDArray[np.int64],
        partitions: npt.NDArray[np.int32],
        leads: BoolArray,
    ) -> WeightArray:
        weights = self._weights_of
        weight = weights.replica[partitions]
        weight = weight + weights.leader[partitions] * leads[:, None]
        if len(weights.own):
            weight[:, 0] += weights.own[rows]
        return weight

    def _topics(
        self, b: int, r: int, partitions: npt.NDArray[np.int32], weight: RateArray
    ) -> tuple[HotTopic, ...]:
        topic = self._state.partitions.topic_idx[partitions]
        names, code = np.unique(topic, return_inverse=True)
        load = np.bincount(code, weights=weight, minlength=len(names))
        return tuple(
            HotTopic(
                topic_idx=int(names[i]),
                load=float(load[i]),
                fraction=float(load[i] / self._heat.load[b, r]),
            )
            for i in np.argsort(-load, kind="stable")[:MOST_TOPICS]
            if load[i] > 0
        )

    def _hand_on(
        self, b: int, r: int, led: npt.NDArray[np.int32]
    ) -> tuple[LeaderMove, ...]:
        """Return leader moves, heaviest first, that bring the load within its limit."""
        if RESOURCES[r] not in _HANDED_ON:
            return ()
        heat = self._heat
        extra = as_units(self._weights_of.leader[led])
        order = np.argsort(-extra[:, r], kind="stable")[:MOST_TRIED]
        load, moves, floor = heat.load.copy(), [], heat.floor
        for i in order:
            taker = self._taker(int(led[i]), b, r, extra[i], load)
            if taker is None or np.any(load[b] - extra[i] < floor[b] * (extra[i] > 0)):
                continue
            load[b] -= extra[i]
            load[taker] += extra[i]
            moves.append(LeaderMove(partition_idx=int(led[i]), to_broker_idx=taker))
            if load[b, r] <= heat.limit[b, r] * (1 + TOLERANCE):
                return tuple(moves)
        return ()

    def _taker(
        self, p: int, b: int, r: int, extra: RateArray, load: RateArray
    ) -> int | None:
        """Return the follower with the most slack that stays within its limits."""
        if extra[r] <= 0:
            return None
        best, most = None, -np.inf
        for follower in self._followers(p, b):
            after = load[follower] + extra
            fits = np.all((after <= self._heat.limit[follower]) | (extra <= 0))
            room = self._heat.limit[follower, r] - after[r]
            if fits and room > most:
                best, most = follower, room
        return best

    def _followers(self, p: int, b: int) -> Iterator[int]:
        """Yield the brokers other than `b` that could lead a partition at once."""
        replicas, leads = self._state.replicas, self._heat.leads
        start = replicas.start
        for row in range(int(start[p]), int(start[p + 1])):
            broker = int(replicas.broker_idx[row])
            stays = not replicas.is_removing[row] and not replicas.is_adding[row]
            if broker != b and leads[broker] and replicas.is_in_sync[row] and stays:
                yield broker
