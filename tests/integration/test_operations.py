"""Operations planned on a real cluster, run by Kafka's own tools, and verified."""

import json
from pathlib import Path
from typing import Any

import pytest

from integration.kafka.cluster import TOOLS, Cluster, wait_until
from integration.kafka_tool_output import (
    printed_brokers,
    printed_replicas,
    printed_topics,
)
from integration.planner import partitions_of, run_here, take_snapshot
from integration.steps import create, execute, preview, replicas_of, verify, write_plan

pytestmark = pytest.mark.kafka

# Clusters on loopback share the disk of the machine, which may be rather full.
ROOMY = ("--capacity-threshold", "disk=1")


def plan_on(
    cluster: Cluster, folder: Path, topic: str, operation: str, *options: object
) -> tuple[Path, dict[str, Any]]:
    """Plan one topic on a snapshot taken now, and have the plan checked."""
    before, plan = folder / "before.json", folder / "plan"
    take_snapshot(cluster.bootstrap, before)
    what = (operation, before, *options, "--topic", topic, *ROOMY)
    made = run_here("plan", *what, "-o", plan, "--format", "json")
    assert made.code == 0, made.err + made.out
    checked = run_here("check", plan, "--snapshot", before, *ROOMY)
    assert checked.code == 0, checked.out
    return plan, made.document


def run_to_its_end(cluster: Cluster, plan: Path) -> None:
    """Let Kafka's tool run a plan, and have both verify it."""
    assert verify(cluster, plan)[1]["status"] == "not-started"
    before, moves = preview(cluster, plan), moves_of(plan)
    # A plan without waves may bring several new replicas of a partition at once.
    assert {blocker["rule"] for blocker in before["blockers"]} <= {"needs-waves"}
    assert sum(stage["copies"] for stage in before["stages"]) == moves["replicas"]
    assert before["completed"] == 0
    execute(cluster, plan / "reassignment.json")
    waited = run_here("verify", plan, "--bootstrap-server", cluster.bootstrap, "--wait")
    assert waited.code in {0, 3}, waited.err
    wait_until(
        lambda: verify(cluster, plan)[1]["status"] == "completed",
        "every broker to tell the planned replicas",
    )
    assert verify(cluster, plan)[0] == 0
    after = preview(cluster, plan)
    assert {stage["kind"] for stage in after["stages"]} <= {"election"}
    assert after["completed"] == moves["partitions"]


def moves_of(plan: Path) -> dict[str, int]:
    moves: dict[str, int] = json.loads((plan / "plan.json").read_text())["moves"]
    return moves


def leaders_of(cluster: Cluster, topic: str) -> list[int | None]:
    printed = printed_topics(cluster.topics("--describe", "--topic", topic))
    return [one["leader"] for _, one in sorted(printed.items())]


def elect_planned(cluster: Cluster, plan: Path) -> None:
    """Let Kafka's tool elect the leaders that a plan names."""
    named = ("--path-to-json-file", str(plan / "preferred-election.json"))
    cluster.elect("--election-type", "preferred", *named)


def planned_lists(plan: Path) -> dict[int, list[int]]:
    entries = json.loads((plan / "reassignment.json").read_text())["partitions"]
    return {entry["partition"]: entry["replicas"] for entry in entries}


def test_a_higher_replication_factor(shared_cluster: Cluster, tmp_path):
    create(shared_cluster, "ops-wider", [[1], [2], [3]])
    shared_cluster.produce("ops-wider", num_records=3000, record_bytes=100)
    leaders = leaders_of(shared_cluster, "ops-wider")

    plan, document = plan_on(
        shared_cluster, tmp_path, "ops-wider", "set-replication-factor",
        "--replication-factor", 2,
    )  # fmt: skip
    run_to_its_end(shared_cluster, plan)

    assert document["moves"]["replicas"] == 3
    now = replicas_of(shared_cluster, "ops-wider")
    assert [len(replicas) for replicas in now] == [2, 2, 2]
    assert [replicas[0] for replicas in now] == [1, 2, 3]
    assert leaders_of(shared_cluster, "ops-wider") == leaders
    after = take_snapshot(shared_cluster.bootstrap, tmp_path / "after.json")
    for one in partitions_of(after, "ops-wider"):
        assert sorted(one["isr"]) == sorted(one["replicas"])
    execute(shared_cluster, plan / "rollback.json")
    assert replicas_of(shared_cluster, "ops-wider") == [[1], [2], [3]]


