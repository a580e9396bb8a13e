"""Network loads of brokers while waves run: traffic and copies."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from placement.check.case.broker_loads import broker_loads
from placement.check.case.finding import Finding, Where
from placement.check.case.placed_replicas import placed_before
from placement.check.rules.capacity_rules import SLACK, amount, capacities
from placement.check.waves.throttle_lists import WaveProperties
from placement.check.waves.wave_duration import Passing
from placement.model.cluster import ABSENT, ClusterState

Key = tuple[str, int]
LEAST_SHARE = 0.01
"""Fraction of its capacity at which a broker may always copy."""


class NetworkFollower:
    """
    Network load in and out of each broker, updated list by list.

    Parameters
    ----------
    before
        Cluster before the waves.
    row_of
        Row of each followed partition.
    thresholds
        Usable fractions of the capacities in and out.
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
        # Lower bound: reads count even where the rate in is unknown.
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
        # Sender of each partition, and the part of its load out, in bytes/s.
        self.sends: dict[Key, tuple[int | None, float]] = {
            key: (int(before.brokers.ids[leader[row]]), float(outward[row]))
            if led[row]
            else (None, 0.0)
            for key, row in row_of.items()
        }

    def come(
        self, key: Key, brokers: Sequence[int], sender: int | None, count: int
    ) -> None:
        """Add copies, so that the sender serves `count` followers."""
        for broker in brokers:
            self.load["in"][broker] += self.inward[key]
        if brokers:
            self._send(key, sender, count)

    def settle(
        self, key: Key, gone: Collection[int], leader: int | None, count: int
    ) -> None:
        """Remove replicas, so that the leader serves `count` followers."""
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
        self, number: int, passing: Passing, properties: WaveProperties
    ) -> Iterator[Finding]:
        """
        Yield the brokers whose network the copies of a wave overload.

        Parameters
        ----------
        number
            Number of the wave.
        passing
            Bytes of copies that each broker receives and sends.
        properties
            Copy rate of a broker.
        """
        bytes_per_s = properties.bytes_per_s or 0.0
        for way, brokers in (("in", passing.got), ("out", passing.sent)):
            for broker in sorted(brokers):
                whole = self.whole[way].get(broker, np.nan)
                load, limit = self.load[way][broker], whole * self.threshold[way]
                allowed = max(limit - load, whole * LEAST_SHARE)
                # A comparison with NaN is false: an unknown capacity has no limit.
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
