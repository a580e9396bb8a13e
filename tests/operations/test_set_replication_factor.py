"""More copies, or fewer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.grown import grown
from placement.check import CheckSettings
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState, ClusterState, LogDirState
from placement.model.load import RESOURCES, Resource, loads_of
from placement.operations.set_replication_factor import SetReplicationFactor
from placement.planning.plan import plan
from placement.rules.pinning import OnlyTrades
from placement.rules.rack_rules import WithinRack
from support.clusters import Dir, clusters, make_state
from support.naive import is_rack_broken, live_ids, replicas_of
from support.operations import lists_after, lists_of, plan_checked, planned


def set_to(factor: int) -> SetReplicationFactor:
    return SetReplicationFactor({"t": factor})


def test_tp_re_02():
    state = make_state([[0], [1], [0]], racks="ab", size_bytes=10)

    found = plan_checked(state, set_to(2))

    # No copy that exists moves, and every one leads on.
    assert lists_after(found) == [[0, 1], [1, 0], [0, 1]]
    assert found.reassignment.copied_bytes(found.draft.weights) == 30
    assert found.solution.status is Status.OPTIMAL


def test_new_copies_go_to_other_racks_and_where_there_is_room():
    state = make_state(
        [[0], [0], [1], [1]], racks="aabb", size_bytes=10, disk_bytes=[100] * 4
    )

    after = planned(state, set_to(2))

    assert [row[0] for row in after] == [0, 0, 1, 1]
    assert sorted(row[1] for row in after) == [2, 2, 3, 3]


@pytest.mark.parametrize("size_bytes", [1, [1, 10**15, 1, 5]])
def test_a_few_bytes_on_large_disks_are_dropped(size_bytes):
    state = make_state(
        [[0, 1], [0, 1], [1, 0], [0, 2]],
        racks="abcd",
        ids=range(4),
        size_bytes=size_bytes,
        disk_bytes=[10**17] * 4,
    )

    assert all(len(row) == 1 for row in planned(state, set_to(1)))


@pytest.mark.parametrize(
    ("lists", "racks", "after"),
    [
        pytest.param([[0, 1, 2]], "aab", [[0, 2]], id="from-the-crowded-rack"),
        pytest.param([[2, 0, 1]], "aab", [[2, 0]], id="the-last-of-equals"),
        pytest.param([[0, 1, 2, 3]], "aabb", [[0, 2]], id="one-of-each"),
        pytest.param([[0, 1]], "ab", [[0, 1]], id="as-it-is"),
    ],
)
def test_what_is_dropped(lists, racks, after):
    state = make_state(lists, racks=racks)

    assert planned(state, set_to(2)) == after


def test_copies_are_dropped_where_brokers_hold_most():
    lists = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [0, 1, 2]]
    state = make_state(lists, racks="abcd", size_bytes=10)

    after = planned(state, set_to(2))

    held = [sum(broker in row for row in after) for broker in range(4)]
    assert held == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("isr", "after"),
    [
        pytest.param([[2]], [[2]], id="the-last-in-sync-stays"),
        pytest.param([[1, 2]], [[1]], id="out-of-sync-goes-first"),
        pytest.param([[]], [[0, 1, 2]], id="nobody-in-sync-is-left-alone"),
    ],
)
def test_what_is_in_sync_outlives_the_rest(isr, after):
    state = make_state([[0, 1, 2]], racks="abc", isr=isr)

    assert planned(state, set_to(1)) == after


def test_what_is_behind_goes_first_where_racks_allow_it():
    state = make_state([[0, 1, 2]], racks="aaa", isr=[[0, 2]], min_isr=2)

    assert planned(state, set_to(2)) == [[0, 2]]


def test_as_many_stay_in_sync_as_must_be():
    # Rack a holds two, and both must stay; without broker 2 its own would be empty.
    state = make_state([[0, 1, 2]], racks="aab", isr=[[0, 1]], min_isr=2)

    found = plan_checked(state, set_to(2))

    assert lists_after(found) == [[0, 1, 2]]
    (lacking,) = found.solution.shortfalls
    assert "in sync" in lacking.message
    # Broker 2 may catch up yet.
    assert found.solution.status is Status.PARTIAL


def test_what_is_behind_goes_first_where_racks_do_not_count():
    state = make_state([[0, 1, 2]], racks="aab", isr=[[0, 1]], min_isr=2)
    lifted = Settings(lifted=frozenset({"rack"}))
    unasked = CheckSettings(skipped=frozenset({"rack"}))

    found = plan_checked(state, set_to(2), lifted, rules=unasked)

    assert lists_after(found) == [[0, 1]]


def test_what_is_behind_goes_first_where_racks_may_give_way():
    state = make_state([[0, 1, 2]], racks="aab", isr=[[0, 1]], min_isr=2)

    found = plan(state, set_to(2), Settings(soft=("rack",)))

    assert lists_after(found) == [[0, 1]]


def one_behind() -> ClusterState:
    """Without broker 4, which is behind in t-1, bands would have it back there."""
    return make_state(
        [[0, 1, 3, 4], [0, 4, 1, 2]],
        racks="aaaaa",
        isr=[[0, 1, 3, 4], [0, 1, 2]],
        min_isr=3,
        size_bytes=[20, 5],
    )


def test_nothing_comes_back_to_where_what_was_behind_was_dropped():
    found = plan_checked(one_behind(), set_to(3), Settings(frees_the_rest=True))

    assert 4 not in lists_after(found)[1]


def test_partitions_stay_where_a_table_of_who_may_go_where_is_too_large(monkeypatch):
    monkeypatch.setattr("placement.operations.set_replication_factor.MOST_CELLS", 4)

    found = plan_checked(one_behind(), set_to(3), Settings(frees_the_rest=True))

    assert set(lists_after(found)[1]) == {0, 1, 2}


def test_who_may_lead_outlives_who_may_not():
    # Brokers 1 and 2 hold least, and may lead nothing that they do not lead yet.
    state = make_state(
        [[0, 1, 2], [0, 2, 1], [1, 0, 2]], racks="abc", size_bytes=[10, 50, 50]
    )
    chosen = Settings(excluded_for_leaders=frozenset({1, 2}))

    found = plan_checked(state, set_to(1), chosen)

    assert lists_after(found)[:2] == [[0], [0]]
    assert lists_after(found)[2] in ([0], [1])


def test_the_eligible_leader_outlives_the_rest_where_no_replica_is_in_sync():
    # Broker 0 holds most, and would be rid of one.
    state = make_state(
        [[0, 1], [0]],
        racks="ab",
        states={1: BrokerState.DEMOTED},
        isr=[[], [0]],
        elr=[[0], []],
        leaders=[0, 0],
        size_bytes=50,
    )

    assert planned(state, set_to(1)) == [[0], [0]]


def test_both_stay_where_one_is_in_sync_and_the_other_leads():
    state = make_state([[0, 1]], racks="ab", isr=[[1]], leaders=[0])
    chosen = Settings(excluded_for_leaders=frozenset({1}))

    found = plan_checked(state, set_to(1), chosen)

    assert lists_after(found) == [[0, 1]]
    assert not found.has_met_rules


def test_who_may_lead_comes_first_where_only_another_is_in_sync():
    # Broker 0 holds most; broker 2 is the last in sync, and may not lead.
    state = make_state(
        [[0, 2, 1], [0], [0]],
        racks="abc",
        isr=[[2], [0], [0]],
        leaders=[2, 0, 0],
        size_bytes=10,
    )
    chosen = Settings(excluded_for_leaders=frozenset({2}))

    found = plan_checked(state, set_to(1), chosen)

    assert lists_after(found) == [[1, 2], [0], [0]]
    assert not found.has_met_rules


def test_nothing_is_dropped_where_no_other_broker_can_lead_so_much():
    # Nobody else is in sync, and broker 1 has not the cores.
    state = make_state(
        [[0, 1], [0, 1]],
        racks="ab",
        isr=[[1], [0, 1]],
        leaders=[0, 0],
        leader_cpu=[1.0, 0.0],
        follower_cpu=0.0,
        broker_cpu=[100.0, 1.0],
    )

    found = plan_checked(state, set_to(1))

    assert [len(row) for row in lists_after(found)] == [2, 1]
    (lacking,) = found.solution.shortfalls
    assert (lacking.have, lacking.need, lacking.is_proven) == (2, 1, False)


@pytest.mark.parametrize(
    ("rules", "after", "is_met"),
    [
        pytest.param((OnlyTrades(),), [[0]], False, id="no-broker-may-hold-more"),
        pytest.param((WithinRack(),), [[0, 2]], True, id="copies-lie-in-any-rack"),
    ],
)
def test_rules_of_the_users_choice_hold_for_longer_lists(rules, after, is_met):
    state = make_state([[0]], racks="aab", size_bytes=10)

    found = plan_checked(state, set_to(2), Settings(rules=rules))

    assert lists_after(found) == after
    assert found.has_met_rules == is_met


def test_an_eligible_leader_stays_while_the_isr_is_too_small():
    state = make_state(
        [[0, 1, 2]], racks="abc", isr=[[0]], elr=[[1]], min_isr=2, leaders=[0]
    )

    found = plan_checked(state, set_to(1))

    assert lists_after(found) == [[0, 1]]
    assert "replicas" in found.solution.shortfalls[0].message
    assert found.solution.status is Status.INFEASIBLE


def test_more_replicas_than_brokers_are_as_many_as_there_are():
    state = make_state([[0], [1]], racks="ab")

    found = plan_checked(state, set_to(4))

    assert lists_after(found) == [[0, 1], [1, 0]]
    assert found.solution.status is Status.INFEASIBLE
    assert {(one.have, one.need) for one in found.solution.shortfalls} == {(2, 4)}


def test_a_copy_that_fits_nowhere_is_missing_and_said():
    state = make_state([[0], [0]], racks="ab", size_bytes=50, disk_bytes=[1000, 100])

    found = plan_checked(state, set_to(2))

    assert sorted(map(len, lists_after(found))) == [1, 2]
    assert not found.has_met_rules


def test_a_copy_to_come_takes_no_room_where_it_does_not_lie():
    # 60 of 100 bytes are taken by what no replica explains, on either broker.
    dirs = {b: [Dir("/d", size_bytes=100, usable_bytes=40)] for b in (1, 2)}
    state = make_state(
        [[0]], racks="abc", size_bytes=50, log_dirs=dirs, disk_bytes=[500, 100, 100]
    )

    found = plan_checked(state, set_to(2))

    assert lists_after(found) == [[0]]
    assert not found.has_met_rules


@pytest.mark.parametrize(
    "lost",
    [
        {"states": {2: BrokerState.FENCED}},
        {
            "log_dirs": {2: [Dir("/d", state=LogDirState.OFFLINE), Dir("/e")]},
            "dirs": [[None, None, "/d"], [None, "/d", None]],
        },
    ],
    ids=["broker", "log-dir"],
)
def test_offline_copies_are_dropped_first(lost):
    state = make_state([[0, 1, 2], [0, 2, 1]], racks="abc", isr=[[0, 1]] * 2, **lost)

    found = plan_checked(state, set_to(2))

    assert lists_after(found) == [[0, 1], [0, 1]]
    assert found.solution.status is Status.OPTIMAL


@pytest.mark.parametrize(
    ("isr", "leader", "factor"),
    [
        pytest.param([0], 0, 4, id="more-copies"),
        pytest.param([0], 0, 2, id="more-are-offline"),
        pytest.param([1], None, 1, id="the-last-in-sync"),
    ],
)
def test_a_partition_that_keeps_an_offline_copy_is_left_alone_and_named(
    isr, leader, factor
):
    off = {1: BrokerState.FENCED, 2: BrokerState.DEAD}
    state = make_state(
        [[0, 1, 2]], ids=range(5), racks="abcde", isr=[isr], leaders=[leader],
        states=off,
    )  # fmt: skip

    found = plan_checked(state, set_to(factor))

    assert lists_after(found) == [[0, 1, 2]]
    (lacking,) = found.solution.shortfalls
    assert lacking.group == 0
    assert not found.has_met_rules


def test_copies_to_come_are_not_on_the_dead_broker_that_they_stand_on():
    # Nobody says where a copy to come lies: until there is a place, on any broker.
    state = make_state(
        [[1, 0], [0, 2]],
        racks="abcab",
        size_bytes=[10, 0],
        states={1: BrokerState.DEAD},
    )

    found = plan_checked(state, set_to(3), Settings(resources=(Resource.REPLICAS,)))

    after = lists_after(found)
    assert after[0] == [1, 0]
    assert len(after[1]) == 3
    assert 1 not in after[1]
    told = [note.message for note in found.notes if note.what == "left-alone"]
    why = "left alone, for they have a replica on a broker that is not live"
    assert told == [f"t-0: {why}"]


def test_traffic_out_counts_the_followers_to_come():
    state = make_state([[0], [1]], racks="ab", in_rate=10.0, out_rate=0.0)

    found = plan_checked(state, set_to(2))

    assert found.draft.weights.leader[:, 2].tolist() == [10_000, 10_000]


@st.composite
def changes(draw, **options) -> tuple[ClusterState, SetReplicationFactor]:
    state = draw(clusters(**options))
    least = state.topics.min_insync_replicas.tolist()
    return state, SetReplicationFactor(
        {
            # Below min.insync.replicas the checker objects, as it should.
            name: draw(st.integers(min_isr, max(min_isr, 5)))
            for name, min_isr in zip(state.topics.names, least, strict=True)
            if draw(st.booleans())
        }
    )


@settings(max_examples=40)
@given(changes(reassigning=True))
def test_every_partition_gets_its_factor_or_is_named(case):
    state, operation = case

    found = plan_checked(state, operation)

    named = {lacking.group for lacking in found.solution.shortfalls}
    names = [state.topics.names[t] for t in state.partitions.topic_idx]
    for p, (before, after) in enumerate(
        zip(lists_of(state), lists_after(found), strict=True)
    ):
        wanted = operation.factors.get(names[p])
        assert len(set(after)) == len(after)
        # Nothing moves: copies come, or copies go.
        assert set(after) >= set(before) or set(after) <= set(before)
        if wanted is None:
            assert after == before
        elif p not in named:
            # While copies are being added, the list is longer than the factor.
            is_so_already = after == before and state.replication_factor[p] == wanted
            assert is_so_already or len(after) == wanted


@settings(max_examples=40)
@given(changes(reassigning=True))
def test_something_in_sync_stays_wherever_there_was_something(case):
    state, operation = case

    found = plan_checked(state, operation)

    kept = found.reassignment.origin
    in_sync = np.append(state.replicas.is_in_sync, False)[kept]
    of = found.reassignment.partition_idx
    left = np.bincount(of[in_sync], minlength=state.num_partitions)
    was = np.bincount(
        state.replicas.partition_idx[state.replicas.is_in_sync],
        minlength=state.num_partitions,
    )
    assert (left[was > 0] > 0).all()


@settings(max_examples=30)
@given(grown(with_=("behind",)), st.integers(2, 3), st.booleans())
def test_as_many_stay_in_sync_as_there_were_and_must_be(
    state: ClusterState, factor: int, frees: bool
):
    operation = SetReplicationFactor(dict.fromkeys(state.topics.names, factor))

    found = plan(state, operation, Settings(frees_the_rest=frees, effort="quick"))

    live, after = live_ids(state), lists_after(found)
    for p, left in enumerate(after):
        before = replicas_of(state, p)
        serve = {replica.broker for replica in before if replica.is_in_sync} & live
        come = set(left) - {replica.broker for replica in before}
        least = int(state.topics.min_insync_replicas[state.partitions.topic_idx[p]])
        assert len(serve & set(left) | come) >= min(len(serve), least, len(left))


@settings(max_examples=40)
@given(changes(reassigning=True))
def test_a_second_plan_finds_nothing(case):
    state, operation = case
    first = plan_checked(state, operation)

    again = plan_checked(first.reassignment.after(), operation)

    assert again.is_nothing or not again.has_met_rules


@settings(max_examples=40)
@given(changes(all_live=True))
def test_racks_are_never_worse_than_they_must_be(case):
    state, operation = case

    found = plan_checked(state, operation)

    after = found.reassignment.after()
    changed = np.nonzero(found.reassignment.is_changed)[0].tolist()
    if found.has_met_rules:
        assert not any(is_rack_broken(state, after.brokers_of(p)) for p in changed)


@settings(max_examples=15)
@given(changes(all_live=True, max_partitions=3))
def test_with_the_rest_freed_factors_are_kept_too(case):
    state, operation = case

    found = plan_checked(state, operation, Settings(frees_the_rest=True))

    names = [state.topics.names[t] for t in state.partitions.topic_idx]
    named = {lacking.group for lacking in found.solution.shortfalls}
    for p, after in enumerate(lists_after(found)):
        wanted = operation.factors.get(names[p], state.num_replicas[p])
        assert len(after) == wanted or p in named


def test_the_reported_distance_is_that_from_the_reported_targets():
    # Broker 5 hands the lead of t0-0 on, so that the others share one leader more.
    # Bands of whole leaders have the same ends as before, at another distance.
    state = make_state(
        {
            "t0": [[5, 1, 7], [7, 1, 5]],
            "t1": [[5, 11, 7], [1, 7, 5]],
            "t2": [[1, 5, 7], [1, 5, 7]],
        },
        racks="abca",
        ids=[1, 5, 7, 11],
        leaders=[1, 7, 5, 1, 1, 1],
    )
    chosen = Settings(
        excluded_for_leaders=frozenset({5}),
        excluded_topics=np.array([False, True, True]),
        frees_the_rest=True,
    )

    found = plan_checked(state, SetReplicationFactor({"t0": 4}), chosen)

    load, _ = loads_of(found.reassignment.after())
    rows = [RESOURCES.index(resource) for resource in found.balanced]
    furthest = found.targets.outside(load)[:, rows].max()
    assert found.solution.certificate.deviation.value == pytest.approx(furthest)
