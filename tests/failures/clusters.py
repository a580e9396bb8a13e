"""Clusters in any state of in-sync and eligible replicas, and losses of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from failures.kafka_controller import Registration
from placement.failures.controller_decision import ElectionRules
from placement.failures.controller_events import Loss
from placement.model.cluster import ABSENT, BrokerState, ClusterState, LogDirState
from support.clusters import Dir, make_state

PATHS = ("/d1", "/d2")


@dataclass(frozen=True)
class Case:
    """A cluster, what it loses in which order, and who may lead there."""

    state: ClusterState
    loss: Loss
    rules: ElectionRules


def loss_of(state: ClusterState, brokers: Any = (), log_dirs: Any = ()) -> Loss:
    """Return a loss of brokers by id and log dirs by (id, path), in this order."""
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    dirs = list(zip(owners, state.log_dirs.paths, strict=True))
    return Loss(
        broker_idx=state.brokers.rows_of(list(brokers)),
        log_dir_idx=np.array([dirs.index(pair) for pair in log_dirs], dtype=np.int32),
    )


@st.composite
def cases(draw: Any, *, is_settled: bool = False) -> Case:
    """
    Draw a small cluster, some of it down already, and a loss.

    `is_settled`: only what a controller leaves behind that never elects uncleanly; all
    of the ISR is live, and others are eligible only where it is too small.
    """
    ids = list(range(draw(st.integers(1, 5))))
    rows = [
        draw(st.permutations(ids))[: draw(st.integers(1, min(4, len(ids))))]
        for _ in range(draw(st.integers(1, 5)))
    ]
    down = [BrokerState.ALIVE] * 4 + [BrokerState.FENCED, BrokerState.DEMOTED]
    states = {b: draw(st.sampled_from(down)) for b in ids}
    live_ids = [b for b in ids if states[b] != BrokerState.FENCED]
    has_elr = draw(st.booleans())
    least = draw(st.integers(1, 3))
    members = [_draw_members(draw, row, live_ids, is_settled) for row in rows]
    elr = [
        [b for b in row if b not in isr and draw(st.booleans())]
        if has_elr and not (is_settled and len(isr) >= min(least, len(row)))
        else []
        for row, isr in zip(rows, members, strict=True)
    ]
    last = [
        [] if is_settled or not has_elr else draw(st.sets(st.sampled_from(row)))
        for row in rows
    ]
    serving = [[b for b in isr if b in live_ids] for isr in members]
    leaders = [draw(st.sampled_from(isr)) if isr else None for isr in serving]
    failed, adding = _draw_offline(draw, rows, members, live_ids, is_settled)
    state = make_state(
        {"a": rows[:2], "b": rows[2:]} if len(rows) > 2 else {"a": rows},
        ids=ids,
        racks=[draw(st.sampled_from("abc")) for _ in ids],
        states=states,
        log_dirs={b: [Dir(path) for path in PATHS] for b in ids},
        dirs=[[draw(st.sampled_from([None, *PATHS])) for _ in row] for row in rows],
        isr=members,
        elr=elr,
        last_known_elr=[list(each)[:2] for each in last],
        leaders=leaders,
        failed=failed,
        adding=adding,
        min_isr=least,
        **_draw_loads(draw, len(rows)),
    )
    brokers = draw(st.permutations(live_ids)) if live_ids else []
    dirs = [(b, path) for b in ids for path in PATHS]
    return Case(
        state=state,
        loss=loss_of(
            state,
            brokers[: draw(st.integers(0, len(brokers)))],
            draw(st.lists(st.sampled_from(dirs), max_size=2, unique=True)),
        ),
        rules=ElectionRules(
            has_elr=has_elr,
            is_unclean=None
            if is_settled
            else np.array([draw(st.booleans()) for _ in state.topics.names]),
        ),
    )


def _draw_offline(
    draw: Any,
    rows: list[list[int]],
    members: list[list[int]],
    live: list[int],
    is_settled: bool,
) -> tuple[list[list[int]], list[list[int]]]:
    """Draw replicas of live brokers that failed, and replicas still being added."""
    if not is_settled or not draw(st.booleans()):
        return [[] for _ in rows], [[] for _ in rows]
    failed = [
        [b for b in row if b in live and b not in isr and draw(st.booleans())]
        for row, isr in zip(rows, members, strict=True)
    ]
    return failed, [[b for b in row[1:] if not draw(st.integers(0, 3))] for row in rows]


def _draw_members(
    draw: Any, row: list[int], live: list[int], is_settled: bool
) -> list[int]:
    may = [b for b in row if b in live or not is_settled]
    return [b for b in may if draw(st.integers(0, 3))]


def _draw_loads(draw: Any, count: int) -> dict[str, Any]:
    rates = st.integers(0, 50).map(float)
    return {
        "size_bytes": [draw(st.integers(0, 50)) for _ in range(count)],
        "in_rate": [draw(rates) for _ in range(count)],
        "out_rate": [draw(rates) for _ in range(count)],
        "leader_cpu": 2.0,
        "follower_cpu": 1.0,
    }


def registration(state: ClusterState, partition: int) -> Registration:
    """Return a partition of the columns as the controller registers it."""
    rows = range(*state.replicas.start[partition : partition + 2].tolist())
    ids = state.brokers.ids[state.replicas.broker_idx].tolist()
    leader = int(state.partitions.leader_idx[partition])

    def flagged(flags: Any) -> tuple[int, ...]:
        return tuple(sorted(ids[row] for row in rows if flags[row]))

    return Registration(
        replicas=tuple(ids[row] for row in rows),
        isr=flagged(state.replicas.is_in_sync),
        elr=flagged(state.replicas.is_eligible),
        last_known_elr=flagged(state.replicas.is_last_known_eligible),
        leader=-1 if leader == ABSENT else int(state.brokers.ids[leader]),
    )


def registrations(state: ClusterState) -> list[Registration]:
    return [registration(state, p) for p in range(state.num_partitions)]


class NaiveCluster:
    """The same cluster as plain Python: which replicas may lead right now."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self.live = set(state.brokers.ids[state.brokers.is_live].tolist())
        serving = state.log_dirs.state != LogDirState.OFFLINE
        self.dirs = set(np.flatnonzero(serving).tolist())

    def dir_of(self, partition: int, broker: int) -> int:
        start, stop = self.state.replicas.start[partition : partition + 2].tolist()
        for row in range(start, stop):
            if self.state.brokers.ids[self.state.replicas.broker_idx[row]] == broker:
                return int(self.state.replicas.log_dir_idx[row])
        return ABSENT

    def alive(self, partition: int) -> list[int]:
        return [
            b
            for b in self.state.brokers_of(partition)
            if b in self.live and self.dir_of(partition, b) in {ABSENT, *self.dirs}
        ]
