"""Growth of the bytes on disks while a wave runs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from placement.check.rules.capacity_rules import capacities
from placement.model.cluster import ClusterState, Storage

Key = tuple[str, int]


class GrowthFollower:
    """
    Rate of writes to the replicas of each broker, updated list by list.

    Parameters
    ----------
    before
        Cluster before the waves.
    row_of
        Row of each followed partition.
    """

    def __init__(self, before: ClusterState, row_of: Mapping[Key, int]) -> None:
        ids, partitions = before.brokers.ids.tolist(), before.partitions
        is_shared = np.equal(before.topics.storage, Storage.SHARED)
        rate = np.nan_to_num(partitions.in_bytes_per_s)
        rate[is_shared[partitions.topic_idx]] = 0.0
        self.rate = {key: float(rate[row]) for key, row in row_of.items()}
        of = np.repeat(np.arange(len(rate)), np.diff(before.replicas.start))
        written = np.zeros(before.num_brokers)
        np.add.at(written, before.replicas.broker_idx, rate[of])
        self.written = defaultdict(float, zip(ids, written.tolist(), strict=True))
        whole = capacities(before, "disk").tolist()
        self.whole = dict(zip(ids, whole, strict=True))

    def come(self, key: Key, brokers: Iterable[int]) -> None:
        """Add the write rate of copies to brokers."""
        for broker in brokers:
            self.written[broker] += self.rate[key]

    def go(self, key: Key, brokers: Iterable[int]) -> None:
        """Subtract the write rate of deleted replicas from brokers."""
        for broker in brokers:
            self.written[broker] -= self.rate[key]

    def allowed(
        self, broker: int, seconds: float, load: float, limit: float, ends: float
    ) -> float:
        """
        Return the bytes that a broker may hold so that its disk does not fill up.

        Parameters
        ----------
        broker
            Id of the broker.
        seconds
            Duration of the wave, in seconds.
        load
            Bytes on the broker with both old and new replicas.
        limit
            Maximum bytes on the broker.
        ends
            Larger of the bytes before and after the plan. A load up to `ends` grows as
            fast in any wave, so it may grow to the end of the disk.
        """
        whole = self.whole.get(broker, np.nan)
        is_within = load <= ends
        if np.isnan(whole) or (is_within and ends >= whole):
            return limit
        most = max(whole, limit) if is_within else limit
        return float(min(limit, most - self.written[broker] * seconds))
