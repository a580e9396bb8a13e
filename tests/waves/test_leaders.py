"""Who leads while copies run, who sends them, and when leaders change."""

import pytest
from hypothesis import given, settings

from placement.model.cluster import BrokerState
from placement.model.reassignment import Reassignment
from placement.waves.wave_files import steps_of
from placement.waves.wave_settings import WaveSettings
from support.clusters import make_state
from waves.reassignments import (
    cut_up,
    judge,
    reassignment_to,
    reassignments,
)
from waves.test_cut import SETTINGS


@settings(max_examples=200)
@given(reassignments(most_dead=2, may_be_unled=True), SETTINGS)
def test_a_partition_without_leader_is_sent_by_its_next_leader(
    reassignment: Reassignment, options: WaveSettings
):
    found = cut_up(reassignment, options)

    assert judge(found) == ()
    assert found.num_waves >= found.bound


def test_a_leader_that_goes_is_dropped_with_the_last_copy():
    state = make_state([[0, 1, 2]], racks="abcabc", size_bytes=10)
    change = reassignment_to(state, [[3, 4, 2]])

    found = cut_up(change, WaveSettings(max_out=1))

    steps = list(steps_of(found))
    lists = [step.after[0] for step in steps if step.has_copies]
    assert len(lists) == 2
    assert lists[0][0] == 0
    assert set(lists[1]) == {2, 3, 4}
    assert judge(found) == ()


@pytest.mark.parametrize(
    ("dead", "target", "lists"),
    [
        pytest.param([2], [0, 3, 4], [[0, 4, 1], [0, 3, 4]], id="the-dead-one-first"),
        pytest.param([1, 2], [0, 3, 4], [[0, 3], [0, 3, 4]], id="two-dead-go-together"),
        pytest.param(
            [0, 1], [3, 4, 5], [[2, 3], [2, 3, 5], [3, 4, 5]], id="the-leader-goes-last"
        ),
    ],
)
def test_what_is_dead_leaves_with_the_first_copy(dead, target, lists):
    (leader, *rest) = [b for b in range(3) if b not in dead]
    state = make_state(
        [[0, 1, 2]],
        racks="abcbca",
        states=dict.fromkeys(dead, BrokerState.DEAD),
        leaders=[leader],
        isr=[[leader, *rest]],
        size_bytes=5,
    )

    found = cut_up(reassignment_to(state, [target]), WaveSettings(max_out=1))

    assert [step.after[0] for step in steps_of(found)] == lists
    assert judge(found) == ()


def test_leaders_change_in_waves_of_their_own():
    state = make_state([[0, 1], [0, 1]], racks="abc", size_bytes=10)
    change = reassignment_to(state, [[1, 0], [2, 0]])

    found = cut_up(change)

    copied, led = steps_of(found)
    assert copied.has_copies
    assert copied.after == {1: [0, 2]}
    assert not led.has_copies
    assert led.after == {0: [1, 0], 1: [2, 0]}
    assert led.elects == (0, 1)


def test_what_has_no_live_replica_has_no_source():
    dead = {0: BrokerState.DEAD}
    state = make_state([[0]], racks="ab", states=dead, leaders=[None], size_bytes=5)

    found = cut_up(reassignment_to(state, [[1]]))

    assert found.copies.source_idx.tolist() == [-1]
    assert found.num_waves == 1


def test_copies_of_leaderless_partitions_count_for_their_next_leader():
    state = make_state([[1], [1]], racks="abc", isr=[[], [1]], leaders=[None, 1])
    caps = WaveSettings(max_in=2, max_out=1)

    found = cut_up(reassignment_to(state, [[1, 2, 0], [1, 2, 0]]), caps)

    assert found.copies.source_idx.tolist() == [1, 1, 1, 1]
    assert found.num_waves == found.bound == 4
    assert judge(found) == ()


def test_a_live_replica_must_lead_before_others_come():
    state = make_state(
        [[0, 1], [2]],
        racks="abcd",
        states={1: BrokerState.DEAD},
        isr=[[], [2]],
        leaders=[1, 2],
        size_bytes=5,
    )

    found = cut_up(reassignment_to(state, [[3, 2], [3]]), WaveSettings(max_in=1))

    lists = [step.after.get(0) for step in steps_of(found)]
    # Behind as it is, broker 0 stays in front until all is copied from it.
    assert lists == [[0, 2], [3, 2]]
    assert judge(found) == ()


def test_leaders_are_dropped_a_thousand_at_a_time_after_all_copies():
    lists = [[0, 1]] * 1500 + [[1, 0]] * 10 + [[1]]
    state = make_state(lists, racks="abc", size_bytes=1)
    change = reassignment_to(state, [[1]] * 1510 + [[2]])

    steps = list(steps_of(cut_up(change)))

    # What does not lead goes with the first copies.
    assert [len(step.after) for step in steps] == [11, 1000, 500]
    assert [len(step.copies) for step in steps] == [1, 0, 0]
    assert [len(step.drops) for step in steps] == [10, 1000, 500]
