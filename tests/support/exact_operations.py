"""
Exact models of operations on clusters, for `support.exact_model`.

What an operation may do is enumerated list by list from its page in docs/, and what a
list puts on the brokers is counted from docs/theory.md.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from math import ceil, floor, isnan
from typing import Any

import numpy as np

from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, Resource
from support.exact_model import ANY, ExactModel, Place, Way
from support.naive import naive_kappa

Lists = list[list[int]]
THRESHOLDS = {"disk": 0.8, "in": 0.8, "out": 0.8, "cpu": 0.7}
COUNT = len(RESOURCES)


def replica_lists(state: ClusterState) -> Lists:
    """Rows of the brokers of every partition, in the order of the list."""
    start = state.replicas.start.tolist()
    rows = state.replicas.broker_idx.tolist()
    return [rows[a:b] for a, b in pairwise(start)]


def load_of(
    state: ClusterState, partition: int, brokers: Sequence[int]
) -> dict[Place, int]:
    """Integer loads of one list: the first broker leads."""
    columns, factor = state.partitions, len(brokers)
    size = max(int(columns.size_bytes[partition]), 0)
    rate_in = float(columns.in_bytes_per_s[partition])
    served = float(columns.out_bytes_per_s[partition])
    if factor > 1:
        # Unknown if the rate that followers fetch is.
        served += (factor - 1) * rate_in
    led = float(columns.leader_cpu_cores[partition])
    followed = float(columns.follower_cpu_cores[partition])
    load: Counter[tuple[int, int]] = Counter()
    for place, broker in enumerate(brokers):
        leads = place == 0
        each = {
            "disk": size,
            "in": _units(rate_in, 1000),
            "out": _units(served, 1000) if leads else 0,
            "cpu": _units(led if leads else followed, 10**9),
            "replicas": 1,
            "leaders": int(leads),
        }
        for r, resource in enumerate(RESOURCES):
            load[broker, r] += each[resource]
    return dict(load)


def _units(rate: float, unit: int) -> int:
    return 0 if isnan(rate) else ceil(rate * unit * (1 - 1e-12))


def capacities(state: ClusterState) -> Any:
    """``(B, R)`` hard capacities of the brokers by the default thresholds."""
    brokers = state.brokers
    known = {
        "disk": (brokers.disk_bytes, 1),
        "in": (brokers.in_bytes_per_s, 1000),
        "out": (brokers.out_bytes_per_s, 1000),
        "cpu": (brokers.cpu_cores, 10**9),
    }
    found = np.full((len(brokers), COUNT), ANY, dtype=np.int64)
    for r, resource in enumerate(RESOURCES):
        if resource not in known:
            continue
        column, unit = known[resource]
        for b, value in enumerate(column.tolist()):
            if value == value and value >= 0:
                most = value * unit * THRESHOLDS[resource]
                found[b, r] = floor(most * (1 + 1e-9))
    for b, most in enumerate(brokers.max_replicas.tolist()):
        if most >= 0:
            found[b, RESOURCES.index(Resource.REPLICAS)] = most
    return found


def keeps_racks(state: ClusterState, brokers: Sequence[int], stays: set[int]) -> bool:
    """Both halves of the rack rule, for brokers that stay."""
    rack = state.brokers.rack_idx.tolist()
    width = Counter(rack[b] for b in stays)
    held = Counter(rack[b] for b in brokers)
    if max(held.values()) > naive_kappa(len(brokers), width):
        return False
    free = {rack[b] for b in stays - set(brokers)}
    return not any(held[full] >= held[other] + 2 for full in held for other in free)


def led_by(row: Sequence[int], leader: int) -> list[int]:
    """The list with another broker first."""
    return [leader, *(b for b in row if b != leader)]


def removals(state: ClusterState, leaving: set[int]) -> list[list[list[int]]]:
    """
    Every list that `remove-brokers` may make of each list.

    Replicas on the brokers that leave go anywhere else; any replica may lead.
    """
    stays = set(range(state.num_brokers)) - leaving
    found = []
    for row in replica_lists(state):
        gone = [b for b in row if b in leaving]
        kept = [b for b in row if b not in leaving]
        found.append(
            [
                led_by([*kept, *new], leader)
                for new in combinations(sorted(stays - set(kept)), len(gone))
                for leader in [*kept, *new]
                if not gone or keeps_racks(state, [*kept, *new], stays)
            ]
        )
    return found


def additions(state: ClusterState, factors: Sequence[int]) -> list[list[list[int]]]:
    """Every longer list: nothing that exists moves, and the leader stays."""
    stays = set(range(state.num_brokers))
    return [
        [
            [*row, *new]
            for new in combinations(sorted(stays - set(row)), factor - len(row))
            if keeps_racks(state, [*row, *new], stays) or factor == len(row)
        ]
        for row, factor in zip(replica_lists(state), factors, strict=True)
    ]


def drops(state: ClusterState, factor: int) -> list[list[list[int]]]:
    """Every shorter list: copies go one by one from a rack that holds most."""
    rack = state.brokers.rack_idx.tolist()

    def without_one(row: tuple[int, ...]) -> list[tuple[int, ...]]:
        held = Counter(rack[b] for b in row)
        most = max(held.values())
        return [
            tuple(b for b in row if b != gone)
            for gone in row
            if held[rack[gone]] == most
        ]

    found = []
    for row in replica_lists(state):
        kept = {tuple(row)}
        for _ in range(len(row) - factor):
            kept = {shorter for one in kept for shorter in without_one(one)}
        found.append([list(one) for one in sorted(kept)])
    return found


def anywhere(state: ClusterState, factor: int) -> list[list[int]]:
    """Every list of a new partition; followers in any order count once."""
    stays = set(range(state.num_brokers))
    return [
        led_by(chosen, leader)
        for chosen in combinations(sorted(stays), factor)
        for leader in chosen
        if keeps_racks(state, chosen, stays)
    ]


def model_of(
    state: ClusterState,
    lists: Sequence[Sequence[Sequence[int]]],
    bands: tuple[Any, Any, Any],
    **caps: int,
) -> ExactModel:
    """
    Return the model of lists to choose from.

    Parameters
    ----------
    state
        The cluster before; its partitions are those of the lists.
    lists
        Lists to choose from for each partition.
    bands
        ``(B, R)`` lower ends, upper ends and targets; 0 where there is no band.
    caps
        `max_cost` and `max_moves`.
    """
    lower, upper, target = bands
    before = replica_lists(state)
    ways = []
    for p, choices in enumerate(lists):
        size = max(int(state.partitions.size_bytes[p]), 0)
        ways.append([_way(state, p, before[p], row, size) for row in choices])
    return ExactModel(
        ways=ways,
        fixed=np.zeros((state.num_brokers, COUNT), dtype=np.int64),
        capacity=capacities(state),
        lower=np.ceil(lower - 1e-9 * np.maximum(target, 1)),
        upper=np.floor(upper + 1e-9 * np.maximum(target, 1)),
        target=target,
        **caps,
    )


def with_topics_spread(
    exact: ExactModel, state: ClusterState, lists: Lists, shares: tuple[Any, Any]
) -> ExactModel:
    """
    Return the model in which no broker gets more of a topic than its share.

    Parameters
    ----------
    exact
        Model of one list or several lists for each partition.
    state, lists
        The cluster, and the lists of a plan: what it has on a broker is no more than
        allowed.
    shares
        ``(B,)`` parts of all replicas, and of all leaders, of each broker.
    """
    topic = state.partitions.topic_idx.tolist()
    names = sorted(set(topic))
    most = np.zeros((state.num_brokers, 2 * len(names)), dtype=np.int64)
    for t in names:
        rows = [row for row, of in zip(lists, topic, strict=True) if of == t]
        for led, part in enumerate(shares):
            held = Counter(b for row in rows for b in (row[:1] if led else row))
            total = sum(held.values())
            for b in range(state.num_brokers):
                fair = ceil(float(part[b]) * total - 1e-9)
                most[b, 2 * t + led] = max(held[b], fair)
    ways = [
        [replace(way, load=_with_topic(way.load, t)) for way in group]
        for group, t in zip(exact.ways, topic, strict=True)
    ]
    wide = {
        name: np.concatenate([getattr(exact, name), np.zeros_like(most)], axis=1)
        for name in ("fixed", "lower", "upper", "target")
    }
    capacity = np.concatenate([exact.capacity, most], axis=1)
    return replace(exact, ways=ways, capacity=capacity, **wide)


def _with_topic(load: Mapping[Place, int], topic: int) -> dict[Place, int]:
    counts = RESOURCES.index(Resource.REPLICAS), RESOURCES.index(Resource.LEADERS)
    more = {
        (b, COUNT + 2 * topic + counts.index(r)): value
        for (b, r), value in load.items()
        if r in counts
    }
    return {**load, **more}


def _way(
    state: ClusterState, p: int, before: list[int], row: Sequence[int], size: int
) -> Way:
    new = set(row) - set(before)
    return Way(
        load=load_of(state, p, row),
        cost=size * len(new),
        moves=len(new),
        changes=int(_is_handed_on(before, row)),
    )


def _is_handed_on(before: list[int], row: Sequence[int]) -> bool:
    """Whether another replica leads; a leader that moves leads on where it goes."""
    if not before or row[0] == before[0]:
        return False
    return before[0] in row or row[0] in before


def chosen_of(
    lists: Sequence[Sequence[Sequence[int]]], found: Sequence[Sequence[int]]
) -> list[int]:
    """
    Return which of the lists a plan has, the order of followers apart.

    Raises
    ------
    ValueError
        If a planned list is none of those.
    """
    keyed = [[(row[0], sorted(row)) for row in choices] for choices in lists]
    return [
        of.index((row[0], sorted(row))) for of, row in zip(keyed, found, strict=True)
    ]


def in_log_dirs(
    state: ClusterState, emptied: set[int], bands: tuple[Any, Any, Any], **caps: int
) -> ExactModel:
    """
    Return the model of `log-dirs`: replicas on log dirs of their broker.

    Parameters
    ----------
    state
        A cluster in which every log dir is online and every replica's is known.
    emptied
        Rows of the log dirs to empty.
    bands
        ``(D,)`` lower ends, upper ends and targets of the log dirs.
    caps
        `max_cost` and `max_moves`.
    """
    dirs, lower, upper, target = state.log_dirs, *bands
    owner = dirs.broker_idx.tolist()
    homes = state.replicas.log_dir_idx.tolist()
    brokers = state.replicas.broker_idx.tolist()
    of = state.replicas.partition_idx.tolist()
    sizes = [max(int(size), 0) for size in state.partitions.size_bytes.tolist()]
    ways = [
        [
            Way({(d, 0): sizes[p]}, sizes[p] * (d != home), int(d != home))
            for d in range(len(dirs))
            if owner[d] == broker and d not in emptied
        ]
        for home, broker, p in zip(homes, brokers, of, strict=True)
    ]
    used = [sum(sizes[p] for home, p in zip(homes, of, strict=True) if home == d)
            for d in range(len(dirs))]  # fmt: skip
    taken = [
        max(int(size) - int(free) - held, 0) if size >= 0 and free >= 0 else 0
        for size, free, held in zip(
            dirs.size_bytes.tolist(), dirs.usable_bytes.tolist(), used, strict=True
        )
    ]
    most = [
        floor(size * THRESHOLDS["disk"] * (1 + 1e-9))
        if size >= 0 and d not in emptied
        else ANY
        for d, size in enumerate(dirs.size_bytes.tolist())
    ]
    slack = 1e-9 * np.maximum(target, 1)
    return ExactModel(
        ways=ways,
        fixed=np.array(taken, dtype=np.int64)[:, None],
        capacity=np.array(most, dtype=np.int64)[:, None],
        lower=np.ceil(lower - slack)[:, None],
        upper=np.floor(upper + slack)[:, None],
        target=target[:, None],
        **caps,
    )


def dirs_chosen(
    state: ClusterState, emptied: set[int], found: Sequence[int]
) -> list[int]:
    """Return which way of `in_log_dirs` each replica has; `found`: rows of log dirs."""
    owner = state.log_dirs.broker_idx.tolist()
    brokers = state.replicas.broker_idx.tolist()
    return [
        [d for d in range(len(owner)) if owner[d] == broker and d not in emptied].index(
            here
        )
        for broker, here in zip(brokers, found, strict=True)
    ]