def test_a_lower_replication_factor(shared_cluster: Cluster, tmp_path):
    create(shared_cluster, "ops-narrower", [[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    shared_cluster.produce("ops-narrower", num_records=3000, record_bytes=100)

    plan, document = plan_on(
        shared_cluster, tmp_path, "ops-narrower", "set-replication-factor",
        "--replication-factor", 1,
    )  # fmt: skip
    run_to_its_end(shared_cluster, plan)

    assert document["moves"]["replicas"] == 0
    now = replicas_of(shared_cluster, "ops-narrower")
    assert [len(replicas) for replicas in now] == [1, 1, 1]
    assert now == [planned_lists(plan)[partition] for partition in range(3)]
    assert leaders_of(shared_cluster, "ops-narrower") == [row[0] for row in now]


def test_a_demoted_broker_leads_nothing_once_leaders_are_elected(
    shared_cluster: Cluster, tmp_path
):
    create(shared_cluster, "ops-calm", [[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    assert leaders_of(shared_cluster, "ops-calm") == [1, 1, 2]

    plan, document = plan_on(
        shared_cluster, tmp_path, "ops-calm", "demote", "--broker-list", 1
    )
    run_to_its_end(shared_cluster, plan)
    elect_planned(shared_cluster, plan)

    assert document["moves"]["replicas"] == 0
    assert document["moves"]["leaders"] == 2
    now = replicas_of(shared_cluster, "ops-calm")
    assert [replicas[-1] for replicas in now] == [1, 1, 1]
    wait_until(
        lambda: 1 not in leaders_of(shared_cluster, "ops-calm"),
        "broker 1 to lead nothing",
    )
    assert leaders_of(shared_cluster, "ops-calm") == [row[0] for row in now]
    assert verify(shared_cluster, plan)[1]["findings"] == []


def test_a_broker_is_replaced_position_by_position(shared_cluster: Cluster, tmp_path):
    create(shared_cluster, "ops-swap", [[1, 2], [2, 1], [1, 2]])
    shared_cluster.produce("ops-swap", num_records=3000, record_bytes=100)

    plan, document = plan_on(
        shared_cluster, tmp_path, "ops-swap", "replace-broker",
        "--broker", 1, "--with", 3,
    )  # fmt: skip
    run_to_its_end(shared_cluster, plan)

    assert document["moves"]["replicas"] == 3
    assert replicas_of(shared_cluster, "ops-swap") == [[3, 2], [2, 3], [3, 2]]
    # Who led and has gone gives way to the first replica by itself.
    assert leaders_of(shared_cluster, "ops-swap") == [3, 2, 3]
    again = take_snapshot(shared_cluster.bootstrap, tmp_path / "again.json")
    assert partitions_of(again, "ops-swap")[0]["isr"]


def test_a_partition_with_a_factor_of_its_own_is_repaired(
    shared_cluster: Cluster, tmp_path
):
    create(shared_cluster, "ops-mixed", [[1, 2], [2, 3], [3, 1]])
    odd = write_plan(tmp_path / "odd.json", "ops-mixed", {0: [1, 2, 3], 2: [3]})
    execute(shared_cluster, odd)
    assert [len(row) for row in replicas_of(shared_cluster, "ops-mixed")] == [3, 2, 1]

    plan, _ = plan_on(
        shared_cluster, tmp_path, "ops-mixed", "fix", "--only", "replication-factor"
    )
    run_to_its_end(shared_cluster, plan)

    # Of factors that are as frequent the largest counts.
    assert [len(row) for row in replicas_of(shared_cluster, "ops-mixed")] == [3, 3, 3]
    assert [row[0] for row in replicas_of(shared_cluster, "ops-mixed")] == [1, 2, 3]


def test_an_added_broker_alone_gets_copies(shared_cluster: Cluster, tmp_path):
    # Many more than other tests leave on broker 3.
    create(shared_cluster, "ops-grown", [[1, 2], [2, 1]] * 20)
    shared_cluster.produce("ops-grown", num_records=3000, record_bytes=100)
    was = replicas_of(shared_cluster, "ops-grown")

    plan, document = plan_on(
        shared_cluster, tmp_path, "ops-grown", "add-brokers",
        "--broker-list", 3, "--resources", "replicas", "--band", 0,
    )  # fmt: skip
    run_to_its_end(shared_cluster, plan)

    now = replicas_of(shared_cluster, "ops-grown")
    came = [set(new) - set(old) for old, new in zip(was, now, strict=True)]
    assert set().union(*came) == {3}
    assert sum(map(len, came)) == document["moves"]["replicas"] > 0
    assert all(now[p] == row for p, row in planned_lists(plan).items())


def test_leaders_are_shared_out_once_they_are_elected(
    shared_cluster: Cluster, tmp_path
):
    # Many more than other tests leave on brokers 2 and 3.
    start = [[1, 2], [1, 3], [1, 2]] * 20
    create(shared_cluster, "ops-led", start)
    assert leaders_of(shared_cluster, "ops-led") == [1] * 60

    plan, document = plan_on(shared_cluster, tmp_path, "ops-led", "leaders")
    run_to_its_end(shared_cluster, plan)
    # The order alone elects nobody.
    assert leaders_of(shared_cluster, "ops-led") == [1] * 60
    elect_planned(shared_cluster, plan)

    assert document["moves"]["replicas"] == document["moves"]["bytes"] == 0
    now = replicas_of(shared_cluster, "ops-led")
    assert [sorted(row) for row in now] == start
    firsts = [row[0] for row in now]
    wait_until(
        lambda: leaders_of(shared_cluster, "ops-led") == firsts,
        "the preferred leaders to lead",
    )
    assert set(firsts) > {1}
    assert firsts.count(1) == 60 - document["moves"]["leaders"]
    assert verify(shared_cluster, plan)[1]["findings"] == []


def test_copies_come_to_the_log_dirs_that_a_mixed_plan_names(
    shared_cluster: Cluster, tmp_path
):
    create(shared_cluster, "ops-dirs", [[1, 2]] * 6)
    shared_cluster.produce("ops-dirs", num_records=3000, record_bytes=100)

    # Whatever else the brokers hold, these come to broker 3.
    plan, document = plan_on(
        shared_cluster, tmp_path, "ops-dirs", "replace-broker", "--broker", 2,
        "--with", 3, "--with-log-dirs",
    )  # fmt: skip
    run_to_its_end(shared_cluster, plan)

    entries = json.loads((plan / "reassignment.json").read_text())["partitions"]
    named = {
        (broker, "ops-dirs", entry["partition"]): path
        for entry in entries
        for broker, path in zip(entry["replicas"], entry["log_dirs"], strict=True)
        if path != "any"
    }
    assert {broker for broker, _, _ in named} >= {3}
    assert len(named) >= document["moves"]["replicas"] > 0
    said = shared_cluster.describe_log_dirs("--topic-list", "ops-dirs")
    lies = {where: path for where, (path, _) in printed_replicas(said).items()}
    assert {where: lies[where] for where in named} == named


def test_a_removed_broker_is_left_with_nothing(new_cluster, tmp_path):
    cluster = new_cluster(num_racks=1)
    create(cluster, "t", [[1, 3], [3, 2], [2, 1]])
    cluster.produce("t", num_records=3000, record_bytes=100)

    plan, document = plan_on(
        cluster, tmp_path, "t", "remove-brokers", "--broker-list", 3
    )
    run_to_its_end(cluster, plan)

    assert document["moves"]["replicas"] == 2
    now = replicas_of(cluster, "t")
    assert [sorted(row) for row in now] == [[1, 2]] * 3
    assert now[2] == [2, 1]
    wait_until(
        lambda: (
            3 not in {b for b, _, _ in printed_replicas(cluster.describe_log_dirs())}
        ),
        "the log dirs of broker 3 to be empty",
    )


def test_what_a_dead_broker_held_and_crowded_racks_are_repaired(new_cluster, tmp_path):
    # Racks r1, r2, r1, r2.
    cluster = new_cluster(num_brokers=4, num_racks=2, apart=(4,))
    create(cluster, "t", [[1, 4], [4, 1], [1, 3], [1, 2]])
    cluster.produce("t", num_records=3000, record_bytes=100)
    cluster.kill(4)
    wait_until(
        lambda: printed_brokers(cluster.endpoints())[4][1] == "fenced",
        "broker 4 to be fenced",
    )
    where = ("--bootstrap-server", cluster.bootstrap)
    cluster.run(f"{TOOLS}.ClusterTool", "unregister", *where, "--id", "4")

    plan, document = plan_on(cluster, tmp_path, "t", "fix")
    run_to_its_end(cluster, plan)

    assert document["moves"]["replicas"] == 3
    now = replicas_of(cluster, "t")
    assert [set(row) for row in now[:2]] == [{1, 2}] * 2
    assert set(now[2]) in ({1, 2}, {2, 3})
    assert now[3] == [1, 2]
    after = take_snapshot(cluster.bootstrap, tmp_path / "after.json")
    for one in partitions_of(after, "t"):
        assert sorted(one["isr"]) == sorted(one["replicas"])


def test_verify_waits_for_copies_that_a_throttle_slows(shared_cluster, tmp_path):
    create(shared_cluster, "ops-slow", [[1, 2]])
    shared_cluster.produce("ops-slow", num_records=30_000, record_bytes=1000)
    plan = write_plan(tmp_path / "plan.json", "ops-slow", {0: [1, 3]})
    file = ("--reassignment-json-file", str(plan))
    shared_cluster.reassign("--execute", *file, "--throttle", "3000000")

    where = ("--bootstrap-server", shared_cluster.bootstrap)
    waited = run_here("verify", plan, *where, "--wait")
    shared_cluster.reassign("--verify", *file)

    # Throttles are left until Kafka's own tool has removed them.
    assert waited.code == 3
    assert waited.out.startswith("completed: 1 completed")
    assert "throttle-left" in waited.out
    assert "1 partition being moved" in waited.err
    assert run_here("verify", plan, *where).code == 0
