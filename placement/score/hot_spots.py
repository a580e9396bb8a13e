"""Which brokers carry too much, what makes them hot, and what would cool them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.model.cluster import BoolArray, ClusterState, RateArray
from placement.model.load import (
    RESOURCES,
    Resource,
    WeightArray,
    Weights,
    as_units,
    fixed_disk_bytes,
)
from placement.model.targets import TOLERANCE
from placement.score.placement_score import Measured

MOST_SPOTS = 20
MOST_TOPICS = 3
MOST_PARTITIONS = 5
MOST_TRIED = 5_000
"""Leaders looked at for one hot spot, the heaviest first."""
_HANDED_ON = (Resource.OUT, Resource.CPU, Resource.LEADERS)
"""Resources of which leadership takes a part along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotTopic:
    """A topic's part of the load of a hot broker, in units people read."""

    topic_idx: int
    load: float
    fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HotPartition:
    """What a hot broker would lose with one of its replicas."""

    partition_idx: int
    load: float
    leads: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderMove:
    """Leadership of a partition, from the hot broker to a follower in sync."""

    partition_idx: int
    to_broker_idx: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HotSpot:
    """
    A broker that carries more of a resource than its band or its threshold allows.

    Parameters
    ----------
    broker_idx, resource
        Where.
    load, limit
        What it carries and the most it should, in units people read.
    is_over_threshold
        Whether the threshold of its capacity is exceeded, not only the band.
    fixed
        Bytes among the load that no replica explains.
    topics
        Those that make it hot, the heaviest first.
    partitions
        The replicas that would cool it most, the heaviest first.
    leader_moves
        Leaders that, handed to followers in sync, cool it while no band or threshold
        breaks at those who take them; empty where that was not found to do.
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
        """Load over the limit, in units people read."""
        return self.load - self.limit

    @property
    def would_leaders_do(self) -> bool:
        """Whether handing on leaders alone is enough: no bytes are moved."""
        return bool(self.leader_moves)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Heat:
    """
    What tells hot brokers from others, without any of their replicas.

    Parameters
    ----------
    load, limit, floor, target
        ``(B, R)`` in units people read. What each broker carries, the most that its
        band and its threshold allow, the least that its band does, and its share.
    counts, is_over
        ``(B, R)`` true where a broker takes part, and where it is over its threshold.
    leads
        ``(B,)`` true for brokers that may lead.
    fixed
        ``(B,)`` bytes on disks that no replica explains.
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
        Return broker and resource of the hot spots, the worst `MOST_SPOTS`.

        Over a threshold comes before over a band; then the most over its share.

        Returns
        -------
        These, and how many there are in all.
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
    Return how hot each broker is.

    Parameters
    ----------
    measured
        Loads and targets.
    fixed
        As of `Heat`; `None`: what the state itself says.
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
    Find the hot spots, the worst first.

    Returns
    -------
    The worst `MOST_SPOTS`, and how many there are in all.
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
    Say of each hot spot what makes it hot.

    Parameters
    ----------
    places
        Broker and resource of each.
    heat
        Of all brokers.
    state, weights, leader_idx
        All brokers, and at least the partitions that have a replica on one of those.
    """
    finder = _Finder(heat, state, weights, leader_idx, {b for b, _ in places})
    return tuple(finder.spot(b, r) for b, r in places)


class _Finder:
    """Looks at the replicas of the hot brokers only, sorted by broker once."""

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
        """Hand on leaders, the heaviest first, until the broker is cool."""
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
        """Return the follower with the most room that stays within its limits."""
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
        """Yield the brokers that could lead a partition at once."""
        replicas, leads = self._state.replicas, self._heat.leads
        start = replicas.start
        for row in range(int(start[p]), int(start[p + 1])):
            broker = int(replicas.broker_idx[row])
            stays = not replicas.is_removing[row] and not replicas.is_adding[row]
            if broker != b and leads[broker] and replicas.is_in_sync[row] and stays:
                yield broker
