"""Waves of whole reassignments, each judged by separate code."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.model.cluster import BrokerState
from placement.model.load import Resource
from placement.model.reassignment import Reassignment
from placement.waves.wave_files import steps_of
from placement.waves.wave_settings import Order, WaveSettings
from support.clusters import Dir, make_state
from waves.reassignments import (
    cut_up,
    judge,
    reassignment_to,
    reassignments,
)

SETTINGS = st.builds(
    WaveSettings,
    max_in=st.integers(1, 3),
    max_out=st.integers(1, 3),
    max_shared=st.none() | st.integers(1, 3),
    max_per_partition=st.integers(1, 3),
    order=st.sampled_from(Order),
)


@given(reassignments(), SETTINGS)
def test_every_wave_is_safe_and_the_last_one_is_the_plan(
    reassignment: Reassignment, options: WaveSettings
):
    found = cut_up(reassignment, options)

    assert judge(found) == ()
    assert found.stuck is None
    assert not found.is_limited_by_disk
    assert (found.wave >= 0).all()
    assert found.num_waves >= found.bound


@given(reassignments(most_dead=3), SETTINGS)
def test_no_wave_names_what_is_dead_nor_loses_what_serves(
    reassignment: Reassignment, options: WaveSettings
):
    found = cut_up(reassignment, options)

    assert judge(found) == ()
    state = reassignment.before
    now = {p: state.brokers_of(p) for p in range(state.num_partitions)}
    live = state.brokers.is_live
    for step in steps_of(found):
        for p, row in step.after.items():
            assert live[row].all()
            assert len(row) >= live[now[p]].sum()
            now[p] = row


@settings(max_examples=40)
@given(reassignments(resizes=True, most_dead=1), SETTINGS)
def test_lists_become_longer_and_shorter_safely(
    reassignment: Reassignment, options: WaveSettings
):
    found = cut_up(reassignment, options)

    assert judge(found) == ()
    assert found.num_copy_waves >= found.bound
    state = reassignment.before
    after = np.diff(reassignment.start)
    for step in steps_of(found):
        for p, row in step.after.items():
            dead = int((~state.brokers.is_live[step.before[p]]).sum())
            ends = int(state.num_replicas[p]), int(after[p])
            assert min(ends) - dead <= len(row) <= max(ends)


@settings(max_examples=40)
@given(reassignments(resizes=True, has_dirs=True), SETTINGS)
def test_log_dirs_hold_both_copies_and_end_as_planned(
    reassignment: Reassignment, options: WaveSettings
):
    found = cut_up(reassignment, options)

    findings = judge(found)
    assert {finding.rule for finding in findings} <= {"wave-end"}
    assert bool(findings) == (found.stuck is not None)
    inside = reassignment.is_moved_inside.sum()
    assert found.copies.is_inside.sum() == inside
    assert len(found.copies) == (
        reassignment.is_copied.sum()
        + inside
        + reassignment.is_dropped.sum()
        + len(found.hops)
    )


@given(reassignments(), SETTINGS)
def test_plans_of_one_copy_a_partition_need_no_more_than_the_bound(
    reassignment: Reassignment, options: WaveSettings
):
    of = reassignment.before.replicas.partition_idx
    many = np.bincount(of[reassignment.is_copied], minlength=1).max() > 1
    if many or options.max_shared is not None:
        return

    found = cut_up(reassignment, options)

    assert found.num_waves == found.bound


@given(reassignments(), SETTINGS)
def test_internal_topics_move_last(reassignment: Reassignment, options: WaveSettings):
    found = cut_up(reassignment, options)

    state = reassignment.before
    topic = state.partitions.topic_idx[found.copies.partition_idx]
    names = np.array(state.topics.names)[topic]
    late = found.wave[names == "__consumer_offsets"]
    early = found.wave[names == "t"]
    if len(late) and len(early):
        assert late.min() > early.max()


@given(reassignments(), st.integers(1, 150))
def test_full_disks_make_more_waves_never_unsafe_ones(
    reassignment: Reassignment, disk: int
):
    state = reassignment.before.with_brokers(
        disk_bytes=np.full(reassignment.before.num_brokers, disk)
    )
    tight = Reassignment(
        before=state, broker_idx=reassignment.broker_idx, origin=reassignment.origin
    )

    found = cut_up(tight, WaveSettings(thresholds={Resource.DISK: 1.0}))

    steps = list(steps_of(found))
    findings = judge(found, steps)
    assert {finding.rule for finding in findings} <= {"wave-end"}
    if found.stuck is None:
        assert findings == ()
    else:
        assert (found.wave < 0).any()
        assert found.stuck.short_bytes > 0


def test_brokers_that_wait_for_each_other_are_named_and_helped():
    # Both disks are full, and each is to get what the other has.
    state = make_state(
        [[0], [1]], racks="abc", size_bytes=[90, 90], disk_bytes=[100, 100, 100]
    )
    change = reassignment_to(state, [[1], [0]])

    found = cut_up(change, WaveSettings(thresholds={Resource.DISK: 1.0}))

    assert found.stuck is not None
    assert set(found.stuck.brokers) == {0, 1}
    assert found.stuck.short_bytes == 80


def test_a_replica_is_put_aside_where_that_breaks_the_cycle():
    lists = [[3, 0], [3, 1]]
    state = make_state(
        lists, racks="abcde", size_bytes=[90, 90], disk_bytes=[100, 100, 100, 300, 300]
    )
    change = reassignment_to(state, [[3, 1], [3, 0]])

    found = cut_up(change, WaveSettings(thresholds={Resource.DISK: 1.0}))

    (hop,) = found.hops
    assert {hop.from_idx, hop.to_idx} == {0, 1}
    assert hop.via_idx in {2, 4}
    assert found.stuck is None
    assert judge(found) == ()
    assert len(found.copies) == 3


@pytest.mark.parametrize(
    ("order", "sizes"),
    [
        pytest.param(Order.LARGE, [40, 30, 20, 10], id="large"),
        pytest.param(Order.SMALL, [10, 20, 30, 40], id="small"),
        pytest.param(Order.SHORTEST, [40, 30, 20, 10], id="shortest"),
    ],
)
def test_copies_go_in_the_order_that_is_asked_for(order: Order, sizes: list[int]):
    state = make_state([[0]] * 4, racks="ab", size_bytes=[30, 10, 40, 20])
    change = reassignment_to(state, [[1]] * 4)

    found = cut_up(change, WaveSettings(max_in=1, max_out=1, order=order))

    by_wave = np.argsort(found.wave)
    assert found.copies.size_bytes[by_wave].tolist() == sizes


def test_what_lacks_replicas_goes_first_where_asked():
    state = make_state(
        [[0, 2], [0, 2], [0, 2]], racks="abc", size_bytes=10, isr=[[0, 2], [0], [0, 2]]
    )
    change = reassignment_to(state, [[0, 1]] * 3)
    settings = WaveSettings(max_in=1, order=Order.UNDER_REPLICATED)

    found = cut_up(change, settings)

    assert found.copies.partition_idx[found.wave == 0].tolist() == [1]


def test_one_topic_goes_after_the_other_where_asked():
    state = make_state({"a": [[0]] * 3, "b": [[0]] * 3}, racks="ab", size_bytes=1)
    change = reassignment_to(state, [[1]] * 6)

    found = cut_up(change, WaveSettings(max_in=2, max_out=2, order=Order.TOPIC))

    assert [sorted(found.wave[:3]), sorted(found.wave[3:])] == [[0, 0, 1], [2, 2, 3]]
    assert found.bound == 4


def test_nothing_to_do_is_no_wave():
    state = make_state([[0, 1]], racks="ab")

    found = cut_up(reassignment_to(state, [[0, 1]]))

    assert (found.num_waves, found.bound) == (0, 0)
    assert list(steps_of(found)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_in": 0},
        {"max_out": 0},
        {"max_shared": 0},
        {"max_per_partition": 0},
        {"bandwidth_bytes_per_s": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=r"at least 1|must be positive"):
        WaveSettings(**wrong)


@pytest.mark.parametrize(
    ("target", "lists"),
    [
        pytest.param([0], [[0]], id="at-once"),
        pytest.param([1, 2], [[1, 2]], id="the-leader-too"),
        pytest.param([3, 1], [[3, 1]], id="with-the-only-copy"),
        pytest.param([3, 4], [[0, 4, 2], [3, 4]], id="one-with-each-copy"),
        pytest.param([0, 1, 2, 3, 4], [[0, 1, 2, 3], [0, 1, 2, 3, 4]], id="more"),
    ],
)
def test_lists_that_change_their_length(target, lists):
    state = make_state([[0, 1, 2]], racks="abcde", size_bytes=5, min_isr=1)

    found = cut_up(reassignment_to(state, [target]), WaveSettings(max_out=1))

    assert [step.after[0] for step in steps_of(found) if step.has_copies] == lists
    assert judge(found) == ()


def test_a_move_inside_a_broker_leaves_the_order_alone():
    dirs = {b: [Dir("/d1"), Dir("/d2")] for b in (0, 1)}
    state = make_state(
        [[0, 1]], racks="ab", leaders=[1], log_dirs=dirs, dirs=[["/d1", "/d1"]]
    )

    found = cut_up(reassignment_to(state, [[0, 1]], [[None, "/d2"]]))

    assert [dict(step.after) for step in steps_of(found)] == [{0: [0, 1]}]
    assert judge(found) == ()


def test_a_broker_that_stays_is_not_copied_even_if_listed_as_replaced():
    state = make_state([[0, 1, 2], [0, 1]], racks="abcd", size_bytes=5)
    change = reassignment_to(state, [[1, 3], [1, 2]])
    # 0 by 1, and 1 by another: 1 stays in both.
    chained = replace(change, origin=np.array([0, 1, 3, 4]))

    found = cut_up(chained)

    assert found.copies.target_idx.tolist() == [3, -1, 2]
    assert judge(found) == ()


def test_what_is_dropped_makes_room_for_what_comes():
    state = make_state(
        [[0, 1], [1, 2]], racks="abc", size_bytes=[80, 60], disk_bytes=[100, 100, 200]
    )
    change = reassignment_to(state, [[1], [0, 2]])

    found = cut_up(change, WaveSettings(thresholds={Resource.DISK: 1.0}))

    assert found.is_limited_by_disk
    assert found.stuck is None
    assert dict(next(steps_of(found)).after) == {0: [1]}
    assert judge(found) == ()


def test_a_log_dir_holds_both_copies_of_what_moves_inside_its_broker():
    # Each is to take the place of the other, and there is no room for both at once.
    dirs = {0: [Dir("/d1", 100, 10), Dir("/d2", 100, 60)]}
    state = make_state(
        [[0], [0]],
        racks="ab",
        size_bytes=[40, 30],
        log_dirs=dirs,
        dirs=[["/d1"], ["/d2"]],
    )
    change = reassignment_to(state, [[0], [0]], [["/d2"], ["/d1"]])

    found = cut_up(change)

    assert found.copies.is_inside.all()
    assert found.wave.tolist() == [0, 1]
    assert [dict(step.after) for step in steps_of(found)] == [{0: [0]}, {1: [0]}]
    assert judge(found) == ()


@pytest.mark.parametrize("order", list(Order))
def test_what_came_to_a_partition_of_dead_brokers_sends_the_rest(order: Order):
    # Of t-0 nothing is left: what comes first to it leads, and sends what comes next.
    state = make_state(
        [[3, 5], [1, 2], [1, 0], [0, 2], [0, 5]],
        racks="abcabc",
        states={1: BrokerState.DEAD, 3: BrokerState.DEAD, 5: BrokerState.DEAD},
        isr=[[], [2], [0], [0, 2], [0]],
        size_bytes=[0, 0, 5, 0, 10],
    )
    targets = [[0, 2], [2, 0], [0, 2], [0, 2], [0, 2]]

    found = cut_up(
        reassignment_to(state, targets),
        WaveSettings(max_in=2, max_out=1, order=order),
    )

    assert judge(found) == ()
