"""Replicas of a plan that can serve: on live brokers, in log dirs that are online."""

from collections.abc import Sequence
from dataclasses import dataclass

from placement.array_types import RowArray
from placement.model.cluster import sum_rows
from planner.snapshot.snapshot_document import Snapshot

_LIVE = ("alive", "new", "demoted")


def live_ids(snapshot: Snapshot) -> frozenset[int]:
    """Return the ids of the live brokers."""
    states = snapshot.brokers.column("state").to_pylist()
    ids = snapshot.brokers.column("id").to_pylist()
    return frozenset(
        broker
        for broker, state in zip(ids, states, strict=True)
        if state is None or state in _LIVE
    )


@dataclass(frozen=True, slots=True)
class Serving:
    """
    Brokers that can serve the partitions of a plan before it runs.

    Parameters
    ----------
    live
        Ids of the live brokers.
    offline
        Per entry of the plan, live brokers that cannot serve its partition.
    has_source
        Per entry, whether a follower can fetch a copy now.
    """

    live: frozenset[int]
    offline: Sequence[frozenset[int]]
    has_source: Sequence[bool]

    def in_sync(
        self, entry: int, target: Sequence[int], isr: Sequence[int] | None
    ) -> list[int]:
        """Return the ISR after the plan; without a source no replica catches up."""
        if not self.has_source[entry]:
            return [broker for broker in isr or () if broker in target]
        return self.online(entry, target)

    def online(self, entry: int, replicas: Sequence[int]) -> list[int]:
        """Return the brokers that are live and can serve the partition."""
        offline = self.offline[entry]
        return [b for b in replicas if b in self.live and b not in offline]

    def leader(self, entry: int, isr: Sequence[int]) -> int:
        """Return the first in-sync replica; -1 if none can lead."""
        return next(iter(isr), -1) if self.has_source[entry] else -1


def serving_of(snapshot: Snapshot, at: RowArray) -> Serving:
    """Return the brokers that can serve the partitions in some rows."""
    state = snapshot.to_state()
    is_offline, start = state.is_offline, state.replicas.start
    ids = state.brokers.ids[state.replicas.broker_idx]

    def offline_of(p: int) -> frozenset[int]:
        rows = slice(int(start[p]), int(start[p + 1]))
        return frozenset(ids[rows][is_offline[rows]].tolist())

    has_offline = sum_rows(is_offline, start) > 0
    return Serving(
        live=live_ids(snapshot),
        offline=[offline_of(p) if has_offline[p] else frozenset() for p in at.tolist()],
        has_source=state.has_source[at].tolist(),
    )
