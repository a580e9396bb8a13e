"""Log dirs that brokers choose for the copies of a plan, if the choice is certain."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from placement.log_dirs.kafka_dir_choice import DirCounts, candidates, choose_dirs
from placement.model.cluster import ABSENT, ClusterState
from placement.model.columns import count_rows

Key = tuple[str, int]
Dirs = Sequence[str | None] | None


def with_chosen_dirs(
    state: ClusterState,
    keys: Sequence[Key],
    replicas: Sequence[Sequence[int]],
    log_dirs: Sequence[Dirs],
    listed: frozenset[tuple[int, str]],
) -> list[Dirs]:
    """
    Return the log dirs of a plan, with those that brokers are certain to choose.

    A log dir stays `None` if the broker's choice depends on the order of creation, on a
    tie, or on a replica in an unknown log dir.

    Parameters
    ----------
    state
        The cluster before.
    keys, replicas
        Topic and partition, and broker ids, of each entry of the plan.
    log_dirs
        Path per replica, `None` for any; `None` if an entry gives none.
    listed
        Broker id and path of the log dirs that brokers list. If replicas name another
        log dir of a broker, its list is incomplete, and the choice stays unknown.
    """
    entries = _Entries(state, keys, replicas, log_dirs)
    copies = list(entries.unnamed())
    if not copies or not len(state.log_dirs):
        return list(log_dirs)
    broker_idx = state.brokers.rows_of([broker for _, _, broker in copies])
    nothing = np.zeros(len(copies), dtype=np.int64)
    choice = choose_dirs(state, entries.counts(), broker_idx.astype(np.int64), nothing)
    owner_of = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    known = set(zip(owner_of, state.log_dirs.paths, strict=True))
    unlisted = {broker for broker, _ in known - listed}
    filled = [None if row is None else list(row) for row in log_dirs]
    for (entry, place, _), log_dir in zip(
        copies, choice.certain_dir.tolist(), strict=True
    ):
        if log_dir != ABSENT and owner_of[log_dir] not in unlisted:
            row = filled[entry] or [None] * len(replicas[entry])
            row[place] = state.log_dirs.paths[log_dir]
            filled[entry] = row
    return list(filled)


class _Entries:
    """Entries of a plan, with the current replicas of their partitions."""

    def __init__(
        self,
        state: ClusterState,
        keys: Sequence[Key],
        replicas: Sequence[Sequence[int]],
        log_dirs: Sequence[Dirs],
    ) -> None:
        self.state, self.replicas, self.log_dirs = state, replicas, log_dirs
        names, topic = state.topics.names, state.partitions.topic_idx
        numbers = state.partitions.partition.tolist()
        wanted = set(keys)
        of = (names[t] for t in topic.tolist())
        row_of: Mapping[Key, int] = {
            key: row
            for row, key in enumerate(zip(of, numbers, strict=True))
            if key in wanted
        }
        self.rows = [row_of[key] for key in keys]

    def _before(self, entry: int) -> dict[int, int]:
        """Return the current log dir of each replica of an entry, by broker id."""
        rows = range(*self.state.replicas.start[self.rows[entry] :][:2].tolist())
        held = self.state.replicas
        return {
            int(self.state.brokers.ids[held.broker_idx[row]]): int(
                held.log_dir_idx[row]
            )
            for row in rows
        }

    def _named(self, entry: int) -> list[str | None]:
        return list(self.log_dirs[entry] or [None] * len(self.replicas[entry]))

    def unnamed(self) -> Iterator[tuple[int, int, int]]:
        """Yield entry, slot and broker id of each copy that names no log dir."""
        for entry, target in enumerate(self.replicas):
            old, named = self._before(entry), self._named(entry)
            for place, broker in enumerate(target):
                if broker not in old and named[place] is None:
                    yield entry, place, broker

    def counts(self) -> DirCounts:
        """Return the least and most partitions in log dirs while the plan runs."""
        replicas, dirs = self.state.replicas, self.state.log_dirs
        now = count_rows(replicas.log_dir_idx, len(dirs))
        low, high = now.copy(), now + count_rows(replicas.future_log_dir_idx, len(dirs))
        lost = np.equal(replicas.log_dir_idx, ABSENT) & ~replicas.is_failed
        at = replicas.broker_idx[lost]
        high += count_rows(at, self.state.num_brokers)[dirs.broker_idx]
        owners = self.state.brokers.ids[dirs.broker_idx].tolist()
        places = zip(owners, dirs.paths, strict=True)
        row_of = {place: row for row, place in enumerate(places)}
        for entry, target in enumerate(self.replicas):
            named = dict(zip(target, self._named(entry), strict=True))
            old = self._before(entry)
            for broker, log_dir in old.items():
                wanted = row_of.get((broker, named.get(broker) or ""), log_dir)
                if log_dir != ABSENT and (broker not in named or wanted != log_dir):
                    low[log_dir] -= 1
            for broker, path in named.items():
                row = row_of.get((broker, path or ""), ABSENT)
                if row not in {ABSENT, old.get(broker, ABSENT)}:
                    high[row] += 1
        return DirCounts(low=low, high=high, is_candidate=candidates(self.state))
