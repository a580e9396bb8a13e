"""Reassignments of small clusters, and their waves as files would have them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from placement.change import Reassignment
from placement.check.finding import Finding
from placement.check.waves import WaveLimits, check_waves
from placement.cluster import BrokerState, ClusterState
from placement.load import weigh
from placement.waves.cut import Cut, WaveSettings, cut
from placement.waves.steps import Step, steps_of
from support.clusters import make_state


def reassignment_to(
    state: ClusterState, lists: Sequence[Sequence[int]]
) -> Reassignment:
    """Return the change to other lists; a new broker takes the place of one gone."""
    brokers, origins = [], []
    for p, new in enumerate(lists):
        start = int(state.replicas.start[p])
        old = state.brokers_of(p)
        gone = iter([b for b in old if b not in new])
        for broker in new:
            brokers.append(broker)
            kept = old.index(broker) if broker in old else old.index(next(gone))
            origins.append(start + kept)
    return Reassignment(
        before=state,
        broker_idx=state.brokers.rows_of(brokers),
        origin=np.array(origins, dtype=np.int64),
    )


@st.composite
def reassignments(
    draw: Any, *, most_partitions: int = 12, most_dead: int = 0
) -> Reassignment:
    """
    Draw lists and where they are to go, racks spread as far as there are some.

    The last brokers, up to `most_dead`, are dead: what lies there goes elsewhere,
    where a live replica is left to be copied from.
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
    after = [
        _draw_list(draw, racks[:live], factor)
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
        leaders=[draw(st.sampled_from(row)) if row else None for row in serving],
        size_bytes=[draw(st.integers(0, 100)) for _ in before],
        min_isr=draw(st.integers(1, factor)),
    )
    return reassignment_to(state, after)


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
    start = reassignment.before.replicas.start
    changed = np.nonzero(reassignment.is_changed)[0].tolist()
    return as_lists(
        found,
        {p: reassignment.broker_idx[start[p] : start[p + 1]].tolist() for p in changed},
    )


def judge(found: Cut, steps: Sequence[Step] | None = None) -> tuple[Finding, ...]:
    """Return what the independent checker says of the waves."""
    steps = list(steps_of(found)) if steps is None else steps
    settings = found.settings
    limits = WaveLimits(
        max_in=settings.max_in,
        max_out=settings.max_out,
        max_shared=settings.max_shared,
        disk_threshold=next(iter(settings.thresholds.values()), 1.0),
    )
    return check_waves(
        found.reassignment.before,
        [as_lists(found, step.after) for step in steps],
        final_lists(found),
        limits,
    )
