"""
Clusters with something to do, from a few drawn numbers.

Drawing each value by itself costs more than planning does. Here hypothesis draws a
seed, how large the cluster is, and which kinds of trouble it has; every broker and
partition then draws its own values from the seed and its own number, so that a smaller
cluster is a part of the larger one and a case that fails can still be made small.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from placement.model.cluster import (
    UNKNOWN,
    BrokerState,
    ClusterState,
    LogDirState,
    Storage,
)
from support.clusters import Dir, make_state

GRAVE = ("offline", "dead", "reassigning", "storage", "behind")
"""Kinds of trouble that keep a plan from much."""
TROUBLE = (
    *GRAVE,
    "log-dirs",
    "unknown",
    "crowded",
    "no-racks",
    "capacities",
    "tight",
    "own-bytes",
    "mixed-factors",
    "few-replicas",
    "internal",
)
"""Kinds of trouble; each cluster has some of them."""
ALL = 2 ** len(TROUBLE) - 1
SEEDS = st.integers(0, 2**32 - 1)
STATES = [
    *[BrokerState.ALIVE] * 6,
    *[BrokerState.DEAD] * 3,
    BrokerState.FENCED,
    BrokerState.SHUTTING_DOWN,
    BrokerState.DEMOTED,
]
DIR_STATES = [*[LogDirState.ONLINE] * 5, LogDirState.OFFLINE, LogDirState.CORDONED]
PATHS = ("/d1", "/d2", "/d3")


@st.composite
def grown(
    draw: Any,
    *,
    with_: Sequence[str] = (),
    without: Sequence[str] = (),
    num_new: int = 0,
) -> ClusterState:
    """
    Draw a small cluster whose load is skewed.

    Parameters
    ----------
    with_, without
        Kinds of trouble that it has in any case, or never.
    num_new
        Brokers that hold nothing yet.
    """
    # Of two numbers the bits they share: each kind in one cluster of four, what is
    # grave in one of eight.
    bits = draw(st.integers(0, ALL)) & draw(st.integers(0, ALL))
    bits &= draw(st.integers(0, 2 ** len(GRAVE) - 1)) | ALL << len(GRAVE)
    trouble = {kind for n, kind in enumerate(TROUBLE) if bits >> n & 1}
    size = Size(
        brokers=draw(st.integers(3, 6)),
        topics=draw(st.integers(1, 3)),
        partitions=draw(st.integers(1, 5)),
        num_new=num_new,
    )
    kinds = frozenset(trouble.union(with_).difference(without))
    return Grower(draw(SEEDS), size, kinds).state()


@dataclass(frozen=True)
class Size:
    """How many brokers, topics, and partitions of each topic."""

    brokers: int
    topics: int
    partitions: int
    num_new: int = 0


class Grower:
    """Grows a cluster from a seed."""

    def __init__(self, seed: int, size: Size, kinds: frozenset[str]) -> None:
        self.seed, self.size, self.kinds = seed, size, kinds
        whole = self.random("cluster")
        gap = whole.choice([1, 1, 3])
        count = size.brokers + size.num_new
        self.ids = [gap * b + whole.randint(0, gap - 1) for b in range(count)]
        self.num_racks = whole.choice([1, 2, 3, 3])
        self.factor = 1 if "few-replicas" in kinds else whole.choice([2, 2, 3, 3, 4])
        self.racks = [self._rack(b) for b in range(count)]
        self.states = {b: self._state(n) for n, b in enumerate(self.ids)}
        self.old = self.ids[: size.brokers]
        # What a broker is likely to hold: the first ones most.
        self.pull = {b: 3.0 / (n + 1) for n, b in enumerate(self.old)}
        self.names = [f"t{n}" for n in range(size.topics)]
        if "internal" in kinds:
            self.names[-1] = "__consumer_offsets"
        self.names.sort()
        self.lists = {name: self._lists(name) for name in self.names}
        self.rows = [row for name in self.names for row in self.lists[name]]
        self.sizes = [
            self.random("size", n).choice([0, 5, 10, 20, 40, 80])
            for n in range(len(self.rows))
        ]
        self.dirs, self.lies_in = self._log_dirs()

    def random(self, *what: object) -> Random:
        """Return what one thing draws from."""
        return Random(f"{self.seed} {what}")

    def is_live(self, broker: int) -> bool:
        """Tell whether a broker serves."""
        return self.states[broker] <= BrokerState.DEMOTED

    def _rack(self, b: int) -> str | None:
        if "no-racks" in self.kinds and self.random("rack", b).random() < 0.4:
            return None
        return "abc"[b % self.num_racks]

    def _state(self, n: int) -> BrokerState:
        if n >= self.size.brokers:
            return BrokerState.NEW
        if "dead" in self.kinds and n == 1:
            return BrokerState.DEAD
        if "offline" not in self.kinds or not n:
            return BrokerState.ALIVE
        return self.random("state", n).choice(STATES)

    def _lists(self, name: str) -> list[list[int]]:
        # A broker more, so that there is somewhere to go.
        factor = min(self.factor, len(self.old) - 1)
        found = []
        for n in range(self.size.partitions):
            draws = self.random("list", name, n)
            own = factor
            if "mixed-factors" in self.kinds and draws.random() < 0.4:
                own = draws.randint(1, len(self.old))
            found.append(self._list(draws, own))
        return found

    def _list(self, draws: Random, factor: int) -> list[int]:
        """Return brokers, each rack once before any twice where racks are kept."""
        rack_of = dict(zip(self.ids, self.racks, strict=True))
        order = sorted(self.old, key=lambda b: draws.random() ** (1 / self.pull[b]))
        order.reverse()
        is_kept = "crowded" not in self.kinds or draws.random() < 0.6
        used: Counter[str] = Counter()
        row: list[int] = []
        while len(row) < factor:
            rest = [b for b in order if b not in row]
            best = (
                min(rest, key=lambda b: used[rack_of[b] or f"own {b}"])
                if is_kept
                else rest[0]
            )
            used[rack_of[best] or f"own {best}"] += 1
            row.append(best)
        return row

    def _log_dirs(self) -> tuple[dict[int, list[Dir]], list[list[str | None]]]:
        if "log-dirs" not in self.kinds:
            return {}, [[None] * len(row) for row in self.rows]
        paths = {
            b: PATHS[: self.random("dirs", n).randint(1, 3)]
            for n, b in enumerate(self.ids)
        }
        lies_in: list[list[str | None]] = []
        held: Counter[tuple[int, str]] = Counter()
        for n, row in enumerate(self.rows):
            draws = self.random("lies in", n)
            lies = [
                None if draws.random() < 0.1 else draws.choice([*paths[b], PATHS[0]])
                for b in row
            ]
            lies_in.append(lies)
            for b, path in zip(row, lies, strict=True):
                held[b, path or PATHS[0]] += self.sizes[n]
        dirs = {
            b: [self._dir(b, path, held[b, path]) for path in paths[b]]
            for b in self.ids
        }
        return dirs, lies_in

    def _dir(self, broker: int, path: str, held: int) -> Dir:
        draws = self.random("dir", broker, path)
        is_broken = "offline" in self.kinds
        state = draws.choice(DIR_STATES) if is_broken else LogDirState.ONLINE
        if "unknown" in self.kinds and draws.random() < 0.3:
            return Dir(path, state=state)
        room = draws.choice([0.1, 0.6] if "tight" in self.kinds else [1, 2, 4])
        other = draws.choice([0, 0, 10])
        free = 20 + round(room * (held + 50))
        return Dir(path, held + other + free, free, state)

    def state(self) -> ClusterState:
        """Return the cluster."""
        in_sync = [self._in_sync(n, row) for n, row in enumerate(self.rows)]
        return make_state(
            self.lists,
            ids=self.ids,
            racks=self.racks,
            states=self.states,
            log_dirs=self.dirs,
            dirs=self.lies_in,
            isr=in_sync,
            leaders=[self._leader(n, isr) for n, isr in enumerate(in_sync)],
            min_isr=[self._min_isr(name) for name in self.names],
            storage=[self._storage(name) for name in self.names],
            topic_ids=[f"id-{name}" for name in self.names],
            **self._loads(),
            **self._capacities(),
            **self._reassigning(),
        )

    def _in_sync(self, n: int, row: list[int]) -> list[int]:
        draws = self.random("isr", n)
        live = [b for b in row if self.is_live(b)]
        if "behind" not in self.kinds:
            return live
        return [b for b in row if self.is_live(b) and draws.random() < 0.8]

    def _leader(self, n: int, in_sync: list[int]) -> int | None:
        draws = self.random("leader", n)
        if not in_sync or ("behind" in self.kinds and draws.random() < 0.1):
            return None
        return draws.choice([in_sync[0], in_sync[0], *in_sync])

    def _min_isr(self, name: str) -> int:
        draws = self.random("min isr", name)
        if "behind" in self.kinds:
            return draws.choice([1, 2, 3])
        return draws.choice([1, 1, min(2, self.factor)])

    def _storage(self, name: str) -> Storage:
        draws = self.random("storage", name)
        return draws.choice(list(Storage)) if "storage" in self.kinds else Storage.LOCAL

    def _loads(self) -> dict[str, Any]:
        count = range(len(self.rows))
        sizes = list(self.sizes)
        columns: dict[str, list[Any]] = {
            name: [float(self.random(name, n).choice([0, 3, 10, 30])) for n in count]
            for name in ("in_rate", "out_rate", "follower_cpu")
        }
        columns["leader_cpu"] = [2 * cores for cores in columns["follower_cpu"]]
        if "unknown" in self.kinds:
            for n in count:
                draws = self.random("unknown", n)
                for values in columns.values():
                    values[n] = np.nan if draws.random() < 0.2 else values[n]
                sizes[n] = UNKNOWN if draws.random() < 0.2 else sizes[n]
        own: list[list[int | None]] | None = None
        if "own-bytes" in self.kinds:
            own = [
                [self.random("own", n, b).choice([None, 0, 5, 90]) for b in row]
                for n, row in enumerate(self.rows)
            ]
        return {"size_bytes": sizes, "own_bytes": own, **columns}

    def _capacities(self) -> dict[str, Any]:
        if self.dirs:
            return {
                "disk_bytes": [
                    sum(d.size_bytes for d in self.dirs[b])
                    if all(d.size_bytes != UNKNOWN for d in self.dirs[b])
                    else UNKNOWN
                    for b in self.ids
                ]
            }
        if "capacities" not in self.kinds:
            return {}
        share = max(sum(map(len, self.rows)) / len(self.ids), 1)
        rooms = [1.0, 1.5] if "tight" in self.kinds else [3.0, 4.0, 6.0]

        def each(what: str, mean: float, absent: float) -> list[float]:
            values = []
            for n in range(len(self.ids)):
                draws = self.random(what, n)
                is_absent = "unknown" in self.kinds and draws.random() < 0.2
                room = draws.choice(rooms)
                values.append(absent if is_absent else round(mean * share * room + 9))
            return values

        return {
            "disk_bytes": each("disk", 30, UNKNOWN),
            "broker_in": each("in", 12, np.nan),
            "broker_out": each("out", 24, np.nan),
            "broker_cpu": each("cpu", 15, np.nan),
            "max_replicas": each("replicas", 1, UNKNOWN),
        }

    def _reassigning(self) -> dict[str, Any]:
        if "reassigning" not in self.kinds:
            return {}
        adding, removing = [], []
        for n, row in enumerate(self.rows):
            is_moving = len(row) > 1 and self.random("moving", n).random() < 0.3
            adding.append(row[-1:] if is_moving and len(row) % 2 else [])
            removing.append(row[-1:] if is_moving and not len(row) % 2 else [])
        return {"adding": adding, "removing": removing}
