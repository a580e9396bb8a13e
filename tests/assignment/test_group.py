from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.errors import InvalidGroupError
from assignment.make_group import MemberSpec, TopicSpec, make_group, matches
from assignment.rows import Rows, order_by
from support.groups import group_of, groups

GROUP = group_of({"t0": 2, "t1": 1}, {"c0": "t0", "c1": "t0 t1"}, {"c0": {"t0": [1]}})


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        GROUP.partitions.weight[0] = 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            {"subscribed": Rows(np.array([0, 1]), np.array([0]))},
            "subscribed.start must ascend",
            id="too-few-lists",
        ),
        pytest.param(
            {"subscribed": Rows(np.array([0, 1, 2]), np.array([0, 7]))},
            "subscribed must lie in 0..1, got 0..7",
            id="no-such-topic",
        ),
        pytest.param(
            {"owned": Rows(np.array([0, 2, 2]), np.array([1, 1]))},
            "a member must own a partition once",
            id="owned-twice",
        ),
        pytest.param(
            {"members": replace(GROUP.members, capacity=np.array([1.0, 0.0]))},
            "capacities must be finite and positive",
            id="no-capacity",
        ),
        pytest.param(
            {"members": replace(GROUP.members, ids=("c0", "c0"))},
            "a member id must stand once, found twice: ['c0']",
            id="member-twice",
        ),
        pytest.param(
            {"partitions": replace(GROUP.partitions, weight=np.array([1, -1, np.inf]))},
            "weights must be finite and not negative",
            id="weights",
        ),
        pytest.param(
            {
                "partitions": replace(
                    GROUP.partitions, topic_idx=np.zeros(3, dtype=np.int32)
                )
            },
            "partitions.topic_idx must list the topics",
            id="topics-do-not-fit",
        ),
    ],
)
def test_columns_that_contradict_are_refused(change, problem):
    with pytest.raises(InvalidGroupError) as raised:
        replace(GROUP, **change)

    assert any(problem in each for each in raised.value.problems)


def test_what_does_not_exist_any_more_is_not_owned():
    group = make_group(
        [TopicSpec(name="t0", num_partitions=2)],
        [MemberSpec(member_id="c0", topics=["t0"], owned={"t0": [1, 5], "gone": [0]})],
    )

    assert group.owned.idx.tolist() == [1]


def test_a_topic_that_is_only_named_does_not_exist():
    group = group_of({"t0": 1}, {"c0": "t0 t9"})

    assert group.topics.names == ("t0", "t9")
    assert group.is_read.tolist() == [True, False]


@pytest.mark.parametrize(
    ("pattern", "topic", "is_match"),
    [
        pytest.param("orders.*", "orders-eu", True, id="prefix"),
        pytest.param("orders", "orders-eu", False, id="whole-name"),
        pytest.param(".*", "__consumer_offsets", False, id="internal"),
        pytest.param("a|b", "ab", False, id="alternatives"),
    ],
)
def test_patterns_match_whole_names(pattern, topic, is_match):
    assert matches(pattern, topic) is is_match


def test_a_pattern_and_names_go_together():
    group = make_group(
        [TopicSpec(name=n, num_partitions=1) for n in ("a1", "a2", "b")],
        [MemberSpec(member_id="c0", topics=["b", "a1"], pattern="a.*")],
    )

    assert [group.topics.names[t] for t in group.subscribed.of(0)] == ["b", "a1", "a2"]


@given(groups())
def test_transposed_rows_say_the_same(group):
    pairs = {(m, int(t)) for m, ts in enumerate(group.subscribed) for t in ts}

    back = {(int(m), t) for t, ms in enumerate(group.subscribers) for m in ms}

    assert back == pairs


@given(groups())
def test_members_come_back_in_their_order(group):
    turned = group.with_members(np.arange(group.num_members)[::-1])
    back = turned.with_members(np.arange(group.num_members)[::-1])

    assert back.members.ids == group.members.ids
    assert back.owned.idx.tolist() == group.owned.idx.tolist()
    assert back.subscribed.start.tolist() == group.subscribed.start.tolist()


@given(
    st.lists(st.lists(st.integers(0, 5), unique=True, max_size=6), max_size=5),
    st.integers(1, 5),
    st.booleans(),
)
def test_transposed_rows_list_their_owners_in_order(lists, copies, is_same):
    lists = lists[:1] * copies if is_same else lists
    start = np.cumsum([0, *map(len, lists)])
    flat = [row for each in lists for row in each]
    rows = Rows(start.astype(np.int64), np.array(flat, dtype=np.int32))

    found = rows.transposed(6)

    expected = [
        [at for at, each in enumerate(lists) if row in each] for row in range(6)
    ]
    assert [owners.tolist() for owners in found] == expected


@given(st.lists(st.integers(0, 9), max_size=30), st.sampled_from([10, 2**16 + 1]))
def test_order_by_keeps_what_is_equal_in_its_order(keys, num_keys):
    found = order_by(np.array(keys, dtype=np.int64), num_keys)

    assert found.tolist() == sorted(range(len(keys)), key=keys.__getitem__)
