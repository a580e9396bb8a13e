"""Draw a cluster and a request for it: any operation, any rules, whole or in waves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.grown import grown
from fuzz.options import broker_list, emptied_dirs, own_options, shared_options
from placement.model.cluster import ABSENT, ClusterState
from placement.operations.descriptor import OPERATIONS
from placement.operations.fix import Defect
from planner.options.declared.plan_options import OPTIONS
from planner.options.plan_request import PlanRequest
from support.clusters import clusters

SOFT = (
    ("rack",), ("capacity", "rack"), ("max-replicas", "host", "broker-set"),
    ("topics-apart", "topics-together"), ("topics-together", "capacity"),
    ("locality-scoped",), ("locality-scoped", "rack", "topics-apart"),
    ("max-moves", "max-cross-rack-bytes", "max-bytes"), ("rack", "max-moves"),
)  # fmt: skip
RULES = st.builds(
    dict,
    rack_rule=st.sampled_from([None, None, "strict", "off"]),
    keep_topics=st.sampled_from([None, None, "t1"]),
    keep_leaders=st.sampled_from([None, None, "t.*"]),
    locality_scoped=st.integers(0, 5).map(lambda n: n == 5),
    only_over_threshold=st.integers(0, 5).map(lambda n: n == 5),
    only_trades=st.integers(0, 5).map(lambda n: n == 5),
    host_capacity_threshold=st.sampled_from([(), ("disk=0.6", "in=0.7")]),
    low_utilization=st.sampled_from([(), ("disk=0.5",)]),
    max_replicas_per_broker=st.sampled_from([None, None, 3]),
    potential_out=st.booleans(),
    leader_in=st.booleans(),
    even_positions=st.booleans(),
    topics_apart=st.sampled_from([(), (), (), (), ("t0=t1|t2",), ("t0=t1", "t1=t2")]),
    topics_together=st.sampled_from([(), (), (), ("t0|t1",), ("t.*",)]),
    rack_map=st.sampled_from([(), (), ("a=b",)]),
    rules=st.sampled_from([None, None, "cruise-control"]),
    soft=st.sampled_from([*[()] * 12, *SOFT]),
    hard=st.sampled_from([*[()] * 14, ("bands",), ("band-leaders", "band-disk")]),
    spread_topics=st.sampled_from([None, "t0"]),
    spread_topic_leaders=st.sampled_from([None, None, "t.*", "t0|t9"]),
    spread_band=st.sampled_from([None, None, 0.1, 0.6]),
    spread_gap=st.sampled_from([None, None, "0-1", "1-1", "0-40"]),
    min_topic_leaders=st.sampled_from([(), ("t1=1",)]),
)
MAY_BE_HARD = (
    "spread_topic_leaders", "spread_topic_leaders", "spread_topics",
    "min_topic_leaders", "potential_out", "leader_in", "even_positions",
)  # fmt: skip
"""Goals that are hard now and then, of those that are asked for."""
SETS = (
    (), ("off",), (".*=gold",), ("t0=gold",), ("t0=gold", "t1=silver"), ("t1=",),
    (".*=",),
)  # fmt: skip
"""Of brokers that are in sets; else topics may go to those in none alone."""
NO_SETS = ((), (), ("off",), (".*=",))
NO_RULES = st.just({})
WILD = 12
"""One cluster in so many has values that are drawn one by one, whatever comes out."""
BROKEN = {
    Defect.OFFLINE: ("dead",),
    Defect.RACKS: ("crowded",),
    Defect.LOG_DIRS: ("log-dirs", "offline"),
    Defect.REPLICATION_FACTOR: ("mixed-factors",),
}
"""Trouble that `fix` mends."""


GOALS = tuple(OPERATIONS)
"""Whatever can be planned."""
RATES = st.sampled_from([None, None, "20", "60", "200"])
"""What a new topic is expected to carry."""


@dataclass(frozen=True)
class Drawn:
    """A cluster, and what is asked of it."""

    state: ClusterState
    request: PlanRequest

    def __repr__(self) -> str:
        told = [
            f"{name}={getattr(self.request.options, name)!r}"
            for name, declared in OPTIONS.items()
            if getattr(self.request.options, name) != declared.default
        ]
        told = [f"goal={self.request.goal!r}", *told]
        return f"Drawn({', '.join(told)}, state={self.state!r})"


@st.composite
def drawn(draw, goals: tuple[str, ...] = GOALS, effort: str = "quick") -> Drawn:
    """Draw a case of one of some operations."""
    goal = draw(st.sampled_from(goals)) if len(goals) > 1 else goals[0]
    defect = draw(st.sampled_from(Defect)) if goal == "fix" else None
    state = draw(_clusters(draw, goal, defect))
    state = _in_sets(draw, _on_hosts(draw, state))
    rules = draw(NO_RULES | RULES)
    if rules != {}:
        has_sets = bool(state.brokers.broker_sets)
        rules = {
            **rules,
            "broker_set": draw(st.sampled_from(SETS if has_sets else NO_SETS)),
            "hard": (*rules["hard"], *_hard_goal(draw, rules)),
        }
    if OPERATIONS[goal].creates_partitions:
        return _new(draw, goal, state, rules, effort)
    own = own_options(draw, goal, state, defect)
    is_cut = draw(st.booleans())
    caps = draw(st.tuples(*[st.integers(1, 3)] * 2)) if is_cut else (None, None)
    request = PlanRequest(
        goal=goal,
        effort=effort,
        broker_list=broker_list(draw, goal, state, own),
        topics=draw(st.sampled_from([None, None, None, None, "t0"])),
        exclude_topics=draw(st.sampled_from([None, None, None, None, "t1"])),
        exclude_brokers_for_replicas=draw(_few(state)),
        exclude_brokers_for_leaders=draw(_few(state)),
        rebalance=draw(st.integers(0, 3)) == 3,
        max_moves=draw(st.sampled_from([None, None, None, None, 1, 3])),
        max_cross_rack_bytes=draw(st.sampled_from([None] * 5 + ["0", "30", "90"])),
        transient_disk=draw(st.booleans()),
        waves=is_cut,
        max_moves_in=caps[0],
        max_moves_out=caps[1],
        with_log_dirs="with_log_dirs" in OPERATIONS[goal].options
        and _names_dirs(draw, state),
        order_followers=goal == "leaders" and draw(st.booleans()),
        empty=emptied_dirs(draw, state) if goal == "log-dirs" else (),
        **own,
        **rules,
        **shared_options(draw, goal, state),
    )
    return Drawn(state, request)


def _hard_goal(draw, rules: dict[str, Any]) -> tuple[str, ...]:
    """Return now and then a goal that is asked for, to be hard."""
    asked = [name for name in MAY_BE_HARD if rules.get(name)]
    if not asked or draw(st.integers(0, 4)) < 4:
        return ()
    return (draw(st.sampled_from(asked)).replace("_", "-"),)


def _names_dirs(draw, state: ClusterState) -> bool:
    """Choose log dirs of copies now and then, most often where there are some."""
    return draw(st.integers(0, 4)) >= (2 if len(state.log_dirs) else 4)


def _few(state: ClusterState):
    """Return now and then a broker."""
    ids = state.brokers.ids.tolist()
    return st.sampled_from([None, None, None, None, None, *map(str, ids)])


def _new(
    draw, goal: str, state: ClusterState, rules: dict[str, Any], effort: str
) -> Drawn:
    """Draw a topic that does not exist yet, or more partitions of one that does."""
    names = state.topics.names
    is_more = not OPERATIONS[goal].creates_topic and names
    topic = draw(st.sampled_from(names)) if is_more else "t9"
    shared = {
        **shared_options(draw, goal, state),
        "exclude_brokers_for_replicas": draw(_few(state)),
        "exclude_brokers_for_leaders": draw(_few(state)),
    }
    there = sum(names[t] == topic for t in state.partitions.topic_idx.tolist())
    factor = draw(st.integers(1, min(4, state.num_brokers)))
    count = draw(st.integers(1, 6))
    by_hand = None
    if draw(st.integers(0, 4)) == 4:
        by_hand = _by_hand(draw, state, topic, count, factor)
    is_whole = by_hand is not None and OPERATIONS[goal].creates_topic
    request = PlanRequest(
        goal=goal,
        effort=effort,
        topic=(topic,),
        partitions=None if is_whole else there + count,
        replication_factor=None if is_whole or is_more else factor,
        in_bytes_per_s=draw(RATES),
        out_bytes_per_s=draw(RATES),
        size_bytes=draw(RATES),
        replica_assignment=by_hand,
        **shared,
        **rules,
    )
    return Drawn(state, request)


def _by_hand(draw, state: ClusterState, topic: str, count: int, factor: int) -> str:
    """Return lists as Kafka's tool takes them: those that exist named as well."""
    ids, names = state.brokers.ids.tolist(), state.topics.names
    of = state.partitions.topic_idx.tolist()
    rows = [state.brokers_of(p) for p, t in enumerate(of) if names[t] == topic]
    factor = len(rows[0]) if rows else factor
    rows += [draw(st.permutations(ids))[:factor] for _ in range(count)]
    return ",".join(":".join(map(str, row)) for row in rows)


