"""Reassignments of small clusters, and their waves as files would have them."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from hypothesis import strategies as st

from placement.check.case.finding import Finding
from placement.check.waves.throttle_lists import WaveProperties
from placement.check.waves.wave_checker import check_waves
from placement.check.waves.wave_limits import WaveDirs, WaveLimits
from placement.model.cluster import ABSENT, BrokerState, ClusterState
from placement.model.load import Resource, weigh
from placement.model.reassignment import Reassignment
from placement.waves.wave_cut import Cut, cut
from placement.waves.wave_files import Step, steps_of
from placement.waves.wave_settings import WaveSettings
from support.clusters import Dir, make_state

PATHS = ("/d1", "/d2")


def reassignment_to(
    state: ClusterState,
    lists: Sequence[Sequence[int]],
    dirs: Sequence[Sequence[str | None]] | None = None,
) -> Reassignment:
    """
    Return the change to other lists, and log dirs.

    A new broker takes the place of one gone; of a longer list the last ones take
    nobody's, and of a shorter one what is gone and not replaced is dropped.
    """
    brokers, origins = [], []
    for p, new in enumerate(lists):
        start = int(state.replicas.start[p])
        old = state.brokers_of(p)
        gone = iter([b for b in old if b not in new])
        for broker in new:
            brokers.append(broker)
            replaced = broker if broker in old else next(gone, None)
            kept = ABSENT if replaced is None else start + old.index(replaced)
            origins.append(kept)
    start = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    is_same = np.array_equal(start, state.replicas.start)
    return Reassignment(
        before=state,
        broker_idx=state.brokers.rows_of(brokers),
        origin=np.array(origins, dtype=np.int64),
        target_start=None if is_same else start,
        log_dir_idx=None if dirs is None else _dir_rows(state, lists, dirs),
    )


def _dir_rows(state: ClusterState, lists: Any, dirs: Any) -> Any:
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    keys = zip(owners, state.log_dirs.paths, strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    pairs = zip(chain(*lists), chain(*dirs), strict=True)
    rows = [ABSENT if path is None else row_of[b, path] for b, path in pairs]
    return np.array(rows, dtype=np.int32)


@st.composite
def reassignments(
    draw: Any,
    *,
    most_partitions: int = 12,
    most_dead: int = 0,
    resizes: bool = False,
    has_dirs: bool = False,
    may_be_unled: bool = False,
    has_rates: bool = False,
) -> Reassignment:
    """
    Draw lists and where they are to go, racks spread as far as there are some.

    The last brokers, up to `most_dead`, are dead: what lies there goes elsewhere,
    where a live replica is left to be copied from. `resizes`: lists may become longer
    or shorter. `has_dirs`: brokers have two log dirs, and plans name some.
    `may_be_unled`: replicas may be out of sync, and nobody need lead. `has_rates`: what
    passes is known, and here and there what networks may carry.
    """
    num_brokers = draw(st.integers(2, 7))
    num_dead = draw(st.integers(0, min(most_dead, num_brokers // 2)))
    live = num_brokers - num_dead
    num_racks = draw(st.integers(1, 4))
    racks = "".join("abcd"[b % num_racks] for b in range(num_brokers))
    factor = draw(st.integers(1, min(3, live)))
    count = draw(st.integers(1, most_partitions))
    before = [_draw_list(draw, racks, factor) for _ in range(count)]
    serving = [[b for b in row if b < live] for row in before]
    factors = st.integers(1, min(3, live)) if resizes else st.just(factor)
    after = [
        _draw_list(draw, racks[:live], draw(factors))
        if is_left and (draw(st.integers(0, 3)) or max(row) >= live)
        else row
        for row, is_left in zip(before, serving, strict=True)
    ]
    internal = draw(st.integers(0, count - 1))
    state = make_state(
        {"__consumer_offsets": before[:internal], "t": before[internal:]}
        if internal
        else {"t": before},
        racks=racks,
        states=dict.fromkeys(range(live, num_brokers), BrokerState.DEAD),
        **_draw_leaders(draw, serving, may_be_unled=may_be_unled),
        size_bytes=[draw(st.integers(0, 100)) for _ in before],
        min_isr=draw(st.integers(1, factor)),
        **(_draw_dirs(draw, before, num_brokers) if has_dirs else {}),
        **(_draw_rates(draw, count, num_brokers) if has_rates else {}),
    )
    if not has_dirs:
        return reassignment_to(state, after)
    paths = st.sampled_from([None, *PATHS])
    return reassignment_to(state, after, [[draw(paths) for _ in row] for row in after])


def _draw_leaders(
    draw: Any, serving: list[list[int]], *, may_be_unled: bool
) -> dict[str, Any]:
    """Draw who of the live ones leads, and who is in sync."""
    if not may_be_unled:
        leaders = [draw(st.sampled_from(row)) if row else None for row in serving]
        return {"leaders": leaders}
    in_sync = [[b for b in row if draw(st.booleans())] for row in serving]
    leaders = [draw(st.sampled_from([None, *row])) for row in in_sync]
    return {"leaders": leaders, "isr": in_sync}


def _draw_dirs(draw: Any, lists: list[list[int]], num_brokers: int) -> dict[str, Any]:
    """Draw log dirs of all brokers, what is free of them, and where replicas lie."""
    size = 100 * len(lists)
    return {
        "log_dirs": {
            b: [Dir(path, 2 * size, draw(st.integers(0, 2 * size))) for path in PATHS]
            for b in range(num_brokers)
        },
        "dirs": [[draw(st.sampled_from([None, *PATHS])) for _ in row] for row in lists],
    }


def _draw_rates(draw: Any, count: int, num_brokers: int) -> dict[str, Any]:
    """Draw what is written and read, and what networks and disks may carry."""
    rates = st.sampled_from([0.0, 1.0, 5.0, 20.0, np.nan])
    networks = st.sampled_from([np.nan, 10.0, 60.0, 200.0, 1000.0])
    return {
        "in_rate": [draw(rates) for _ in range(count)],
        "out_rate": [draw(rates) for _ in range(count)],
        "broker_in": [draw(networks) for _ in range(num_brokers)],
        "broker_out": [draw(networks) for _ in range(num_brokers)],
    }


def _draw_list(draw: Any, racks: str, factor: int) -> list[int]:
    """Draw a list that is spread over racks as evenly as it can be."""
    order = draw(st.permutations(range(len(racks))))
    chosen: list[int] = []
    used: dict[str, int] = {}
    for _ in range(factor):
        rest = [b for b in order if b not in chosen]
        best = min(rest, key=lambda b: used.get(racks[b], 0))
        used[racks[best]] = used.get(racks[best], 0) + 1
        chosen.append(best)
    return draw(st.permutations(chosen))


def cut_up(reassignment: Reassignment, settings: WaveSettings | None = None) -> Cut:
    return cut(reassignment, weigh(reassignment.before), settings)


def as_lists(found: Cut, lists: Mapping[int, list[int]]) -> dict[tuple[str, int], list]:
    state = found.reassignment.before
    return {
        (
            state.topics.names[state.partitions.topic_idx[p]],
            int(state.partitions.partition[p]),
        ): state.brokers.ids[row].tolist()
        for p, row in lists.items()
    }


def final_lists(found: Cut) -> dict[tuple[str, int], list]:
    reassignment = found.reassignment
    start = reassignment.start
    changed = np.nonzero(reassignment.is_changed)[0].tolist()
    return as_lists(
        found,
        {p: reassignment.broker_idx[start[p] : start[p + 1]].tolist() for p in changed},
    )


def dirs_by_name(found: Cut, lists: Mapping[Any, list[int]], rows: Any) -> dict:
    """Return the log dirs that some copies go to, as files have them."""
    state, copies = found.reassignment.before, found.copies
    named: dict[tuple[tuple[str, int], int], str] = {}
    for row in np.asarray(rows).tolist():
        if copies.target_dir[row] != ABSENT:
            p = int(copies.partition_idx[row])
            topic = state.topics.names[state.partitions.topic_idx[p]]
            key = topic, int(state.partitions.partition[p])
            broker = int(state.brokers.ids[copies.target_idx[row]])
            named[key, broker] = state.log_dirs.paths[copies.target_dir[row]]
    return {key: [named.get((key, b)) for b in row] for key, row in lists.items()}


def judge(
    found: Cut, steps: Sequence[Step] | None = None, *, faster: float = 1.0
) -> tuple[Finding, ...]:
    """Return what the independent checker says of the waves, or of faster ones."""
    steps = list(steps_of(found)) if steps is None else steps
    settings = found.settings
    limits = WaveLimits(
        max_in=settings.max_in,
        max_out=settings.max_out,
        max_shared=settings.max_shared,
        max_per_partition=settings.max_per_partition,
        disk_threshold=settings.thresholds.get(Resource.DISK, 1.0),
        bandwidth_bytes_per_s=settings.bandwidth_bytes_per_s,
        in_threshold=settings.thresholds.get(Resource.IN, 1.0),
        out_threshold=settings.thresholds.get(Resource.OUT, 1.0),
    )
    lists = [as_lists(found, step.after) for step in steps]
    final = final_lists(found)
    every = np.nonzero(~found.copies.is_drop)[0]
    dirs = [
        dirs_by_name(found, rows, step.copies)
        for rows, step in zip(lists, steps, strict=True)
    ]
    return check_waves(
        found.reassignment.before,
        lists,
        final,
        limits,
        WaveDirs(waves=dirs, final=dirs_by_name(found, final, every)),
        [
            WaveProperties(
                bytes_per_s=faster * float(found.paces.bytes_per_s[step.number - 1])
            )
            if step.has_copies
            else WaveProperties()
            for step in steps
        ],
    )
