"""Answers that a cluster gives while it changes, by a stand-in that changes on cue."""

from typing import Any

import pytest

from planner.kafka.read import topic_metadata
from planner.kafka.read.log_dirs import Partition
from planner.kafka.read.topic_metadata import find_deleted, read_topics, settle_moves

T0 = Partition("t", 0)
WHOLE = [1, 2]
MOVING = {"replicas": [3, 2, 1], "adding_replicas": [3], "removing_replicas": [1]}
GROWING = {"replicas": [1, 2, 3], "adding_replicas": [3], "removing_replicas": []}


class Cluster:
    """Topic `t` of one partition, whose replicas and moves follow two scripts."""

    def __init__(self, replicas: list[Any], moves: list[Any]) -> None:
        self.replicas, self.moves = replicas, moves

    has_controller = True

    def call(self, ask, *, needs: str):
        return ask(self)

    def describe_topic_partitions(self, names, limit, cursor) -> dict:
        found = [self._topic(name) for name in names or ["t"]]
        return {"topics": found, "next_cursor": None}

    def _topic(self, name: str) -> dict:
        replicas = self.replicas.pop(0) if len(self.replicas) > 1 else self.replicas[0]
        if name != "t" or replicas is None:
            return {"name": name, "error_code": 3, "partitions": []}
        partition = {"partition_index": 0, "replica_nodes": replicas}
        return {"name": name, "error_code": 0, "partitions": [partition]}

    def list_partition_reassignments(self) -> dict:
        move = self.moves.pop(0) if len(self.moves) > 1 else self.moves[0]
        return {} if move is None else {T0: move}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(topic_metadata, "_PAUSE_S", 0.0)


@pytest.mark.parametrize(
    ("replicas", "before", "moves", "expected"),
    [
        pytest.param([WHOLE], None, [None], (WHOLE, None), id="nothing-moves"),
        pytest.param(
            [[3, 2, 1]], MOVING, [MOVING], ([3, 2, 1], MOVING), id="moves-all-the-time"
        ),
        pytest.param(
            [WHOLE, [3, 2, 1]], None, [MOVING], ([3, 2, 1], MOVING), id="has-begun"
        ),
        pytest.param(
            [WHOLE, WHOLE, [3, 2, 1]],
            None,
            [MOVING],
            ([3, 2, 1], MOVING),
            id="has-begun-and-the-broker-has-not-heard-of-it",
        ),
        pytest.param(
            [[3, 2, 1], [3, 2]], MOVING, [None], ([3, 2], None), id="has-ended"
        ),
        pytest.param(
            [[3, 2, 1], WHOLE], MOVING, [None], (WHOLE, None), id="was-undone"
        ),
        pytest.param(
            [[1, 2, 3]], GROWING, [None], ([1, 2, 3], None), id="only-added-and-ended"
        ),
        pytest.param(
            [WHOLE, [3, 2, 1], [3, 2]],
            None,
            [MOVING, None],
            ([3, 2], None),
            id="begins-and-ends-between-the-answers",
        ),
    ],
)
def test_topics_and_moves_agree_in_the_end(replicas, before, moves, expected):
    cluster = Cluster(list(replicas), list(moves))
    seen = {} if before is None else {T0: before}

    found, moving = settle_moves(cluster, read_topics(cluster), seen)

    (partition,) = found["t"]["partitions"]
    assert (partition["replica_nodes"], moving.get(T0)) == expected


def test_a_topic_that_is_deleted_while_it_moves_is_left_out():
    cluster = Cluster([WHOLE, None], [MOVING, None])

    found, moving = settle_moves(cluster, read_topics(cluster), {})

    assert (found, moving) == ({}, {})


def test_a_partition_that_changes_all_the_time_is_not_waited_for():
    cluster = Cluster([WHOLE], [MOVING])

    found, moving = settle_moves(cluster, read_topics(cluster), {})

    assert found["t"]["partitions"][0]["replica_nodes"] == WHOLE
    assert moving == {T0: MOVING}


def test_a_topic_that_was_deleted_is_distinguished_from_one_that_is_hidden():
    cluster = Cluster([WHOLE], [None])

    assert find_deleted(cluster, {"t", "gone"}) == {"gone"}
    assert find_deleted(cluster, set()) == frozenset()
