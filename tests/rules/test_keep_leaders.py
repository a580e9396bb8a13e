"""Leaders of some topics stay, whatever else moves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import check
from placement.model.cluster import ABSENT, BrokerState, LogDirState
from planner.options.cluster_options import read_request
from planner.options.plan_request import PlanRequest
from planner.plan.documents.scored_plan import elections
from planner.plan.folder.plan_folder import target_lists
from planner.plan.run.make_plan import make, rules_of
from support.clusters import Dir, clusters, make_state
from support.naive import lists_of

MET = {"optimal", "feasible", "nothing-to-do"}


def planned(state, goal="rebalance", keep="t", **options):
    rules = {"keep_leaders": keep}
    return make(state, PlanRequest(goal=goal, **rules, effort="quick", **options))


def after(made):
    return made.plan.placed.reassignment.after()


def first_of(state, topic="t"):
    return [row[0] for (name, _), row in lists_of(state).items() if name == topic]


def wrong(made):
    return {finding.rule for finding in made.findings if finding.is_wrong}


STATE = make_state(
    {"t": [[0, 1]] * 4, "u": [[0, 1]] * 4}, racks="abc", ids=[0, 1, 2], size_bytes=5,
    out_rate=10.0, in_rate=1.0,
)  # fmt: skip


@pytest.mark.parametrize("goal", ["rebalance", "leaders", "add-brokers"])
def test_leaders_stay_and_followers_move(goal):
    options = {"broker_list": "2"} if goal == "add-brokers" else {}

    free = planned(STATE, goal, keep=None, **options)
    kept = planned(STATE, goal, **options)

    assert set(first_of(after(free))) != {0}
    assert set(first_of(after(kept))) == {0}
    assert set(first_of(after(kept), "u")) != {0}
    assert wrong(kept) == set()
    assert kept.plan.settings["keep_leaders"] == "t"


@pytest.mark.parametrize(
    ("cluster", "goal", "options"),
    [
        pytest.param({"states": {0: BrokerState.DEAD}}, "rebalance", {}, id="dead"),
        pytest.param({}, "remove-brokers", {"broker_list": "0"}, id="removed"),
        pytest.param({}, "demote", {"broker_list": "0"}, id="demoted-now"),
        pytest.param({"states": {0: BrokerState.DEMOTED}}, "rebalance", {}, id="told"),
        pytest.param(
            {"log_dirs": {0: [Dir("/a", state=LogDirState.OFFLINE), Dir("/b")]},
             "dirs": [["/a", None]] * 4},
            "fix", {}, id="offline-log-dir",
        ),
    ],
)  # fmt: skip
def test_what_must_go_still_goes(cluster, goal, options):
    state = make_state([[0, 1]] * 4, racks="abc", ids=[0, 1, 2], **cluster)

    made = planned(state, goal, **options)

    assert made.plan.status in MET
    assert 0 not in first_of(after(made))
    assert wrong(made) == set()


def test_a_kept_topic_may_leave_an_offline_log_dir_too():
    state = make_state(
        [[0, 1]], racks="abc", ids=[0, 1, 2], dirs=[["/a", None]],
        log_dirs={0: [Dir("/a", state=LogDirState.OFFLINE), Dir("/b")]},
    )  # fmt: skip

    made = make(state, PlanRequest(goal="fix", keep_topics="t"))

    assert (made.plan.status, wrong(made)) == ("optimal", set())


def test_who_leads_now_keeps_its_replica_where_another_is_preferred():
    state = make_state(
        [[0, 1]] * 4, racks="abc", ids=[0, 1, 2], leaders=[1] * 4, size_bytes=5
    )

    made = planned(state)

    assert all({0, 1} == set(row) for row in lists_of(after(made)).values())
    assert wrong(made) == set()
    assert not elections(made.plan).any()
    assert elections(planned(state, keep="u").plan).any()


def test_whose_turn_it_is_takes_over_from_a_demoted_broker():
    # Broker 1 leads all and shall not: broker 0 stands first, and is the next to lead.
    state = make_state(
        [[0, 1, 2]] * 4, racks="abc", leaders=[1] * 4, size_bytes=5, out_rate=10.0,
        in_rate=1.0, states={1: BrokerState.DEMOTED},
    )  # fmt: skip

    free, made = planned(state, keep="u"), planned(state)

    assert set(first_of(after(free))) == {0, 2}
    assert set(first_of(after(made))) == {0}
    assert made.plan.status in MET
    assert wrong(made) == set()


def test_who_leads_now_keeps_its_replica_where_another_broker_is_replaced():
    state = make_state(
        [[0, 1]] * 2, racks="aaaa", ids=[0, 1, 2, 3], leaders=[1, 1],
        size_bytes=[5, 80], states={2: BrokerState.NEW, 3: BrokerState.NEW},
    )  # fmt: skip
    own = {"broker": ("0",), "with_broker": ("3",)}

    made = planned(state, "replace-broker", **own, rebalance=True)

    assert all(1 in row and 0 not in row for row in lists_of(after(made)).values())
    assert wrong(made) == set()


@pytest.mark.parametrize("rebalance", [False, True])
def test_who_leads_for_a_dead_broker_leads_on_where_that_one_is_replaced(rebalance):
    state = make_state(
        [[0, 1], [1, 2]], racks="aaaa", ids=[0, 1, 2, 3], size_bytes=[0, 10],
        states={1: BrokerState.DEAD, 3: BrokerState.NEW},
    )  # fmt: skip
    own = {"broker": ("1",), "with_broker": ("3",)}

    made = planned(state, "replace-broker", **own, rebalance=rebalance)

    assert made.plan.status in MET
    assert list(lists_of(after(made)).values()) == [[0, 3], [2, 3]]
    assert wrong(made) == set()


@pytest.mark.parametrize("leader", [0, 1])
def test_a_lower_replication_factor_drops_no_leader_that_stays(leader):
    state = make_state([[0, 1]] * 4, racks="ab", leaders=[leader] * 4, size_bytes=5)

    made = planned(state, "set-replication-factor", replication_factor=1)

    assert made.plan.status in MET
    assert first_of(after(made)) == [leader] * 4
    assert wrong(made) == set()


def test_leaders_that_stay_may_change_their_log_dir():
    state = make_state(
        [[0], [0]], racks="a", size_bytes=5, dirs=[["/a"], ["/a"]],
        log_dirs={0: [Dir("/a", 100), Dir("/b", 100)]},
    )  # fmt: skip

    made = planned(state, "log-dirs")

    assert (made.plan.moves["log_dirs"], wrong(made)) == (1, set())


def test_the_checker_finds_a_leader_that_should_stay():
    made = planned(STATE, keep=None)
    held = planned(STATE)
    lists = lists_of(after(made))
    moved = {key for key, row in lists.items() if key[0] == "t" and row[0] != 0}

    request = PlanRequest(goal="rebalance", keep_leaders="t")
    rules = rules_of(held.plan, read_request(request, STATE))
    found = check(STATE, target_lists(made.plan).to_target(), rules)

    named = {
        (one.where.topic, one.where.partition)
        for one in found
        if one.rule == "keep-leaders"
    }
    assert moved
    assert named == moved


GOALS = st.sampled_from(
    [("rebalance", {}), ("leaders", {}), ("fix", {}), ("add-brokers", {}),
     ("set-replication-factor", {"replication_factor": 1}),
     ("set-replication-factor", {"replication_factor": 2}),
     ("set-replication-factor",
      {"replication_factor": 2, "rebalance": True})]
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(clusters(min_brokers=2), GOALS)
def test_leaders_of_any_cluster_stay_or_must_go(state, goal):
    name, options = goal
    brokers = state.brokers
    if name == "add-brokers":
        live = brokers.ids[brokers.is_live]
        if not len(live):
            return
        options = {"broker_list": str(int(live[0]))}
    if name == "set-replication-factor":
        # Only those named may go below their min.insync.replicas.
        options = {**options, "topic": state.topics.names}
    made = planned(state, name, keep=".*", **options)

    found = after(made)
    assert "keep-leaders" not in wrong(made)
    leader = state.partitions.leader_idx
    for p in np.nonzero(leader != ABSENT)[0].tolist():
        broker = brokers.ids[leader[p]]
        rows = slice(*state.replicas.start[p : p + 2])
        leads = state.replicas.broker_idx[rows] == leader[p]
        is_in_sync = (leads & state.replicas.is_in_sync[rows]).any()
        if name == "set-replication-factor" and not is_in_sync:
            # Fewer replicas keep the last that is in sync, even before the leader.
            continue
        lies = state.replicas.log_dir_idx[rows][leads]
        is_off = any(
            d != ABSENT and state.log_dirs.state[d] == LogDirState.OFFLINE for d in lies
        )
        if brokers.is_live[leader[p]] and brokers.may_lead[leader[p]] and not is_off:
            assert broker in found.brokers_of(p)
