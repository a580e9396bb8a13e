"""
Independent check that waves are safe to run one by one.

The checker updates lists, leaders, disk loads and copy counts wave by wave in plain
Python, from the cluster before and the wave files alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from placement.check.case.broker_loads import broker_loads
from placement.check.case.finding import Finding, Where
from placement.check.case.placed_replicas import placed_before
from placement.check.rules.capacity_rules import capacities
from placement.check.waves.disk_growth import GrowthFollower
from placement.check.waves.log_dirs_over_time import DirFollower, Dirs, Place
from placement.check.waves.network_rules import NetworkFollower
from placement.check.waves.replicas_before import (
    in_sync_of,
    leader_of,
    own_bytes_of,
    size_of,
)
from placement.check.waves.throttle_lists import WaveProperties, file_findings
from placement.check.waves.wave_duration import Passing
from placement.check.waves.wave_limits import WaveDirs, WaveLimits
from placement.model.cluster import ClusterState

Key = tuple[str, int]
Lists = Mapping[Key, Sequence[int]]


def check_waves(
    before: ClusterState,
    waves: Sequence[Lists],
    final: Lists,
    limits: WaveLimits,
    dirs: WaveDirs | None = None,
    properties: Sequence[WaveProperties] | None = None,
) -> tuple[Finding, ...]:
    """
    Check every wave, and the lists after the last one, against the rules.

    Parameters
    ----------
    before
        Cluster before the waves.
    waves
        Broker ids by topic and partition, as in the file of each wave.
    final
        Target lists of the plan.
    limits
        Limits of the waves.
    dirs
        Log dirs that the files name; `None`: none.
    properties
        Properties of each wave other than its lists; `None`: unknown.

    Returns
    -------
    Findings, wave by wave: ``wave-cap``, ``wave-disk``, ``wave-log-dir``,
    ``wave-rack``, ``wave-min-isr``, ``wave-leader``, ``wave-replication-factor``,
    ``wave-broker``, ``wave-unknown``, ``wave-throttle``, ``wave-network``,
    ``wave-end``.
    """
    dirs = dirs or WaveDirs()
    follower = _Follower(before, waves, final, limits)
    follower.expect_dirs(dirs.final)
    named = [*dirs.waves, *[{}] * (len(waves) - len(dirs.waves))]
    properties = [WaveProperties()] * len(waves) if properties is None else properties
    found: list[Finding] = []
    turns = zip(waves, named, properties, strict=True)
    for number, (lists, paths, more) in enumerate(turns, start=1):
        found += file_findings(number, follower.lists, lists, more)
        found += follower.run(number, lists, paths, more)
    return (*found, *follower.end(dirs.final))


class _Follower:
    """State of the cluster between two waves."""

    def __init__(
        self,
        before: ClusterState,
        waves: Sequence[Lists],
        final: Lists,
        limits: WaveLimits,
    ) -> None:
        self.limits, self.final = limits, final
        brokers, partitions = before.brokers, before.partitions
        ids = brokers.ids.tolist()
        names = [before.topics.names[t] for t in partitions.topic_idx.tolist()]
        numbers = partitions.partition.tolist()
        self.row_of: dict[Key, int] = {
            key: p for p, key in enumerate(zip(names, numbers, strict=True))
        }
        touched = {key for lists in (*waves, final) for key in lists}
        self.before = {
            key: before.brokers_of(self.row_of[key])
            for key in touched
            if key in self.row_of
        }
        self.lists = {key: list(row) for key, row in self.before.items()}
        rows = {key: self.row_of[key] for key in self.before}
        self.leader = {key: leader_of(before, row) for key, row in rows.items()}
        self.in_sync = {key: in_sync_of(before, row) for key, row in rows.items()}
        least = before.topics.min_insync_replicas
        self.min_isr = {
            key: int(least[partitions.topic_idx[self.row_of[key]]])
            for key in self.before
        }
        self.rack = dict(zip(ids, brokers.rack_idx.tolist(), strict=True))
        live = brokers.is_live.tolist()
        self.is_live = dict(zip(ids, live, strict=True))
        self.size = {key: size_of(before, row) for key, row in rows.items()}
        self.own = {key: own_bytes_of(before, row) for key, row in rows.items()}
        load = broker_loads(before, placed_before(before))["disk"]
        self.load = {b: float(v) for b, v in zip(ids, load.tolist(), strict=True)}
        self.limit = self._limits(before)
        self.dirs = DirFollower(before, rows)
        thresholds = limits.in_threshold, limits.out_threshold
        self.network = NetworkFollower(before, rows, thresholds)
        self.growth = GrowthFollower(before, rows)
        # Number of the last wave that copies each partition.
        self.last = {
            key: number
            for number, lists in enumerate(waves, start=1)
            for key in lists
            if key in self.before and self._brings(waves, number, key)
        }

    def _brings(self, waves: Sequence[Lists], number: int, key: Key) -> bool:
        earlier = [lists[key] for lists in waves[: number - 1] if key in lists]
        now = earlier[-1] if earlier else self.before[key]
        return bool(set(waves[number - 1][key]) - set(now))

    def _limits(self, before: ClusterState) -> dict[int, float]:
        """Return byte limits: the threshold, or the load before or after if more."""
        after = dict(self.load)
        for key in self.before:
            final = self.final.get(key, self.before[key])
            for broker in set(final) - set(self.before[key]):
                after[broker] = after.get(broker, 0.0) + self.size[key]
            for broker in set(self.before[key]) - set(final):
                after[broker] -= self._bytes(key, broker)
        whole = capacities(before, "disk") * self.limits.disk_threshold
        self.ends = {b: max(load, after[b]) for b, load in self.load.items()}
        return {
            b: np.inf if np.isnan(most) else max(most, self.ends[b])
            for b, most in zip(before.brokers.ids.tolist(), whole.tolist(), strict=True)
        }

    def _bytes(self, key: Key, broker: int) -> int:
        return self.own[key].get(broker, self.size[key])

    def expect_dirs(self, final: Dirs) -> None:
        """Set the bytes that log dirs may gain."""
        known = {key: row for key, row in self.final.items() if key in self.before}

        def new(key: Key, _broker: int) -> int:
            return self.size[key]

        self.dirs.expect(self.before, known, final, self._bytes, new)

    def run(
        self, number: int, lists: Lists, dirs: Dirs, properties: WaveProperties
    ) -> Iterator[Finding]:
        """Run one wave, and yield its findings."""
        passing = Passing()
        known = {key: list(new) for key, new in lists.items() if key in self.before}
        for key in lists.keys() - known.keys():
            yield self._finding(number, "wave-unknown", key, "is not in the cluster")
        named = {key: self.dirs.named(dirs, key, new) for key, new in known.items()}
        inside = {key: self.dirs.moves(key, paths) for key, paths in named.items()}
        touched: set[Place] = set()
        for key, new in known.items():
            comes = [b for b in new if b not in self.lists[key]]
            arrives = [*comes, *inside[key]]
            self._pass(key, comes, inside[key], passing)
            going = {b: path for b, path in named[key].items() if b in arrives}
            touched.update(going.items())
            unnamed = [broker for broker in comes if broker not in going]
            touched.update(self.dirs.places_of(unnamed))
            self._arrive(key, arrives, going)
            for message in self.dirs.unusable(going):
                yield self._finding(number, "wave-log-dir", key, message)
            yield from self._list_findings(number, key, new, comes)
            yield from self._partition_cap_findings(number, key, comes)
        yield from self._cap_findings(number, passing.num_out, passing.num_in)
        seconds = passing.seconds(properties, self.limits.bandwidth_bytes_per_s)
        yield from self._disk_findings(number, passing.num_in, seconds)
        yield from self._dir_findings(number, touched)
        yield from self.network.findings(number, passing, properties)
        for key, new in known.items():
            self._settle_inside(key, inside[key], named[key])
            yield from self._finish(number, key, new, named[key])

    def _pass(
        self, key: Key, comes: list[int], inside: Sequence[int], passing: Passing
    ) -> None:
        """Count the copies of one partition, their traffic and the writes to them."""
        sender = self._sender(key)
        passing.come(sender, comes, self.size[key])
        passing.move({broker: self._bytes(key, broker) for broker in inside})
        self.network.come(key, comes, sender, len(self.lists[key]) + len(comes) - 1)
        self.growth.come(key, [*comes, *inside])

    def _sender(self, key: Key) -> int | None:
        """
        Return the source broker of copies, or `None`.

        Without a leader, Kafka must elect one before any copy completes: the first
        live in-sync replica, or the first live replica if none is in sync.
        """
        if self.leader[key] is not None:
            return self.leader[key]
        live = [b for b in self.lists[key] if self.is_live.get(b, False)]
        in_sync = [b for b in live if b in self.in_sync[key]]
        return next(iter([*in_sync, *live]), None)

    def _arrive(
        self, key: Key, brokers: Sequence[int], paths: Mapping[int, str]
    ) -> None:
        """Add copies; the replicas that they replace stay until the wave ends."""
        for broker in brokers:
            size = self._bytes(key, broker)
            self.load[broker] = self.load.get(broker, 0.0) + size
            self.dirs.come(broker, paths.get(broker), size)

    def _settle_inside(
        self, key: Key, moved: Sequence[int], named: Mapping[int, str]
    ) -> None:
        """Delete moved replicas from their old log dirs."""
        for broker in moved:
            size = self._bytes(key, broker)
            self.load[broker] -= size
            self.dirs.go(key, broker, size)
            self.dirs.settle(key, broker, named[broker])
        self.growth.go(key, moved)

    def _list_findings(
        self, number: int, key: Key, new: list[int], comes: list[int]
    ) -> Iterator[Finding]:
        if not self._has_length(key, new) or len(set(new)) != len(new):
            message = f"has the list {new}, and {len(self.before[key])} replicas"
            yield self._finding(number, "wave-replication-factor", key, message)
        off = [b for b in new if not self.is_live.get(b, False)]
        if off:
            message = f"names brokers that are not live: {off}"
            yield self._finding(number, "wave-broker", key, message)
        racks = Counter(self.rack.get(b) for b in new)
        ends = (self.before[key], self.final.get(key, self.before[key]))
        most = [Counter(self.rack.get(b) for b in end) for end in ends]
        for rack, count in racks.items():
            allowed = max(1, most[0][rack], most[1][rack])
            if count > allowed:
                message = f"has {count} replicas in one rack, {allowed} before or after"
                yield self._finding(number, "wave-rack", key, message)
        yield from self._leader_findings(number, key, new, comes)

    def _has_length(self, key: Key, new: list[int]) -> bool:
        """
        Return whether the length of a list is between those before and after.

        The list may be shorter by the number of dead brokers that it drops.
        """
        ends = len(self.before[key]), len(self.final.get(key, self.before[key]))
        gone = [b for b in self.before[key] if b not in new]
        dead = sum(not self.is_live.get(b, False) for b in gone)
        return min(ends) - dead <= len(new) <= max(ends)

    def _leader_findings(
        self, number: int, key: Key, new: list[int], comes: list[int]
    ) -> Iterator[Finding]:
        leader = self.leader[key]
        if leader is None:
            return
        if leader not in new and self.last.get(key, 0) > number:
            message = f"drops its leader {leader} before its last copy"
            yield self._finding(number, "wave-leader", key, message)
        if comes and leader in new and new[0] != leader:
            message = f"puts {new[0]} before its leader {leader} while it is copied"
            yield self._finding(number, "wave-leader", key, message)

    def _cap_findings(
        self, number: int, sent: Counter[int], received: Counter[int]
    ) -> Iterator[Finding]:
        limits = self.limits
        shared = np.inf if limits.max_shared is None else limits.max_shared
        for broker in sorted({*sent, *received}):
            out, into = sent[broker], received[broker]
            if out > limits.max_out or into > limits.max_in or out + into > shared:
                yield Finding(
                    rule="wave-cap",
                    where=Where(broker=broker),
                    message=f"wave {number}: broker {broker} sends {out} and gets "
                    f"{into} copies",
                )

    def _partition_cap_findings(
        self, number: int, key: Key, comes: list[int]
    ) -> Iterator[Finding]:
        most = self.limits.max_per_partition
        if most is not None and len(comes) > most:
            message = f"gets {len(comes)} new replicas, {most} may come at a time"
            yield self._finding(number, "wave-cap", key, message)

    def _disk_findings(
        self, number: int, received: Counter[int], seconds: float
    ) -> Iterator[Finding]:
        for broker in sorted(received):
            most = self.limit.get(broker, np.inf)
            if seconds > 0 and not np.isinf(most):
                load, ends = self.load[broker], self.ends[broker]
                most = self.growth.allowed(broker, seconds, load, most, ends)
            if self.load[broker] > most * (1 + 1e-9):
                yield Finding(
                    rule="wave-disk",
                    where=Where(broker=broker, resource="disk"),
                    message=f"wave {number}: broker {broker} holds "
                    f"{self.load[broker]:.6g} B with both copies, over {most:.6g} B"
                    + (" with what is written meanwhile" if seconds > 0 else ""),
                )

    def _dir_findings(self, number: int, touched: set[Place]) -> Iterator[Finding]:
        for (broker, path), more, most in self.dirs.overfull(touched):
            yield Finding(
                rule="wave-log-dir",
                where=Where(broker=broker, log_dir=path, resource="disk"),
                message=f"wave {number}: log dir {path} of broker {broker} gets "
                f"{more:.6g} B, and may get {most:.6g} B",
            )

    def _finish(
        self, number: int, key: Key, new: list[int], named: Mapping[int, str]
    ) -> Iterator[Finding]:
        """Delete removed replicas; a lost leader gives way to the first in-sync one."""
        old = self.lists[key]
        for broker in old:
            if broker not in new:
                size = self._bytes(key, broker)
                self.load[broker] -= size
                self.dirs.go(key, broker, size)
                self.own[key].pop(broker, None)
        for broker in new:
            if broker not in old:
                self.dirs.settle(key, broker, named.get(broker))
        was = len(self.in_sync[key])
        came = {b for b in new if b not in old and self.is_live.get(b, False)}
        if came:
            self._lead(key, self._sender(key))
        self.in_sync[key] = (self.in_sync[key] | came) & set(new)
        # A plan may ask for fewer replicas, but must keep at least one in sync.
        asked = len(self.final.get(key, self.before[key]))
        if len(self.in_sync[key]) < min(self.min_isr[key], was, max(asked, 1)):
            message = f"has {len(self.in_sync[key])} in sync, {was} before"
            yield self._finding(number, "wave-min-isr", key, message)
        self.lists[key] = new
        if self.leader[key] not in new:
            led = [b for b in new if b in self.in_sync[key]]
            self.leader[key] = led[0] if led else None
        gone = set(old) - set(new)
        self.growth.go(key, gone)
        self.network.settle(key, gone, self.leader[key], len(new) - 1)

    def _lead(self, key: Key, broker: int | None) -> None:
        """Set the leader, which counts as in sync."""
        self.leader[key] = broker
        if broker is not None:
            self.in_sync[key].add(broker)

    def end(self, dirs: Dirs) -> Iterator[Finding]:
        """Yield the partitions whose final lists or log dirs differ from the plan."""
        for key, final in self.final.items():
            if self.lists.get(key) != list(final):
                message = f"ends as {self.lists.get(key)}, planned is {list(final)}"
                yield self._finding(None, "wave-end", key, message)
            for broker in self.dirs.moves(key, self.dirs.named(dirs, key, final)):
                message = f"does not end in the log dir planned on broker {broker}"
                yield self._finding(None, "wave-end", key, message)

    def _finding(
        self, number: int | None, rule: str, key: Key, message: str
    ) -> Finding:
        topic, partition = key
        which = "after all waves" if number is None else f"wave {number}"
        return Finding(
            rule=rule,
            where=Where(topic=topic, partition=partition),
            message=f"{which}: {topic}-{partition} {message}",
        )
