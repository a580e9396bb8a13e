"""Reassignments: lists made of new places, and the cluster afterwards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    BrokerState,
    ClusterState,
    LogDirState,
)
from placement.model.disk_bytes import fixed_disk_bytes
from placement.model.load import first_live_replica, weigh
from placement.model.reassignment import Reassignment, reassign, unchanged
from support.clusters import Dir, clusters, make_state
from support.naive import failed_ids, live_ids, replicas_of


def as_it_is(state: ClusterState) -> Reassignment:
    return reassign(state, state.replicas.broker_idx, first_live_replica(state))


def moved(state: ClusterState, broker_of: list[int], leading: list[int]):
    rows = state.brokers.rows_of(broker_of)
    return reassign(state, rows, np.array(leading, dtype=np.int64))


def lists_of(state: ClusterState) -> list[list[int]]:
    return [state.brokers_of(p) for p in range(state.num_partitions)]


@pytest.mark.parametrize(
    ("broker_of", "leading", "lists"),
    [
        pytest.param([0, 1, 2], 0, [0, 1, 2], id="as-it-was"),
        pytest.param([0, 3, 2], 0, [0, 3, 2], id="a-copy-takes-the-place-it-replaces"),
        pytest.param([3, 1, 2], 0, [3, 1, 2], id="the-leader-moves"),
        pytest.param([0, 1, 2], 2, [2, 0, 1], id="another-leads"),
        pytest.param([3, 1, 2], 1, [1, 3, 2], id="the-leader-moves-another-leads"),
        pytest.param([2, 1, 3], 0, [2, 1, 3], id="all-shifted"),
    ],
)
def test_lists_of_new_places(broker_of, leading: int, lists):
    state = make_state([[0, 1, 2]], racks="abcd")

    found = moved(state, broker_of, [leading])

    assert lists_of(found.after()) == [lists]
    assert found.is_changed.tolist() == [lists != [0, 1, 2]]
    assert found.is_led_anew.tolist() == [lists[0] != 0]


def test_a_list_in_which_nothing_moves_keeps_its_dead_first_replica():
    state = make_state([[0, 1]], states={0: BrokerState.DEAD})

    found = as_it_is(state)

    assert not found.is_changed.any()
    assert found.after().partitions.leader_idx.tolist() == [1]


def copies_to(found: Reassignment) -> set[tuple[int, int]]:
    """The copies that Kafka makes: brokers of a list that were not in it."""
    return {
        (p, b)
        for p, (old, new) in enumerate(
            zip(lists_of(found.before), lists_of(found.after()), strict=True)
        )
        for b in set(new) - set(old)
    }


@pytest.mark.parametrize(
    ("broker_of", "num_copies"),
    [
        pytest.param([1, 3, 2], 1, id="one-takes-the-place-of-another"),
        pytest.param([1, 2, 3], 1, id="all-shift"),
        pytest.param([1, 0, 2], 0, id="two-trade"),
        pytest.param([3, 1, 2], 1, id="one-goes"),
    ],
)
def test_a_replica_whose_broker_is_still_listed_stays(broker_of, num_copies):
    state = make_state([[0, 1, 2], [2, 1, 0]], racks="abcd", size_bytes=[5, 7])

    found = moved(state, [*broker_of, 2, 1, 0], [0, 3])

    copied = found.is_copied
    places = zip(found.partition_idx[copied], found.broker_idx[copied], strict=True)
    assert {(int(p), int(b)) for p, b in places} == copies_to(found)
    assert copied.sum() == num_copies
    assert found.copied_bytes(weigh(state)) == 5 * num_copies
    # Each place comes from a replica of its own.
    assert sorted(found.origin.tolist()) == list(range(6))


def test_what_is_taken_off_and_brought_back_is_copied_once():
    # First 0 is left for 3; then another replica comes to 0.
    state = make_state([[0, 1]], racks="abcd")
    first = moved(state, [3, 1], [0])

    both = first.then(moved(first.after(), [3, 0], [0]))

    assert lists_of(both.after()) == [[3, 0]]
    assert both.is_copied.tolist() == [True, False]
    assert copies_to(both) == {(0, 3)}


def test_what_is_dropped_and_comes_back_is_not_copied():
    # 1 is dropped, and then what is left of the list goes there.
    state = make_state([[0, 1]], racks="ab")
    first = unchanged(state).without(np.array([False, True]))

    both = first.then(moved(first.after(), [1], [0]))

    assert lists_of(both.after()) == [[1]]
    assert both.is_copied.tolist() == [False]


def test_copies_cost_the_size_of_their_partition():
    state = make_state([[0, 1], [0, 1], [1, 0]], racks="abc", size_bytes=[5, 7, 11])

    found = moved(state, [2, 1, 0, 2, 1, 2], [0, 2, 4])

    assert found.is_copied.tolist() == [True, False, False, True, False, True]
    assert found.copied_bytes(weigh(state)) == 23


def test_a_copy_has_neither_log_dir_nor_bytes_of_its_own():
    state = make_state(
        [[0, 1]],
        racks="abc",
        size_bytes=10,
        log_dirs={0: [Dir("/a")], 1: [Dir("/b")]},
        dirs=[["/a", "/b"]],
        own_bytes=[[12, 9]],
    )

    after = moved(state, [0, 2], [0]).after()

    assert after.replicas.log_dir_idx.tolist() == [0, ABSENT]
    assert after.replicas.own_bytes.tolist() == [12, UNKNOWN]


@settings(max_examples=80)
@given(clusters(reassigning=True))
def test_keeping_every_place_changes_no_list(state: ClusterState):
    found = as_it_is(state)

    after = found.after()
    assert not found.is_copied.any()
    assert not found.is_changed.any()
    assert lists_of(after) == lists_of(state)
    assert after.replicas.is_adding.tolist() == state.replicas.is_adding.tolist()
    assert found.copied_bytes(weigh(state)) == 0


@st.composite
def reassignments(draw) -> tuple[ClusterState, list[int], list[int]]:
    """Any new brokers for each partition, and any of its replicas to lead."""
    state = draw(clusters(reassigning=True))
    broker_of, leading = [], []
    for partition in range(state.num_partitions):
        count = len(replicas_of(state, partition))
        order = draw(st.permutations(state.brokers.ids.tolist()))
        stays = draw(st.booleans())
        broker_of += state.brokers_of(partition) if stays else order[:count]
        start = int(state.replicas.start[partition])
        leading.append(start + draw(st.integers(0, count - 1)))
    return state, broker_of, leading


def in_sync(state: ClusterState, partition: int) -> set[int]:
    return {r.broker for r in replicas_of(state, partition) if r.is_in_sync}


@settings(max_examples=80)
@given(reassignments())
def test_lists_hold_the_new_places_and_the_leader_first(case):
    state, broker_of, leading = case
    found = moved(state, broker_of, leading)
    after = found.after()

    live, first = live_ids(state), first_live_replica(state).tolist()
    for partition, (start, stop) in enumerate(
        zip(state.replicas.start[:-1], state.replicas.start[1:], strict=True)
    ):
        wanted, before = broker_of[start:stop], state.brokers_of(partition)
        new = after.brokers_of(partition)
        assert sorted(new) == sorted(wanted)
        is_touched = wanted != before or leading[partition] != first[partition]
        if is_touched:
            assert new[0] == broker_of[leading[partition]]
            others = [b for b in wanted if b != new[0]]
            assert new[1:] == others
        else:
            assert new == before
        assert found.is_changed[partition] == (new != before)
        assert found.is_led_anew[partition] == (new[0] != before[0])
        if new != before:
            # Without a source nothing is copied, so nothing comes to be in sync.
            # What stays in a failed log dir stays offline.
            able = live - (failed_ids(state, partition) & set(before))
            reached = able if state.has_source[partition] else in_sync(state, partition)
            assert in_sync(after, partition) == set(new) & reached
            assert not after.is_reassigning[partition]


def test_the_first_live_replica_leads_once_it_is_in_sync():
    state = make_state([[0, 1], [0, 1]], racks="ab", isr=[[1], [0, 1]])

    assert as_it_is(state).after().partitions.leader_idx.tolist() == [0, 0]


@settings(max_examples=80)
@given(clusters())
def test_a_plan_carried_out_leaves_the_cluster_sound(state: ClusterState):
    after = as_it_is(state).after()

    live = live_ids(state)
    for partition, leader in enumerate(after.partitions.leader_idx.tolist()):
        brokers = after.brokers_of(partition)
        leads = None if leader == ABSENT else int(after.brokers.ids[leader])
        # Without a live replica in sync nobody leads, and nothing is copied.
        is_led = bool(set(brokers) & live) and bool(state.has_source[partition])
        assert (leads is not None) == is_led
        assert leads is None or leads in live & set(brokers)
    assert fixed_disk_bytes(after).tolist() == fixed_disk_bytes(state).tolist()


def test_what_leaves_an_unknown_log_dir_frees_nothing_that_others_take():
    # t-1 is in one of broker 0's log dirs; d1 is filled by t-0 but for ten bytes.
    dirs = {0: [Dir("/d1", 123, 33), Dir("/d2", 70, 0)], 1: [Dir("/d1", 99, 99)]}
    state = make_state(
        [[0], [0]], racks="ab", size_bytes=[80, 60],
        log_dirs=dirs, dirs=[["/d1"], [None]],
    )  # fmt: skip

    after = moved(state, [0, 1], [0, 0]).after()

    assert fixed_disk_bytes(after).tolist() == fixed_disk_bytes(state).tolist()


def test_what_comes_to_a_broker_fills_no_log_dir_that_is_offline():
    off = Dir("/d2", 330, 300, LogDirState.OFFLINE)
    state = make_state(
        [[0], [1]], racks="ab", size_bytes=[20, 20], dirs=[["/d1"], ["/d1"]],
        log_dirs={0: [Dir("/d1", 130, 100), off], 1: [Dir("/d1", 99, 79)]},
    )  # fmt: skip

    after = moved(state, [0, 0], [0, 0]).after()

    assert fixed_disk_bytes(after).tolist() == fixed_disk_bytes(state).tolist()


def test_a_log_dir_that_was_said_to_be_empty_frees_nothing():
    # Nothing is taken of broker 0's log dir, it says, though t-0 lies in it.
    state = make_state(
        [[0], [1]], racks="ab", size_bytes=[5, 40], dirs=[["/d1"], ["/d1"]],
        log_dirs={
            0: [Dir("/d1", 220, 220), Dir("/d2", 99, 60)], 1: [Dir("/d1", 99, 59)],
        },
    )  # fmt: skip

    after = moved(state, [1, 0], [0, 0]).after()

    assert fixed_disk_bytes(after).tolist() == fixed_disk_bytes(state).tolist()
