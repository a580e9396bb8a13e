"""Mending what is broken, and nothing else."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState, ClusterState, LogDirState
from placement.operations.fix import Defect, Fix, usual_factors
from placement.planning.infeasibility.infeasible_rules import explain_impossible
from placement.planning.plan import plan
from placement.rules.pinning import KeepTopics
from placement.rules.rack_rules import WithinRack
from support.clusters import Dir, clusters, make_state
from support.naive import is_rack_broken, live_ids
from support.operations import (
    lists_after,
    lists_of,
    newly_wrong,
    plan_checked,
    planned,
)

OFFLINE, RACKS = Fix(frozenset({Defect.OFFLINE})), Fix(frozenset({Defect.RACKS}))
LOG_DIRS = Fix(frozenset({Defect.LOG_DIRS}))
FACTORS = Fix(frozenset({Defect.REPLICATION_FACTOR}))
BAD_DIR = Dir("/d1", state=LogDirState.OFFLINE)


def members(lists) -> list[set[int]]:
    return [set(row) for row in lists]


def test_a_sound_cluster_is_left_as_it_is():
    state = make_state([[0, 1], [0, 1], [0, 1]], racks="abc", size_bytes=10)

    assert plan_checked(state, Fix()).is_nothing


def test_what_a_dead_broker_held_is_copied_and_nothing_else():
    state = make_state(
        [[0, 1], [1, 2], [2, 0]], racks="abca", states={0: BrokerState.DEAD}
    )

    found = plan_checked(state, OFFLINE)

    assert members(lists_after(found)) == [{1, 3}, {1, 2}, {2, 3}]
    assert found.reassignment.is_copied.sum() == 2


def test_the_last_copy_on_a_dead_broker_waits_for_it():
    state = make_state([[0]], racks="ab", states={0: BrokerState.DEAD})

    assert planned(state, OFFLINE) == [[0]]


def test_a_dead_log_dir_is_left_and_the_others_are_not():
    state = make_state(
        [[0, 1], [0, 1]],
        racks="abc",
        log_dirs={0: [BAD_DIR, Dir("/d2")]},
        dirs=[["/d1", None], ["/d2", None]],
    )

    assert members(planned(state, LOG_DIRS)) == [{1, 2}, {0, 1}]


@pytest.mark.parametrize(
    ("lists", "racks", "copies"),
    [
        pytest.param([[0, 1]], "aab", 1, id="two-in-a-rack"),
        pytest.param([[0, 1, 2]], "aaabc", 2, id="three-in-a-rack"),
        pytest.param([[0, 1, 2, 3]], "aaabbc", 1, id="uneven"),
        pytest.param([[0, 1, 2]], "aab", 0, id="as-even-as-can-be"),
    ],
)
def test_racks_are_repaired_by_the_fewest_copies(lists, racks, copies):
    state = make_state(lists, racks=racks)

    found = plan_checked(state, RACKS)

    assert found.reassignment.is_copied.sum() == copies
    assert not is_rack_broken(state, lists_after(found)[0])


def test_a_strict_rack_rule_is_repaired_where_there_are_racks_enough():
    state = make_state([[0, 1, 2], [0, 2]], racks="aabc")
    strict = Settings(is_rack_strict=True)

    found = plan_checked(state, RACKS, strict)

    assert members(lists_after(found))[1] == {0, 2}
    assert len({"aabc"[b] for b in lists_after(found)[0]}) == 3


def test_of_a_crowded_rack_the_leader_stays():
    state = make_state([[0, 1], [1, 0]], racks="aab")

    after = planned(state, RACKS)

    assert [row[0] for row in after] == [0, 1]


def test_racks_of_kept_topics_stay_as_they_are():
    lists = {"a": [[0, 1]], "b": [[0, 1]], "c": [[4, 3]]}
    state = make_state(lists, racks="aabba", states={4: BrokerState.DEAD})
    kept = Settings(rules=(KeepTopics(np.array([False, True, True])),))

    after = planned(state, Fix(), rules=kept.rules)

    assert not is_rack_broken(state, after[0])
    # What is on a dead broker goes all the same, and to another rack.
    assert after[1] == [0, 1]
    assert set(after[2]) - {3} <= {0, 1}


def test_partitions_get_the_factor_of_most_of_their_topic():
    state = make_state({"a": [[0, 1], [1, 2], [0], [0, 1, 2]]}, racks="abc")

    after = planned(state, FACTORS)

    assert list(map(len, after)) == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("lists", "usual"),
    [
        pytest.param([[0], [0], [0, 1]], [1, 1, 1], id="the-most-frequent"),
        pytest.param([[0], [0, 1]], [2, 2], id="of-equals-the-largest"),
    ],
)
def test_usual_factors(lists, usual):
    assert usual_factors(make_state(lists, racks="ab")).tolist() == usual


def test_no_factor_is_repaired_to_below_min_isr():
    state = make_state([[0], [1], [0, 1]], racks="ab", min_isr=2)

    assert plan_checked(state, FACTORS).is_nothing


def test_no_replica_in_sync_goes_while_the_others_would_be_too_few():
    # Four replicas where three are usual, and one of the four is not in sync.
    lists = [[0, 1, 2], [0, 1, 2], [0, 1, 3, 2]]
    isr = [[0, 1, 2], [0, 1, 2], [0, 1, 3]]
    state = make_state(lists, racks="aaba", isr=isr, min_isr=3)

    assert plan_checked(state, FACTORS).is_nothing


def test_a_broker_that_repairs_overfill_is_named():
    # The third copy is fetched from the leader, which has no more out for that.
    state = make_state(
        [[0, 1, 2], [0, 1, 2], [0, 1]],
        racks="abc",
        in_rate=[0, 0, 40],
        out_rate=0.0,
        broker_out=[70.0, 1000.0, 1000.0],
    )

    found = plan(state, FACTORS, Settings())

    assert [finding.rule for finding in newly_wrong(found, ())] == ["capacity"]

    (lacking,) = found.solution.shortfalls
    assert not found.has_met_rules
    assert (lacking.what, lacking.bin, lacking.resource) == ("capacity", 0, "out")


def test_what_cannot_be_repaired_is_named():
    state = make_state(
        [[0, 1], [1, 2]], racks="abc", states={0: BrokerState.DEAD, 2: BrokerState.DEAD}
    )

    found = plan_checked(state, OFFLINE)

    assert found.is_nothing
    assert found.solution.status is Status.INFEASIBLE
    assert {one.group for one in found.solution.shortfalls} == {0, 1}


def test_only_what_is_asked_for_is_repaired():
    state = make_state(
        {"a": [[0, 1], [2]], "b": [[2, 3]]},
        racks="aabcb",
        states={3: BrokerState.DEAD},
    )

    assert members(planned(state, RACKS))[1:] == [{2}, {2, 3}]
    assert members(planned(state, OFFLINE))[:2] == [{0, 1}, {2}]
    assert members(planned(state, FACTORS))[2] == {2, 3}


@st.composite
def repairs(draw, **options) -> tuple[ClusterState, Fix]:
    state = draw(clusters(**options))
    some = st.frozensets(st.sampled_from(list(Defect)), min_size=1)
    return state, Fix(draw(st.just(frozenset(Defect)) | some))


@settings(max_examples=40)
@given(repairs(reassigning=True))
def test_only_what_is_broken_moves(case):
    state, operation = case
    live, usual = live_ids(state), usual_factors(state)
    offline = np.zeros(state.num_partitions, dtype=np.bool_)
    dirs = state.log_dirs
    if len(dirs):
        lies = state.replicas.log_dir_idx >= 0
        lies &= np.equal(dirs.state, LogDirState.OFFLINE)[state.replicas.log_dir_idx]
        offline[state.replicas.partition_idx[lies]] = True

    found = plan_checked(state, operation)

    for p, (before, after) in enumerate(
        zip(lists_of(state), lists_after(found), strict=True)
    ):
        assert len(set(after)) == len(after)
        is_sound = (
            set(before) <= live
            and not offline[p]
            and not is_rack_broken(state, before)
            and len(before) == usual[p]
        )
        if is_sound and set(state.brokers.ids.tolist()) == live:
            assert after == before
        if before != after:
            assert set(after) <= live


@settings(max_examples=40)
@given(repairs(reassigning=True))
def test_repairs_are_sound_or_reported(case):
    state, operation = case

    found = plan_checked(state, operation)

    after = found.reassignment.after()
    alone = found.draft.is_left_alone
    usual = usual_factors(state)
    if not found.has_met_rules:
        assert found.solution.shortfalls
        return
    for p, brokers in enumerate(lists_after(found)):
        if alone[p]:
            continue
        if Defect.OFFLINE in operation.only:
            assert set(brokers) <= live_ids(state)
        if Defect.RACKS in operation.only:
            assert not is_rack_broken(after, brokers)
        if found.reassignment.is_resized[p]:
            assert len(brokers) == usual[p]


@settings(max_examples=30)
@given(repairs(reassigning=True))
def test_a_second_repair_finds_nothing(case):
    state, operation = case
    first = plan_checked(state, operation)

    again = plan_checked(first.reassignment.after(), operation)

    assert again.is_nothing or not first.has_met_rules


def fewest_rack_moves(state: ClusterState, brokers: list[int]) -> int:
    """The fewest replicas to exchange so that a list keeps the rack rule: by trying."""
    ids = state.brokers.ids.tolist()
    sound = [
        len(set(brokers) - set(other))
        for other in combinations(ids, len(brokers))
        if not is_rack_broken(state, list(other))
    ]
    return min(sound, default=0)


@settings(max_examples=40)
@given(clusters(all_live=True, max_brokers=5, max_partitions=3))
def test_racks_take_as_few_copies_as_any_way(state):
    found = plan_checked(state, RACKS)

    of = found.reassignment.partition_idx[found.reassignment.is_copied]
    copies = Counter(of.tolist())
    for p, before in enumerate(lists_of(state)):
        if not found.draft.is_left_alone[p] and found.has_met_rules:
            assert copies[p] == fewest_rack_moves(state, before)


def test_of_two_copies_one_is_made_where_the_other_finds_no_broker():
    # Places that stand for copies to be made are those of the excluded broker 0 and of
    # the dead broker 1; neither may come to be meant.
    state = make_state(
        {"t": [[2, 3, 0], [3, 2, 0], [3]]},
        racks="abab",
        states={1: BrokerState.DEAD},
    )

    found = plan(state, Fix(), Settings(excluded_for_replicas=frozenset({0})))

    assert lists_after(found) == [[2, 3, 0], [3, 2, 0], [3, 2]]
    assert found.solution.status is Status.INFEASIBLE


@pytest.mark.parametrize("racks", ["aaab", "aab"])
@pytest.mark.parametrize("is_strict", [True, False])
def test_a_replica_bound_to_a_crowded_rack_stays_and_is_reported(racks, is_strict):
    state = make_state([[0, 1]], racks=racks, size_bytes=10)
    chosen = Settings(rules=(WithinRack(),), is_rack_strict=is_strict)

    found = plan(state, RACKS, chosen)

    assert found.is_nothing
    assert found.solution.status is Status.INFEASIBLE
    (short,) = found.solution.shortfalls
    assert (short.what, short.level, short.group) == ("spread", "rack", 0)
    infeasible_set = explain_impossible(RACKS, chosen, found)
    assert infeasible_set is not None
    assert set(infeasible_set.rules) == {"rack", "locality-scoped"}
    assert infeasible_set.helps == (True, True)


@pytest.mark.parametrize("racks", ["aaab", "aab"])
def test_a_crowded_rack_is_left_where_staying_in_racks_gives_way(racks):
    state = make_state([[0, 1]], racks=racks, size_bytes=10)
    chosen = Settings(rules=(WithinRack(),), soft=("locality-scoped",))

    found = plan(state, RACKS, chosen)

    assert members(lists_after(found)) == [{0, len(racks) - 1}]
