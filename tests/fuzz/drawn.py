"""Draw a cluster and a wish for it: any operation, any rules, whole or in waves."""

from dataclasses import dataclass, fields

import numpy as np
from hypothesis import strategies as st

from fuzz.grown import grown
from placement.cluster import BrokerState, ClusterState
from placement.operations import Defect
from planner.plan.make import OPERATIONS
from planner.plan.own_options import OwnOptions
from planner.plan.request import PlanRequest
from planner.plan.rule_request import RuleRequest
from support.clusters import clusters

SOFT = (("rack",), ("capacity", "rack"), ("max-replicas", "host", "broker-set"))
RULES = st.builds(
    RuleRequest,
    rack_rule=st.sampled_from([None, None, "strict", "off"]),
    keep_topics=st.sampled_from([None, None, "t1"]),
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
    broker_set=st.sampled_from([(), (), (".*=",)]),
    rack_map=st.sampled_from([(), (), ("a=b",)]),
    rules=st.sampled_from([None, None, "cruise-control"]),
    soft=st.sampled_from([*[()] * 12, *SOFT]),
    hard=st.sampled_from([*[()] * 14, ("bands",), ("band-leaders", "band-disk")]),
    spread_topics=st.sampled_from([None, "t0"]),
    min_topic_leaders=st.sampled_from([(), ("t1=1",)]),
)
NO_RULES = st.just(RuleRequest())
NAME_LOG_DIRS = {"rebalance", "add-brokers", "remove-brokers"}
"""Operations that may choose the log dirs of copies as well."""
WILD = 12
"""One cluster in so many has values that are drawn one by one, whatever comes out."""
BROKEN = {
    Defect.OFFLINE: ("dead",),
    Defect.RACKS: ("crowded",),
    Defect.LOG_DIRS: ("log-dirs", "offline"),
    Defect.REPLICATION_FACTOR: ("mixed-factors",),
}
"""Trouble that `fix` mends."""


@dataclass(frozen=True)
class Drawn:
    """A cluster, and what is wished for it."""

    state: ClusterState
    request: PlanRequest

    def __repr__(self) -> str:
        told = [
            f"{one.name}={getattr(self.request, one.name)!r}"
            for one in fields(self.request)
            if getattr(self.request, one.name) != one.default
        ]
        return f"Drawn({', '.join(told)}, state={self.state!r})"


@st.composite
def drawn(draw, goals: tuple[str, ...] = tuple(OPERATIONS)) -> Drawn:
    """Draw a case of one of some operations."""
    goal = draw(st.sampled_from(goals)) if len(goals) > 1 else goals[0]
    defect = draw(st.sampled_from(Defect)) if goal == "fix" else None
    state = draw(_clusters(draw, goal, defect))
    ids = state.brokers.ids.tolist()
    few = st.sampled_from([None, None, None, None, None, *map(str, ids)])
    is_cut = draw(st.booleans())
    caps = draw(st.tuples(*[st.integers(1, 3)] * 2)) if is_cut else (None, None)
    request = PlanRequest(
        goal=goal,
        effort="quick",
        broker_list=_broker_list(draw, goal, state),
        topics=draw(st.sampled_from([None, None, None, None, "t0"])),
        exclude_topics=draw(st.sampled_from([None, None, None, None, "t1"])),
        exclude_brokers_for_replicas=draw(few),
        exclude_brokers_for_leaders=draw(few),
        rebalance=draw(st.integers(0, 3)) == 3,
        max_moves=draw(st.sampled_from([None, None, None, None, 1, 3])),
        max_cross_rack_bytes=draw(st.sampled_from([None] * 5 + ["0", "30", "90"])),
        transient_disk=draw(st.booleans()),
        waves=is_cut,
        max_moves_in=caps[0],
        max_moves_out=caps[1],
        with_log_dirs=goal in NAME_LOG_DIRS and draw(st.integers(0, 4)) == 4,
        own=_own(draw, goal, state, defect),
        rules=draw(NO_RULES | RULES),
    )
    return Drawn(_on_hosts(draw, state), request)


def _on_hosts(draw, state: ClusterState) -> ClusterState:
    """Let some brokers share a host."""
    count = len(state.brokers)
    names = draw(st.sampled_from([None, ("h",), ("h", "i", "j")]))
    if names is None:
        return state
    rows = np.arange(count, dtype=np.int32) % len(names)
    return state.with_brokers(hosts=names, host_idx=rows)


def _clusters(draw, goal: str, defect: Defect | None):
    """Return clusters in which an operation has something to do."""
    if draw(st.integers(1, WILD)) == WILD:
        return clusters(min_brokers=2, reassigning=draw(st.booleans()))
    if goal in {"add-brokers", "replace-broker"}:
        return grown(num_new=draw(st.integers(1, 2)))
    if goal == "log-dirs":
        return grown(with_=("log-dirs",))
    return grown(with_=BROKEN[defect]) if defect else grown()


def words(ids: set[int]) -> str:
    """Return broker ids as an option takes them."""
    return ",".join(map(str, sorted(ids)))


def _broker_list(draw, goal: str, state: ClusterState) -> str | None:
    ids = state.brokers.ids.tolist()
    if goal in {"remove-brokers", "demote"}:
        return words(draw(_some(_with_load(state, goal))))
    if goal != "add-brokers":
        return None
    new = state.brokers.ids[state.brokers.state == BrokerState.NEW].tolist()
    is_told = not new or draw(st.integers(0, 4)) == 4
    return words(draw(_some(new or ids))) if is_told else None


def _some(ids: list[int]):
    """Return sets of one of some brokers, or now and then of two."""
    one = st.sampled_from(ids).map(lambda b: {b})
    return one | one | st.sets(st.sampled_from(ids), min_size=1, max_size=2)


def _with_load(state: ClusterState, goal: str) -> list[int]:
    """Return the brokers that hold something, or lead something; else all."""
    rows = state.replicas.broker_idx
    if goal == "demote":
        rows = state.partitions.leader_idx
    busy = sorted({b for b in rows.tolist() if b >= 0})
    return state.brokers.ids[busy].tolist() or state.brokers.ids.tolist()


def _own(draw, goal: str, state: ClusterState, defect: Defect | None) -> OwnOptions:
    ids = state.brokers.ids.tolist()
    if goal == "replace-broker":
        old = draw(st.sampled_from(_with_load(state, goal)))
        # The last one is new, if any is.
        others = [b for b in ids if b != old]
        new = draw(st.sampled_from([*[others[-1]] * 4, *others]))
        return OwnOptions(broker=(str(old),), with_broker=(str(new),))
    if goal == "set-replication-factor":
        return OwnOptions(replication_factor=draw(_factors(state)))
    if goal == "fix":
        is_alone = draw(st.booleans())
        return OwnOptions(only=(defect,) if is_alone and defect else ())
    return OwnOptions()


def _factors(state: ClusterState):
    """Return factors that are not those of all partitions already."""
    there = set(state.num_replicas.tolist())
    least = int(state.topics.min_insync_replicas.max(initial=1))
    most = min(4, state.num_brokers)
    wanted = [n for n in range(1, most + 1) if there != {n}]
    # Below min.insync.replicas it is refused.
    return st.sampled_from([n for n in wanted if n >= least] or wanted or [1])
