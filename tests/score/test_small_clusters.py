"""The last lines of scores of the smallest clusters."""

from pathlib import Path

import numpy as np
import pytest

from placement.draft.draft import Settings
from placement.model.load import Resource
from placement.operations.rebalance import Rebalance
from placement.planning.plan import plan
from placement.score import score_cluster
from planner.score.score_verdict import balance_text, next_words, wrong_text
from support.clusters import make_state


def test_brokers_that_are_all_too_full_are_to_be_sized():
    state = make_state([[0, 1, 2]], racks="abc", size_bytes=90, disk_bytes=[100] * 3)

    score = score_cluster(state)

    assert next_words(score, Path("s.json")) == ["kafka-planner", "size", "s.json"]


def test_one_broker_that_is_too_full_is_to_be_relieved():
    lists = [[0], [0], [1]]
    state = make_state(lists, racks="abc", size_bytes=45, disk_bytes=[100] * 3)

    score = score_cluster(state)

    assert next_words(score, Path("s.json"))[:3] == [
        "kafka-planner",
        "plan",
        "rebalance",
    ]


def test_no_plan_is_promised_to_come_near_to_bands():
    # Three replicas on two brokers: one has two, and no plan is nearer than that.
    state = make_state([[0], [0], [0]], racks="ab", size_bytes=10)

    text = balance_text(score_cluster(state))

    assert text == (
        "no plan brings every broker into its bands by moving under 13 B; see 'plan "
        "rebalance'"
    )


def test_brokers_above_their_replica_limit_are_wrong():
    lists = [[0, 1], [0, 2], [0]]
    state = make_state(lists, racks="abc", max_replicas=[2, 2, 2])

    assert wrong_text(score_cluster(state)).startswith("1 broker over max_replicas")


def test_replica_limits_bind_and_are_to_be_kept():
    lists = [[1, 0], [2, 0], [0]]
    one_over = make_state(lists, racks="abc", max_replicas=[2, 2, 2])
    all_over = make_state(lists, racks="abc", max_replicas=[1, 1, 1])

    assert next_words(score_cluster(one_over), Path("s"))[1:3] == ["plan", "rebalance"]
    assert next_words(score_cluster(all_over), Path("s"))[1] == "size"


@pytest.mark.parametrize(
    ("in_rate", "resources", "message"),
    [
        pytest.param(
            [np.nan] * 2,
            None,
            "in is known for none of the partitions and is not balanced",
            id="unknown",
        ),
        pytest.param(
            [np.nan] * 2,
            (Resource.IN,),
            "in is known for none of the partitions and is not balanced",
            id="unknown-and-named",
        ),
        pytest.param(
            [1.0, np.nan],
            None,
            "in is known for 50% of the partitions and is not balanced; name it in "
            "--resources to balance what is known",
            id="known-in-part",
        ),
    ],
)
def test_what_is_unknown_is_not_to_be_named_to_be_balanced(
    in_rate, resources, message: str
):
    state = make_state([[0], [1]], racks="ab", in_rate=in_rate)

    plan_notes = plan(state, Rebalance(), Settings(resources=resources)).notes

    assert message in [note.message for note in plan_notes]
