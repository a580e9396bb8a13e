"""Draw a cluster and a wish for it: any operation, any rules, whole or in waves."""

from dataclasses import dataclass, fields

from hypothesis import strategies as st

from placement.cluster import BrokerState, ClusterState
from placement.operations import Defect
from planner.plan.make import OPERATIONS
from planner.plan.own_options import OwnOptions
from planner.plan.request import PlanRequest
from planner.plan.rule_request import RuleRequest
from support.clusters import clusters

RULES = st.builds(
    RuleRequest,
    rack_rule=st.sampled_from([None, None, "strict", "off"]),
    keep_topics=st.sampled_from([None, None, "t1"]),
    locality_scoped=st.integers(0, 5).map(lambda n: n == 5),
    only_over_threshold=st.integers(0, 5).map(lambda n: n == 5),
    only_trades=st.integers(0, 5).map(lambda n: n == 5),
    low_utilization=st.sampled_from([(), ("disk=0.5",)]),
    max_replicas_per_broker=st.sampled_from([None, None, 3]),
    potential_out=st.booleans(),
    leader_in=st.booleans(),
    broker_set=st.sampled_from([(), (), (".*=",)]),
    rack_map=st.sampled_from([(), (), ("a=b",)]),
    rules=st.sampled_from([None, None, "cruise-control"]),
    spread_topics=st.sampled_from([None, "t0"]),
    min_topic_leaders=st.sampled_from([(), ("t1=1",)]),
)
NO_RULES = st.just(RuleRequest())
WITHOUT_WAVES = {"log-dirs", "set-replication-factor"}
"""Operations that move inside brokers, or change replication factors."""


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
    state = draw(clusters(min_brokers=2, reassigning=draw(st.booleans())))
    goal = draw(st.sampled_from(goals))
    ids = state.brokers.ids.tolist()
    some = st.sets(st.sampled_from(ids), min_size=1, max_size=2)
    few = st.none() | st.none() | some.map(words)
    is_cut = goal not in WITHOUT_WAVES and draw(st.booleans())
    request = PlanRequest(
        goal=goal,
        effort="quick",
        broker_list=_broker_list(draw, goal, state, some),
        topics=draw(st.sampled_from([None, None, "t0"])),
        exclude_topics=draw(st.sampled_from([None, None, None, "t2"])),
        exclude_brokers_for_replicas=draw(few),
        exclude_brokers_for_leaders=draw(few),
        rebalance=draw(st.integers(0, 3)) == 3,
        max_moves=draw(st.none() | st.none() | st.integers(0, 4)),
        transient_disk=draw(st.booleans()),
        waves=is_cut,
        max_moves_in=draw(st.integers(1, 3)) if is_cut else None,
        max_moves_out=draw(st.integers(1, 3)) if is_cut else None,
        own=_own(draw, goal, ids),
        rules=draw(NO_RULES | RULES),
    )
    return Drawn(state, request)


def words(ids: set[int]) -> str:
    """Return broker ids as an option takes them."""
    return ",".join(map(str, sorted(ids)))


def _broker_list(draw, goal: str, state: ClusterState, some) -> str | None:
    if goal in {"remove-brokers", "demote"}:
        return words(draw(some))
    if goal != "add-brokers":
        return None
    has_new = bool((state.brokers.state == BrokerState.NEW).any())
    return draw(st.none() | some.map(words)) if has_new else words(draw(some))


def _own(draw, goal: str, ids: list[int]) -> OwnOptions:
    if goal == "replace-broker":
        old, new = draw(st.permutations(ids))[:2]
        return OwnOptions(broker=(str(old),), with_broker=(str(new),))
    if goal == "set-replication-factor":
        return OwnOptions(replication_factor=draw(st.integers(1, 4)))
    if goal == "fix":
        return OwnOptions(only=draw(st.just(()) | st.tuples(st.sampled_from(Defect))))
    return OwnOptions()
