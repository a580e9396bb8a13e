"""Controllers that do not vote any more, in every verdict."""

from pathlib import Path
from typing import Any

import pytest

from planner.snapshot import Snapshot
from planner.what_if.play_scenarios import WhatIfRequest, read_options, what_if
from planner.what_if.scenarios_file import validate_scenarios
from support.commands import run
from support.plans import write_document
from support.scenarios import scenario

REMOVE = {"change": "remove-brokers", "brokers": "1"}
REPLACE = {"change": "replace-brokers", "brokers": "1", "with": "9"}
LOSE = {"change": "lose", "brokers": "1,2"}


def voters(*ages_ms: int | None, leader: int | None = None) -> list[dict[str, Any]]:
    """Return voters in the processes of brokers 1, 2, … with times of fetches."""
    return [
        {"id": node, "voter": True, "combined": True, "leader": node == leader}
        | ({} if age is None else {"fetch_age_ms": age})
        for node, age in enumerate(ages_ms, 1)
    ]


def cluster(
    controllers: list[dict[str, Any]], states: dict[int, str] | None = None
) -> dict[str, Any]:
    """Return two brokers in each of three racks that survive the loss of any rack."""
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "controllers": controllers,
        "configs": {"min.insync.replicas": "1"},
        "brokers": [
            {"id": b, "rack": "abc"[b % 3], "disk_bytes": 10**12}
            | {"state": (states or {}).get(b, "alive")}
            for b in range(1, 7)
        ],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {"partition": n, "replicas": row, "isr": row, "size_bytes": 10**9}
                    for n, row in enumerate([[4, 5, 6], [5, 6, 4], [6, 4, 5]])
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    ("controllers", "states"),
    [
        pytest.param(voters(0, 300, 60_000, leader=1), {}, id="silent"),
        pytest.param(voters(0, 300, None, leader=1), {}, id="never-fetched"),
        pytest.param(voters(None, None, None), {3: "dead"}, id="on-a-dead-broker"),
        pytest.param(voters(None, None, None), {3: "fenced"}, id="on-a-fenced-broker"),
    ],
)
def test_a_voter_that_is_silent_already_leaves_no_spare_one(
    capsys, tmp_path: Path, controllers, states
):
    path = write_document(cluster(controllers, states), tmp_path / "s.json")

    everything = run(capsys, "failures", path, "--format", "json")
    one = run(capsys, "failures", path, "--broker", "1", "--format", "json")
    itself = run(capsys, "failures", path, "--rack", "a", "--format", "json")
    status = run(capsys, "status", path, "--format", "json")

    verdict = everything.document["verdict"]
    assert everything.code == one.code == status.code == 3
    assert verdict["broker"]["controllers_keep_majority"] is False
    assert verdict["rack"]["controllers_keep_majority"] is False
    assert not one.document["survives"]
    assert itself.document["controllers_keep_majority"] is True
    assert status.document["quorum"]["silent"] == [3]


def test_the_leader_is_not_silent_where_only_the_others_have_times(capsys, tmp_path):
    path = write_document(
        cluster(voters(None, 300, 300, leader=1)), tmp_path / "s.json"
    )

    found = run(capsys, "status", path, "--format", "json").document["quorum"]

    assert (found["silent"], found["may_fail"]) == ([], 1)


def test_a_voter_on_a_fenced_broker_that_fetches_still_counts(capsys, tmp_path: Path):
    given = cluster(voters(0, 300, 200, leader=1), {3: "fenced"})
    path = write_document(given, tmp_path / "s.json")

    found = run(capsys, "failures", path, "--broker", "1", "--format", "json")

    assert found.document["controllers_keep_majority"] is True


@pytest.mark.parametrize("change", [REMOVE, REPLACE], ids=["removed", "replaced"])
def test_a_broker_that_leaves_takes_its_vote_along(change):
    found = played(change)

    assert found["holds"]
    assert found["survives"]["broker"]["survives"] is False
    assert found["survives"]["rack"]["survives"] is False
    assert "broker 1 votes in the controllers' quorum" in found["notes"][0]


def test_a_replaced_machine_of_the_same_id_votes_in_its_place():
    found = played({"change": "replace-brokers", "brokers": "1"})

    assert found["survives"]["broker"]["controllers_keep_majority"] is True
    assert not found["notes"]


@pytest.mark.parametrize("then", ["nothing", "rebalance"])
def test_nothing_holds_without_a_majority_of_controllers(then):
    found = played(LOSE, then=then)

    assert found["violations"]["offline"] == found["violations"]["under_min_isr"] == 0
    assert not found["holds"]
    assert "fewer than 2 of the 3 controllers" in found["shortfalls"][0]


def played(change: dict[str, Any], **more: Any) -> dict[str, Any]:
    snapshot = Snapshot.from_document(cluster(voters(None, None, None)))
    state = snapshot.to_state()
    file = validate_scenarios(
        {"scenarios": [scenario("a", change, **more)]}, snapshot, state
    )
    options = read_options(WhatIfRequest(effort="quick"), state)
    [found] = what_if(snapshot, file, options).scenarios
    return found


def test_a_plan_that_empties_a_voter_says_so(capsys, tmp_path: Path):
    path = write_document(cluster(voters(None, None, None)), tmp_path / "s.json")

    outcome = run(capsys, "plan", "remove-brokers", path, "--broker-list", "1,4")

    words = " ".join(outcome.out.split())
    assert "broker 1 is also one of 3 voters of the controllers' quorum" in words
    assert "broker 4 is also" not in words


def test_the_vote_of_a_broker_that_is_treated_as_gone_is_named(capsys, tmp_path: Path):
    given = cluster(voters(None, None, None), {3: "fenced"})
    path = write_document(given, tmp_path / "s.json")

    outcome = run(capsys, "plan", "fix", path, "--lost", "3")

    words = " ".join(outcome.out.split())
    assert "broker 3 is also one of 3 voters" in words
    assert "vote in its place if it does not return" in words


def test_the_losses_that_a_plan_survives_include_the_controllers(
    capsys, tmp_path: Path
):
    given = cluster(
        [{"id": 100, "rack": "a"}, {"id": 101, "rack": "a"}, {"id": 102, "rack": "b"}]
    )
    path = write_document(given, tmp_path / "s.json")

    outcome = run(capsys, "plan", "rebalance", path)

    words = " ".join(outcome.out.split())
    assert "any broker: yes. Any rack: no, the controllers lose their majority" in words
