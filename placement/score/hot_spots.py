"""Which brokers carry too much, what makes them hot, and what would cool them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.cluster import BoolArray, RateArray
from placement.load import RESOURCES, Resource, WeightArray, as_units, fixed_disk_bytes
from placement.score.placed import Measured
from placement.targets import TOLERANCE

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


def find_hot_spots(measured: Measured) -> tuple[tuple[HotSpot, ...], int]:
    """
    Find the hot spots, the worst first.

    Over a threshold comes before over a band; then the most over its share.

    Returns
    -------
    The worst `MOST_SPOTS`, and how many there are in all.
    """
    load, limit = as_units(measured.load), _limits(measured)
    member = np.stack(
        [measured.shares.members.of(r) for r in range(len(RESOURCES))], axis=1
    )
    hot = member & (load > limit * (1 + TOLERANCE))
    brokers, resources = np.nonzero(hot)
    target = as_units(measured.targets.target)[brokers, resources]
    over = load[brokers, resources] - limit[brokers, resources]
    severity = over / np.where(target > 0, target, 1.0)
    is_over = measured.is_over[brokers, resources]
    order = np.lexsort((resources, brokers, -severity, ~is_over))[:MOST_SPOTS]
    finder = _Finder(measured, limit, np.unique(brokers[order]))
    spots = tuple(finder.spot(int(brokers[i]), int(resources[i])) for i in order)
    return spots, len(brokers)


def _limits(measured: Measured) -> RateArray:
    """Return ``(B, R)`` the most a broker should carry: band and threshold."""
    targets = measured.targets
    upper = np.where(targets.target > 0, as_units(targets.upper), np.inf)
    return np.minimum(upper, measured.limit)


class _Finder:
    """Looks at the replicas of the hot brokers only, sorted by broker once."""

    def __init__(
        self, measured: Measured, limit: RateArray, hot: npt.NDArray[np.int64]
    ) -> None:
        self._measured = measured
        self._limit = limit
        self._load = as_units(measured.load)
        state = measured.state
        is_hot = np.zeros(state.num_brokers, dtype=np.bool_)
        is_hot[hot] = True
        rows = np.nonzero(is_hot[state.replicas.broker_idx])[0]
        place = state.replicas.broker_idx[rows]
        rows = rows[np.argsort(place, kind="stable")]
        start = np.searchsorted(np.sort(place), np.arange(state.num_brokers + 1))
        self._rows = {int(b): rows[start[b] : start[b + 1]] for b in hot}
        self._of = state.replicas.partition_idx
        self._fixed = fixed_disk_bytes(state)

    def spot(self, b: int, r: int) -> HotSpot:
        measured = self._measured
        rows = self._rows[b]
        partitions = self._of[rows]
        leads = np.equal(measured.leader_idx[partitions], b)
        weight = as_units(self._weights(rows, partitions, leads))[:, r]
        return HotSpot(
            broker_idx=b,
            resource=RESOURCES[r],
            load=float(self._load[b, r]),
            limit=float(self._limit[b, r]),
            is_over_threshold=bool(measured.is_over[b, r]),
            fixed=float(self._fixed[b]) if r == 0 else 0.0,
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
        weights = self._measured.weights
        weight = weights.replica[partitions]
        weight = weight + weights.leader[partitions] * leads[:, None]
        if len(weights.own):
            weight[:, 0] += weights.own[rows]
        return weight

    def _topics(
        self, b: int, r: int, partitions: npt.NDArray[np.int32], weight: RateArray
    ) -> tuple[HotTopic, ...]:
        topic = self._measured.state.partitions.topic_idx[partitions]
        names, code = np.unique(topic, return_inverse=True)
        load = np.bincount(code, weights=weight, minlength=len(names))
        return tuple(
            HotTopic(
                topic_idx=int(names[i]),
                load=float(load[i]),
                fraction=float(load[i] / self._load[b, r]),
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
        measured = self._measured
        extra = as_units(measured.weights.leader[led])
        order = np.argsort(-extra[:, r], kind="stable")[:MOST_TRIED]
        load, moves = self._load.copy(), []
        floor = as_units(measured.targets.lower)
        for i in order:
            taker = self._taker(int(led[i]), b, r, extra[i], load)
            if taker is None or np.any(load[b] - extra[i] < floor[b] * (extra[i] > 0)):
                continue
            load[b] -= extra[i]
            load[taker] += extra[i]
            moves.append(LeaderMove(partition_idx=int(led[i]), to_broker_idx=taker))
            if load[b, r] <= self._limit[b, r] * (1 + TOLERANCE):
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
            fits = np.all((after <= self._limit[follower]) | (extra <= 0))
            room = self._limit[follower, r] - after[r]
            if fits and room > most:
                best, most = follower, room
        return best

    def _followers(self, p: int, b: int) -> Iterator[int]:
        """Yield the brokers that could lead a partition at once."""
        state = self._measured.state
        replicas, start = state.replicas, state.replicas.start
        leads = self._measured.shares.members.leads
        for row in range(int(start[p]), int(start[p + 1])):
            broker = int(replicas.broker_idx[row])
            stays = not replicas.is_removing[row] and not replicas.is_adding[row]
            if broker != b and leads[broker] and replicas.is_in_sync[row] and stays:
                yield broker
