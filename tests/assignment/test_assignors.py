"""Worked examples, and what holds for every assignor on every group."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.assignors import (
    ASSIGNORS,
    CooperativeSticky,
    HashRoundRobin,
    Random,
    Range,
    RoundRobin,
    ServerRange,
    ServerUniform,
    Sticky,
)
from assignment.certificate import bound_busiest
from assignment.check import check
from assignment.errors import AssignorError
from assignment.group import ABSENT
from assignment.outcome import is_moved
from support.groups import checked, group_of, groups, named

BOTH = {"c0": "t0 t1", "c1": "t0 t1"}
CHAIN = {"c0": "t0", "c1": "t0 t1", "c2": "t0 t1 t2"}


@pytest.mark.parametrize(
    ("assignor", "topics", "members", "expected"),
    [
        pytest.param(
            Range(),
            {"t0": 3, "t1": 3},
            BOTH,
            {"c0": {"t0": [0, 1], "t1": [0, 1]}, "c1": {"t0": [2], "t1": [2]}},
            id="range-two-topics",
        ),
        pytest.param(
            Range(),
            {"t0": 5},
            {"c0": "t0", "c1": "t0"},
            {"c0": {"t0": [0, 1, 2]}, "c1": {"t0": [3, 4]}},
            id="range-five",
        ),
        pytest.param(
            Range(),
            {"t0": 4},
            {"c0": "t0", "c1": "t0"},
            {"c0": {"t0": [0, 1]}, "c1": {"t0": [2, 3]}},
            id="range-four",
        ),
        pytest.param(
            RoundRobin(),
            {"t0": 3, "t1": 3},
            BOTH,
            {"c0": {"t0": [0, 2], "t1": [1]}, "c1": {"t0": [1], "t1": [0, 2]}},
            id="round-robin-two-topics",
        ),
        pytest.param(
            RoundRobin(),
            {"T0": 3, "T1": 2, "T2": 4},
            {"c0": "T0 T1", "c1": "T1 T2", "c2": "T2 T0"},
            {
                "c0": {"T0": [0, 2], "T1": [1]},
                "c1": {"T1": [0], "T2": [0, 2]},
                "c2": {"T0": [1], "T2": [1, 3]},
            },
            id="round-robin-mixed",
        ),
        pytest.param(
            RoundRobin(),
            {"t0": 1, "t1": 2, "t2": 3},
            CHAIN,
            {"c0": {"t0": [0]}, "c1": {"t1": [0]}, "c2": {"t1": [1], "t2": [0, 1, 2]}},
            id="round-robin-uneven",
        ),
        pytest.param(
            Sticky(),
            {"t0": 1, "t1": 2, "t2": 3},
            CHAIN,
            {"c0": {"t0": [0]}, "c1": {"t1": [0, 1]}, "c2": {"t2": [0, 1, 2]}},
            id="sticky-fresh",
        ),
        pytest.param(
            HashRoundRobin(),
            {"t0": 11},
            {"c1": "t0", "c0": "t0"},
            # The code of [t0,10] is over 2**31, so a negative number: it comes first.
            {"c0": {"t0": [1, 3, 5, 7, 9, 10]}, "c1": {"t0": [0, 2, 4, 6, 8]}},
            id="hash",
        ),
    ],
)
def test_worked_examples(assignor, topics, members, expected):
    group = group_of(topics, members)

    assert named(group, checked(assignor, group)) == expected


def test_sticky_moves_only_what_a_member_that_leaves_had():
    owned = {"c1": {"t1": [0, 1]}, "c2": {"t2": [0, 1, 2]}}
    members = {"c1": "t0 t1", "c2": "t0 t1 t2"}
    group = group_of({"t0": 1, "t1": 2, "t2": 3}, members, owned)

    assignment = checked(Sticky(), group)

    assert named(group, assignment) == {
        "c1": {"t0": [0], "t1": [0, 1]},
        "c2": {"t2": [0, 1, 2]},
    }


def test_sticky_leaves_everybody_else_alone_when_a_member_dies():
    owned = {"c0": {"t0": [0], "t1": [1], "t3": [0]}, "c2": {"t1": [0], "t2": [1]}}
    topics = dict.fromkeys(("t0", "t1", "t2", "t3"), 2)
    group = group_of(topics, {"c0": list(topics), "c2": list(topics)}, owned)

    assignment = checked(Sticky(), group)

    assert not is_moved(group, assignment).any()
    assert assignment.counts(2).tolist() == [4, 4]


def test_cooperative_sticky_gives_up_first_and_hands_out_in_the_next_round():
    owned = {"c0": {"t0": [0, 1]}}
    first = group_of({"t0": 2}, {"c0": "t0", "c1": "t0"}, owned)
    second = group_of({"t0": 2}, {"c0": "t0", "c1": "t0"}, {"c0": {"t0": [0]}})

    rounds = [checked(CooperativeSticky(), group) for group in (first, second)]

    assert [each.member_idx.tolist() for each in rounds] == [[0, ABSENT], [0, 1]]


def test_server_uniform_stops_where_only_a_chain_would_help():
    # c2's surplus can reach c0 only by way of c1.
    owned = {
        "c0": {"t0": list(range(9))},
        "c1": {"t0": [9], "t1": list(range(9))},
        "c2": {"t1": list(range(9, 20))},
    }
    members = {"c0": "t0", "c1": "t0 t1", "c2": "t1"}
    group = group_of({"t0": 10, "t1": 20}, members, owned)

    assignment = checked(ServerUniform(), group)

    assert assignment.counts(3).tolist() == [9, 10, 11]


def test_sticky_stops_where_only_a_chain_would_help():
    owned = {
        "c0": {"t0": list(range(9))},
        "c1": {"t0": [9], "t1": list(range(9))},
        "c2": {"t1": list(range(9, 20))},
    }
    members = {"c0": "t0", "c1": "t0 t1", "c2": "t1"}
    group = group_of({"t0": 10, "t1": 20}, members, owned)

    assignment = checked(Sticky(), group)

    assert assignment.counts(3).tolist() == [9, 10, 11]


def test_range_gives_the_first_member_one_more_of_every_topic():
    topics = {f"t{n}": 3 for n in range(10)}
    group = group_of(topics, {"c0": list(topics), "c1": list(topics)})

    assert checked(Range(), group).counts(2).tolist() == [20, 10]


def test_round_robin_moves_nearly_everything_when_the_first_member_leaves():
    topics, ids = {"t0": 100}, [f"c{n}" for n in range(5)]
    before = group_of(topics, dict.fromkeys(ids, "t0"))
    owned = named(before, checked(RoundRobin(), before))
    after = group_of(topics, dict.fromkeys(ids[1:], "t0"), owned)

    moved = {
        assignor.name: int(is_moved(after, checked(assignor, after)).sum())
        for assignor in (RoundRobin(), Sticky())
    }

    assert moved == {"roundrobin": 60, "sticky": 0}


@pytest.mark.parametrize(
    ("assignor", "message"),
    [
        pytest.param(
            ServerRange(), "Member is subscribed to a non-existent topic", id="range"
        ),
        pytest.param(
            ServerUniform(),
            "Members are subscribed to topic t9 which doesn't exist in the topic "
            "metadata.",
            id="uniform",
        ),
    ],
)
def test_the_server_refuses_topics_that_do_not_exist(assignor, message):
    group = group_of({"t0": 1}, {"c0": "t0 t9"})

    with pytest.raises(AssignorError) as raised:
        assignor.assign(group)

    assert str(raised.value) == message


@given(groups(has_racks=True))
def test_everything_is_given_once_to_a_subscriber(group):
    for assignor in ASSIGNORS:
        checked(assignor, group)


@given(groups(has_racks=True))
def test_no_member_is_less_busy_than_the_bound(group):
    for assignor in ASSIGNORS:
        assignment = assignor.assign(group)
        busiest = bound_busiest(group, assignment)

        assert busiest.value == assignment.counts(group.num_members).max()
        assert busiest.lower_bound <= busiest.value


def test_sticky_hands_back_what_a_member_claims_but_reads_no_more():
    # Kafka looks at who had a partition in an older generation, not at what it reads
    # now; the checker says so.
    group = group_of(
        {"t0": 1, "t1": 3},
        {"c0": "t1", "c1": "t0 t1", "c2": "t0"},
        {"c0": {"t1": [0, 1, 2]}, "c2": {"t1": [0]}},
        generation={"c0": 4, "c1": 4, "c2": 3},
    )

    findings = check(group, Sticky().assign(group).member_idx)

    assert [finding.message for finding in findings] == [
        "c2 is given t1-0, but does not read t1"
    ]


EVEN = [RoundRobin(), Sticky(), ServerUniform(), HashRoundRobin()]


@given(groups(is_equal=True, has_racks=True))
def test_counts_are_even_where_all_read_the_same(group):
    for assignor in EVEN:
        counts = checked(assignor, group).counts(group.num_members)

        assert counts.max() - counts.min() <= 1


@given(groups(is_equal=True), st.randoms(use_true_random=False))
def test_range_and_round_robin_do_not_depend_on_the_order_of_members(group, random):
    order = list(range(group.num_members))
    random.shuffle(order)
    other = group.with_members(np.array(order))

    for assignor in (Range(), RoundRobin(), HashRoundRobin(), ServerRange()):
        assert named(group, checked(assignor, group)) == named(
            other, checked(assignor, other)
        )


@given(groups(), st.integers(0, 3))
def test_random_is_the_same_for_the_same_seed(group, seed):
    first, second = (checked(Random(seed), group) for _ in range(2))

    assert first.member_idx.tolist() == second.member_idx.tolist()
