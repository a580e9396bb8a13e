"""Throttles in force: which are set where, and the commands that remove them."""

import pytest

from planner.snapshot import Snapshot
from planner.status.throttles_in_force import throttles_in
from planner.throttles import (
    BROKER_THROTTLES,
    LOG_DIR_RATE,
    TOPIC_THROTTLES,
    Throttle,
    removals,
)

LEADER, FOLLOWER, _ = BROKER_THROTTLES
LEADERS, FOLLOWERS = TOPIC_THROTTLES


def snapshot(*, brokers=None, cluster=None, topics=None) -> Snapshot:
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "configs": cluster or {},
        "brokers": [{"id": b, "configs": c} for b, c in (brokers or {1: {}}).items()],
        "topics": [
            {"name": name, "configs": c, "partitions": []}
            for name, c in (topics or {}).items()
        ],
    }
    return Snapshot.from_document(document, file="f")


def test_throttles_of_brokers_of_the_default_and_of_topics_are_listed():
    found = throttles_in(
        snapshot(
            brokers={1: {LEADER: "5"}, 2: {"num.io.threads": "8"}, 10: {FOLLOWER: "6"}},
            cluster={LOG_DIR_RATE: "7", "min.insync.replicas": "2"},
            topics={"t": {LEADERS: "0:1", FOLLOWERS: ""}, "u": {FOLLOWERS: "*"}},
        )
    )

    assert found == [
        Throttle("broker", "1", LEADER, "5"),
        Throttle("broker", "10", FOLLOWER, "6"),
        Throttle("cluster", "", LOG_DIR_RATE, "7"),
        Throttle("topic", "t", LEADERS, "0:1"),
        Throttle("topic", "u", FOLLOWERS, "*"),
    ]


@pytest.mark.parametrize(
    ("throttle", "entity"),
    [
        pytest.param(
            Throttle("broker", "3", LEADER, "1"),
            "--entity-type brokers --entity-name 3",
            id="broker",
        ),
        pytest.param(
            Throttle("cluster", "", LEADER, "1"),
            "--entity-type brokers --entity-default",
            id="cluster",
        ),
        pytest.param(
            Throttle("topic", "a.b", LEADERS, "*"),
            "--entity-type topics --entity-name a.b",
            id="topic",
        ),
    ],
)
def test_a_throttle_names_the_command_that_removes_it(throttle: Throttle, entity: str):
    assert throttle.removal("--bootstrap-server k:1") == (
        f"kafka-configs.sh --bootstrap-server k:1 --alter {entity} "
        f"--delete-config {throttle.key}"
    )


def test_one_command_removes_all_throttles_of_one_place():
    throttles = [
        Throttle("broker", "10", LEADER, "1"),
        Throttle("topic", "t", LEADERS, "0:1"),
        Throttle("broker", "2", LEADER, "1"),
        Throttle("broker", "10", FOLLOWER, "1"),
        Throttle("cluster", "", FOLLOWER, "1"),
    ]

    commands = removals(throttles)

    assert [command.split(" --alter ")[1] for command in commands] == [
        f"--entity-type brokers --entity-name 2 --delete-config {LEADER}",
        f"--entity-type brokers --entity-name 10 --delete-config {LEADER},{FOLLOWER}",
        f"--entity-type brokers --entity-default --delete-config {FOLLOWER}",
        f"--entity-type topics --entity-name t --delete-config {LEADERS}",
    ]