def _on_hosts(draw, state: ClusterState) -> ClusterState:
    """Let some brokers share a host."""
    count = len(state.brokers)
    names = draw(st.sampled_from([None, ("h",), ("h", "i", "j")]))
    if names is None:
        return state
    rows = np.arange(count, dtype=np.int32) % len(names)
    return state.with_brokers(hosts=names, host_idx=rows)


def _in_sets(draw, state: ClusterState) -> ClusterState:
    """Put some brokers in sets, now and then."""
    if draw(st.integers(0, 3)) != 3:
        return state
    # Most are in the first set, so that replicas have somewhere to go.
    pattern = np.array([0, 0, 1, 0, ABSENT, 0, 1], dtype=np.int32)
    rows = np.resize(pattern, len(state.brokers)).astype(np.int32)
    return state.with_brokers(broker_sets=("gold", "silver"), broker_set_idx=rows)


def _clusters(draw, goal: str, defect: Defect | None):
    """Return clusters in which an operation has something to do."""
    if draw(st.integers(1, WILD)) == WILD:
        return clusters(min_brokers=2, reassigning=draw(st.booleans()))
    if goal in {"add-brokers", "replace-broker"}:
        return grown(num_new=draw(st.integers(1, 2)))
    if goal == "log-dirs" or (goal == "demote" and draw(st.booleans())):
        return grown(with_=("log-dirs",))
    return grown(with_=BROKEN[defect]) if defect else grown()
