"""Placement by hand: what is read, and what Kafka would refuse in which words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement import errors
from placement.placers.manual_placement import (
    ManualAssignment,
    check_added_partitions,
    check_new_topic,
    growth_refusal,
    read_replica_assignment,
)
from placement.placers.usable_brokers import PlacerBrokers

BROKERS = PlacerBrokers(
    ids=(0, 1, 2), racks=(None,) * 3, is_fenced=(False, False, True)
)


def said(assignment) -> list[tuple[int | None, str, str]]:
    return [
        (refusal.place, type(refusal.error).__name__, str(refusal.error))
        for refusal in assignment.refusals
    ]


def test_tp_demo_03_is_placed_as_written():
    read = read_replica_assignment("0:1,1:0,0:1")

    assert check_new_topic(read, BROKERS).checked() == ((0, 1), (1, 0), (0, 1))


@given(
    st.lists(
        st.lists(st.integers(0, 2**31 - 1), min_size=2, max_size=2, unique=True),
        min_size=1,
    )
)
def test_what_is_written_is_read(lists):
    text = ",".join(":".join(map(str, row)) for row in lists)

    assert read_replica_assignment(text).checked() == tuple(map(tuple, lists))


@pytest.mark.parametrize("text", [" 0 : 1 , 1 : 0 ", "0:1,1:0,", "0:1,1:0,,"])
def test_spaces_and_commas_at_the_end_count_for_nothing(text):
    assert read_replica_assignment(text).checked() == ((0, 1), (1, 0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "0:0,1:0",
            [
                (
                    0,
                    "AdminCommandFailedError",
                    "Partition replica lists may not contain duplicate entries: 0",
                )
            ],
            id="a-broker-twice",
        ),
        pytest.param(
            "0:1,1,0:1:2",
            [
                (
                    1,
                    "AdminOperationError",
                    "Partition 1 has different replication factor: [1]",
                ),
                (
                    2,
                    "AdminOperationError",
                    "Partition 2 has different replication factor: [0, 1, 2]",
                ),
            ],
            id="every-other-replication-factor",
        ),
        pytest.param(
            "0:1,:1,x:1,-1:0,2147483648:1",
            [
                (1, "InvalidReplicaAssignmentError", 'For input string: ""'),
                (2, "InvalidReplicaAssignmentError", 'For input string: "x"'),
                (3, "InvalidReplicaAssignmentError", 'For input string: "-1"'),
                (4, "InvalidReplicaAssignmentError", 'For input string: "2147483648"'),
            ],
            id="no-broker-ids",
        ),
        pytest.param(
            "",
            [(0, "InvalidReplicaAssignmentError", 'For input string: ""')],
            id="nothing",
        ),
    ],
)
def test_what_the_tool_refuses(text, expected):
    read = read_replica_assignment(text)

    assert said(read) == expected
    with pytest.raises(errors.KafkaRefusalError) as raised:
        read.checked()
    assert str(raised.value) == expected[0][2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "0:1,7:0",
            [
                (
                    1,
                    "The manual partition assignment includes broker 7, but no such "
                    "broker is registered.",
                )
            ],
            id="unknown-broker",
        ),
        pytest.param(
            "2,0",
            [
                (
                    0,
                    "All brokers specified in the manual partition assignment for "
                    "partition 0 are fenced or in controlled shutdown.",
                )
            ],
            id="all-fenced",
        ),
        pytest.param("2:0,0:2", [], id="one-of-two-fenced"),
        pytest.param(
            "0:0,7:1",
            [
                (0, "Partition replica lists may not contain duplicate entries: 0"),
                (
                    1,
                    "The manual partition assignment includes broker 7, but no such "
                    "broker is registered.",
                ),
            ],
            id="tool-and-controller",
        ),
    ],
)
def test_what_the_controller_refuses(text, expected):
    checked = check_new_topic(read_replica_assignment(text), BROKERS)

    assert [(place, message) for place, _, message in said(checked)] == expected


def added(text: str, num_partitions: int):
    return check_added_partitions(
        read_replica_assignment(text),
        BROKERS,
        topic="orders",
        current=[2, 2],
        num_partitions=num_partitions,
    )


def test_lists_of_partitions_that_are_there_are_passed_over():
    assert added("0:1,1:0,1:2,0:1", 4).checked() == ((1, 2), (0, 1))


@pytest.mark.parametrize(
    ("num_partitions", "message"),
    [
        pytest.param(2, "Topic already has 2 partition(s).", id="as-many"),
        pytest.param(
            1,
            "The topic orders currently has 2 partition(s); 1 would not be an "
            "increase.",
            id="fewer",
        ),
    ],
)
def test_the_number_of_partitions_can_only_grow(num_partitions, message):
    refused = added("0:1,1:0,0:1", num_partitions)

    assert said(refused) == [(None, "InvalidPartitionsError", message)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "0:1,1:0,0:1",
            (
                None,
                "Attempted to add 2 additional partition(s), but only 1 assignment(s) "
                "were specified.",
            ),
            id="too-few-lists",
        ),
        pytest.param(
            "0,1,0,1",
            (
                2,
                "The manual partition assignment includes a partition with 1 "
                "replica(s), but this is not consistent with previous partitions, "
                "which have 2 replica(s).",
            ),
            id="another-replication-factor-than-the-topic",
        ),
        pytest.param(
            "0:1,0:1,0:1,2:9",
            (
                3,
                "The manual partition assignment includes broker 9, but no such "
                "broker is registered.",
            ),
            id="unknown-broker",
        ),
    ],
)
def test_added_partitions_are_checked(text, expected):
    place, _, message = said(added(text, 4))[0]

    assert (place, message) == expected


def test_a_topic_that_grows_is_not_refused():
    assert growth_refusal("orders", 2, 3) is None


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        pytest.param([()], "an empty replica list.", id="nothing"),
        pytest.param([(1, 0, 1)], "the broker 1 more than once.", id="twice"),
    ],
)
def test_lists_that_no_tool_has_read_are_checked_as_the_controller_does(lists, message):
    checked = check_new_topic(ManualAssignment(lists=tuple(lists)), BROKERS)

    with pytest.raises(errors.InvalidReplicaAssignmentError) as raised:
        checked.checked()
    assert str(raised.value) == f"The manual partition assignment includes {message}"
