"""Log dirs of replicas while waves run, updated one by one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from placement.check.waves.kafka_dir_choice import DirChoiceFollower
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState

Key = tuple[str, int]
Place = tuple[int, str]
"""Broker id and path of a log dir."""
Dirs = Mapping[Key, Sequence[str | None] | None]
Lists = Mapping[Key, Sequence[int]]
Bytes = Callable[[Key, int], int]
"""Function that returns the bytes of a partition's replica on a broker."""


class DirFollower:
    """
    Log dir of each replica, and the change of bytes in each log dir.

    Parameters
    ----------
    before
        Cluster before the waves.
    row_of
        Rows of the partitions that waves name.
    """

    def __init__(self, before: ClusterState, row_of: Mapping[Key, int]) -> None:
        dirs, ids = before.log_dirs, before.brokers.ids
        owners = ids[dirs.broker_idx].tolist()
        places: list[Place] = list(zip(owners, dirs.paths, strict=True))
        self.state = dict(zip(places, dirs.state.tolist(), strict=True))
        self.usable = dict(zip(places, dirs.usable_bytes.tolist(), strict=True))
        self.has_dirs = set(owners)
        self.lies: dict[tuple[Key, int], str | None] = {}
        replicas = before.replicas
        for key, p in row_of.items():
            start, stop = replicas.start[p : p + 2].tolist()
            for row in range(start, stop):
                lies = int(replicas.log_dir_idx[row])
                path = None if lies == ABSENT else dirs.paths[lies]
                self.lies[key, int(ids[replicas.broker_idx[row]])] = path
        self.more: Counter[Place] = Counter()
        self.most: dict[Place, int] = {}
        self.choice = DirChoiceFollower(before)

    def expect(
        self, before: Lists, final: Lists, dirs: Dirs, bytes_of: Bytes, new: Bytes
    ) -> None:
        """
        Set the bytes that each log dir may gain: free bytes, or the final gain if more.

        Parameters
        ----------
        before, final
            Replica lists before and after the plan.
        dirs
            Log dirs that the plan names.
        bytes_of, new
            Bytes of an existing replica, and of a new copy.
        """
        change: Counter[Place] = Counter()
        coming: dict[int, list[int]] = {}
        for key, wanted in final.items():
            old = before.get(key, ())
            named = self.named(dirs, key, wanted)
            self.choice.expect(self.lies, key, old, wanted, named)
            for broker in wanted:
                if broker not in old and broker not in named:
                    coming.setdefault(broker, []).append(new(key, broker))
            for broker in old:
                self._add(
                    change, broker, self.lies[key, broker], -bytes_of(key, broker)
                )
            for broker in wanted:
                kept = self.lies.get((key, broker)) if broker in old else None
                size = bytes_of if broker in old else new
                path = named.get(broker) or kept
                self._add(change, broker, path, size(key, broker))
        worst = {
            broker: self.choice.most_bytes(broker, sizes)
            for broker, sizes in coming.items()
        }
        self.most = {
            place: max(usable, change[place] + worst.get(place[0], {}).get(place, 0))
            for place, usable in self.usable.items()
            if usable != UNKNOWN and self.state[place] != LogDirState.OFFLINE
        }

    @staticmethod
    def named(dirs: Dirs, key: Key, brokers: Sequence[int]) -> dict[int, str]:
        """Return the log dirs named for a partition, by broker id."""
        paths = dirs.get(key) or [None] * len(brokers)
        pairs = zip(brokers, paths, strict=False)
        return {broker: path for broker, path in pairs if path is not None}

    def _add(
        self, total: Counter[Place], broker: int, path: str | None, size: int
    ) -> None:
        if path is not None:
            total[broker, path] += size

    def moves(self, key: Key, named: Mapping[int, str]) -> list[int]:
        """Return the brokers that move a replica of theirs to another log dir."""
        return [
            broker
            for broker, path in named.items()
            if (key, broker) in self.lies and self.lies[key, broker] != path
        ]

    def come(self, broker: int, path: str | None, size: int) -> None:
        """Add the bytes of a copy to a log dir."""
        self._add(self.more, broker, path, size)
        if path is None:
            self.choice.come(broker, size)

    def settle(self, key: Key, broker: int, path: str | None) -> None:
        """Record the log dir of a completed copy."""
        self.lies[key, broker] = path

    def go(self, key: Key, broker: int, size: int) -> None:
        """Delete a replica from its log dir."""
        if self.lies.get((key, broker), "") is None:
            self.choice.go(broker)
        path = self.lies.pop((key, broker), None)
        self._add(self.more, broker, path, -size)

    def unusable(self, named: Mapping[int, str]) -> Iterator[str]:
        """Yield a message for each named log dir that is unknown or not online."""
        for broker, path in named.items():
            state = self.state.get((broker, path))
            if state is None and broker in self.has_dirs:
                yield f"names {path}, no log dir of broker {broker}"
            elif state not in {None, LogDirState.ONLINE}:
                yield f"names {path} of broker {broker}, which is not online"

    def overfull(self, places: Iterable[Place]) -> Iterator[tuple[Place, int, int]]:
        """Yield the log dirs over their limit, with their gain and limit in bytes."""
        for place in sorted(places):
            most = self.most.get(place)
            if most is None:
                continue
            more = self.more[place]
            if more + self.choice.all_bytes(place[0]) > most:
                more += self.choice.worst(place)
            if more > most:
                yield place, more, most

    def places_of(self, brokers: Iterable[int]) -> Iterator[Place]:
        """Yield the log dirs that brokers may choose for unnamed copies."""
        for broker in brokers:
            yield from self.choice.places.get(broker, ())
