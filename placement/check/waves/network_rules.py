"""What networks carry while waves run: loads, and copies besides."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from placement.check.case.broker_loads import broker_loads
from placement.check.case.finding import Finding, Where
from placement.check.case.placed_replicas import placed_before
from placement.check.rules.capacity_rules import SLACK, amount, capacities
from placement.check.waves.throttle_lists import WaveTold
from placement.check.waves.wave_duration import Passing
from placement.model.cluster import ABSENT, ClusterState

Key = tuple[str, int]
LEAST_SHARE = 0.01
"""Of its capacity that a broker may always copy at."""


class NetworkFollower:
    """
    What each broker gets and sends, list by list.

    Parameters
    ----------
    before
        The cluster as it is.
    row_of
        The row of each partition that is followed.
    thresholds
        Fractions of the capacities in and out.
    """

    def __init__(
        self,
        before: ClusterState,
        row_of: dict[Key, int],
        thresholds: tuple[float, float],
    ) -> None:
        ids, partitions = before.brokers.ids.tolist(), before.partitions
        inward = np.nan_to_num(partitions.in_bytes_per_s)
        followers = np.maximum(before.replication_factor - 1, 0)
        # What is known of it: reads count where what is written is not known.
        read = np.nan_to_num(partitions.out_bytes_per_s)
        outward = read + followers * inward
        leader = partitions.leader_idx
        led = leader != ABSENT
        sent = np.zeros(before.num_brokers)
        np.add.at(sent, leader[led], outward[led])
        got = broker_loads(before, placed_before(before))["in"]
        self.load = {
            way: defaultdict(float, zip(ids, each.tolist(), strict=True))
            for way, each in (("in", got), ("out", sent))
        }
        self.whole = {
            way: dict(zip(ids, capacities(before, way).tolist(), strict=True))
            for way in self.load
        }
        self.threshold = dict(zip(self.load, thresholds, strict=True))
        self.inward = {key: float(inward[row]) for key, row in row_of.items()}
        self.read = {key: float(read[row]) for key, row in row_of.items()}
        # Who sends, and what of its load out that is.
        self.sends: dict[Key, tuple[int | None, float]] = {
            key: (int(before.brokers.ids[leader[row]]), float(outward[row]))
            if led[row]
            else (None, 0.0)
            for key, row in row_of.items()
        }

    def come(
        self, key: Key, brokers: Sequence[int], sender: int | None, count: int
    ) -> None:
        """Have copies come, so that the sender serves `count` replicas besides."""
        for broker in brokers:
            self.load["in"][broker] += self.inward[key]
        if brokers:
            self._send(key, sender, count)

    def settle(
        self, key: Key, gone: Collection[int], leader: int | None, count: int
    ) -> None:
        """Have replicas go, and the leader serve `count` others."""
        for broker in gone:
            self.load["in"][broker] -= self.inward[key]
        self._send(key, leader, count)

    def _send(self, key: Key, broker: int | None, count: int) -> None:
        old, was = self.sends[key]
        if old is not None:
            self.load["out"][old] -= was
        sent = self.read[key] + max(count, 0) * self.inward[key]
        if broker is not None:
            self.load["out"][broker] += sent
        self.sends[key] = broker, sent

    def findings(
        self, number: int, passing: Passing, told: WaveTold
    ) -> Iterator[Finding]:
        """
        Yield the brokers whose network copies overload.

        Parameters
        ----------
        number
            Of the wave.
        passing
            Who gets copies, and who sends them.
        told
            How fast a broker copies.
        """
        bytes_per_s = told.bytes_per_s or 0.0
        for way, brokers in (("in", passing.got), ("out", passing.sent)):
            for broker in sorted(brokers):
                whole = self.whole[way].get(broker, np.nan)
                load, limit = self.load[way][broker], whole * self.threshold[way]
                allowed = max(limit - load, whole * LEAST_SHARE)
                # A comparison with NaN is false: what is not known binds nothing.
                if bytes_per_s - allowed > SLACK * whole:
                    verb = "sends" if way == "out" else "gets"
                    yield Finding(
                        rule="wave-network",
                        where=Where(broker=broker, resource=way),
                        message=f"wave {number}: broker {broker} {verb} "
                        f"{amount(way, load)} and copies at "
                        f"{amount(way, bytes_per_s)} besides, over "
                        f"{amount(way, limit)}",
                    )
