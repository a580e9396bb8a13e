"""Log dirs that brokers may choose for unnamed copies while waves run."""

from collections import Counter
from collections.abc import Mapping, Sequence

from placement.check.rules.broker_dirs import most_of, open_dirs
from placement.model.cluster import ABSENT, ClusterState, LogDirState

Key = tuple[str, int]
Place = tuple[int, str]
"""Broker and path of a log dir."""


class DirChoiceFollower:
    """
    Upper bound on the bytes of unnamed copies in each log dir.

    The bound holds for every order of creation and every tie-break: the log dir itself
    counts only the partitions that stay in it, and the others count all partitions that
    are ever in them.

    Parameters
    ----------
    before
        Cluster before the waves.
    """

    def __init__(self, before: ClusterState) -> None:
        dirs, ids = before.log_dirs, before.brokers.ids
        owners = ids[dirs.broker_idx].tolist()
        places: list[Place] = list(zip(owners, dirs.paths, strict=True))
        self.places = _choices(places, dirs.state.tolist())
        cordoned = LogDirState.CORDONED
        self.forced = {
            place
            for place, state in zip(places, dirs.state.tolist(), strict=True)
            if state == cordoned
        }
        replicas = before.replicas
        now: Counter[Place] = Counter()
        more: Counter[Place] = Counter()
        lost: Counter[int] = Counter()
        on = ids[replicas.broker_idx].tolist()
        rows = zip(
            on,
            replicas.log_dir_idx.tolist(),
            replicas.future_log_dir_idx.tolist(),
            replicas.is_failed.tolist(),
            strict=True,
        )
        for broker, lies, goes, has_failed in rows:
            if lies != ABSENT:
                now[places[lies]] += 1
            elif not has_failed:
                lost[broker] += 1
            if goes != ABSENT:
                more[places[goes]] += 1
        self.low = now
        self.high = Counter({p: now[p] + more[p] + lost[p[0]] for p in places})
        self.sizes: dict[int, list[int]] = {}
        self.gone: Counter[int] = Counter()

    def expect(
        self,
        lies: Mapping[tuple[Key, int], str | None],
        key: Key,
        old: Sequence[int],
        wanted: Sequence[int],
        named: Mapping[int, str],
    ) -> None:
        """Count the partitions that a plan adds to and removes from log dirs."""
        for broker in old:
            path = lies[key, broker]
            if path is not None and (broker not in wanted or broker in named):
                self.low[broker, path] -= 1
        for broker, path in named.items():
            if broker not in old or lies[key, broker] != path:
                self.high[broker, path] += 1
            else:
                self.low[broker, path] += 1

    def come(self, broker: int, size: int) -> None:
        """Add a copy without a named log dir to a broker."""
        if broker in self.places:
            self.sizes.setdefault(broker, []).append(size)

    def go(self, broker: int) -> None:
        """Delete a replica in an unknown log dir of a broker."""
        self.gone[broker] += 1

    def all_bytes(self, broker: int) -> int:
        """Return the bytes of all unnamed copies of a broker so far."""
        return sum(self.sizes.get(broker, ()))

    def worst(self, place: Place) -> int:
        """Return an upper bound on the bytes of the copies so far in a log dir."""
        broker = place[0]
        return self.most_bytes(broker, self.sizes.get(broker, ())).get(place, 0)

    def most_bytes(self, broker: int, sizes: Sequence[int]) -> dict[Place, int]:
        """Return an upper bound on the bytes of given copies in each log dir."""
        choices = self.places.get(broker, [])
        largest = sorted(sizes, reverse=True)
        found = {}
        for place in choices:
            others = [self.high[other] for other in choices if other != place]
            low = max(self.low[place] - self.gone[broker], 0)
            count = most_of(low, others, len(sizes))
            if place in self.forced:
                # All are cordoned: one of them, not known which, takes every copy.
                count = len(sizes)
            found[place] = sum(largest[:count])
        return found


def _choices(places: Sequence[Place], states: Sequence[int]) -> dict[int, list[Place]]:
    """Return the log dirs that each broker with several log dirs may choose."""
    rows: dict[int, list[int]] = {}
    for row, (broker, _) in enumerate(places):
        rows.setdefault(broker, []).append(row)
    return {
        broker: [places[own[n]] for n in open_dirs([states[row] for row in own])]
        for broker, own in rows.items()
        if len(own) > 1
    }
