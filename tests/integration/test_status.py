"""The command `status` on a real cluster in trouble: names, advice, and its effect."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient, TopicPartition

from integration.kafka.cluster import TOOLS, Cluster, wait_until
from integration.kafka_tool_output import printed_brokers
from integration.planner import run_here
from integration.steps import create, write_plan
from planner.status.running_moves import CANCEL_NAME
from planner.status.status_records import StatusRecord

pytestmark = pytest.mark.kafka

RATE = "leader.replication.throttled.rate"
LISTS = "leader.replication.throttled.replicas"


def status(cluster: Cluster, *options: object) -> dict[str, Any]:
    """Run `status`, held against its schema and its exit code; return its document."""
    where = ("--bootstrap-server", cluster.bootstrap, "--format", "json")
    outcome = run_here("status", *where, *options)
    StatusRecord.model_validate_json(outcome.out)
    assert outcome.code == (3 if outcome.document["status"] == "wrong" else 0)
    return outcome.document


def wait_for_state(cluster: Cluster, broker_id: int, state: str | None) -> None:
    def told() -> str | None:
        return printed_brokers(cluster.endpoints()).get(broker_id, (None, None))[1]

    wait_until(lambda: told() == state, f"broker {broker_id} to be {state}")


def test_a_broker_that_died_is_named_before_and_after_it_is_unregistered(
    new_cluster,
):
    cluster = new_cluster(apart=(3,))
    create(cluster, "t", [[1, 2], [2, 3], [3, 1]])
    create(cluster, "alone", [[3], [1]])

    cluster.kill(3)
    wait_for_state(cluster, 3, "fenced")
    fenced = status(cluster)
    where = ("--bootstrap-server", cluster.bootstrap)
    cluster.run(f"{TOOLS}.ClusterTool", "unregister", *where, "--id", "3")
    wait_for_state(cluster, 3, None)
    dead = status(cluster)
    cluster.start_node(3)
    wait_until(lambda: status(cluster)["status"] == "fine", "everything to be fine")

    for found, state in ((fenced, "fenced"), (dead, "dead")):
        (down,) = found["brokers"]["not_live"]
        assert (down["broker"], down["state"]) == (3, state)
        assert down["replicas"] == 3
        (lost,) = found["leaderless"]
        assert (lost["topic"], lost["partition"]) == ("alone", 0)
        assert (lost["isr"], lost["elr"]) == ([], [3])
        assert (lost["rescue"], lost["rescue_brokers"]) == ("start-broker", [3])
        assert lost["unclean"]["leader"] is None
        assert [one["topic"] for one in found["no_source"]] == ["alone"]
        behind = {one["topic"]: one for one in found["under_replicated"]}
        assert behind["t"]["partitions"] == 2
        assert "throttles" in [one["what"] for one in found["unknown"]]
    assert fenced["brokers"]["not_live"][0]["rack"] == "r3"


def test_partitions_without_a_leader_tell_the_elr_from_those_out_of_sync(
    new_cluster,
):
    cluster = new_cluster(apart=(2, 3))
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        configs = {"min.insync.replicas": "2"}
        named = {"assignments": {0: [2, 3]}, "configs": configs}
        admin.create_topics({"two": named}, wait_for_metadata=True)

    for broker in (3, 2):
        cluster.kill(broker)
        wait_for_state(cluster, broker, "fenced")
    found = status(cluster)

    (lost,) = [one for one in found["leaderless"] if one["topic"] == "two"]
    assert (lost["isr"], sorted(lost["elr"])) == ([], [2, 3])
    assert sorted(lost["rescue_brokers"]) == [2, 3]
    short = {one["topic"]: one for one in found["under_min_isr"]}
    assert (short["two"]["least_in_sync"], short["two"]["needed"]) == (0, 2)
    # Both crashed: Kafka trusts neither alone, and elects the last leader in the end.
    cluster.start_node(2)
    cluster.start_node(3)
    wait_until(lambda: not status(cluster)["leaderless"], "an election")


def test_throttles_left_behind_go_by_the_commands_that_it_names(
    shared_cluster: Cluster,
):
    create(shared_cluster, "slow", [[1, 2]])
    before = status(shared_cluster)
    of_brokers = ("--alter", "--entity-type", "brokers")
    for entity, rate in (
        (("--entity-default",), "1000000"),
        (("--entity-name", "2"), "5000000"),
    ):
        shared_cluster.configs(*of_brokers, *entity, "--add-config", f"{RATE}={rate}")
    of_topic = ("--alter", "--entity-type", "topics", "--entity-name", "slow")
    shared_cluster.configs(*of_topic, "--add-config", f"{LISTS}=[0:1,0:2]")

    def seen() -> set[tuple[str, str, str]]:
        throttles = status(shared_cluster)["throttles"]
        return {(one["scope"], one["name"], one["value"]) for one in throttles}

    # Brokers hear of a change a moment after the controller.
    wait_until(
        lambda: (
            seen()
            == {
                ("cluster", "", "1000000"),
                ("broker", "2", "5000000"),
                ("topic", "slow", "0:1,0:2"),
            }
        ),
        "every throttle to be seen",
    )
    found = status(shared_cluster)
    assert found["status"] == "wrong"
    assert not any(one["is_used"] for one in found["throttles"])

    for throttle in found["throttles"]:
        words = shlex.split(throttle["command"])
        assert words[:3] == [
            "kafka-configs.sh",
            "--bootstrap-server",
            shared_cluster.bootstrap,
        ]
        shared_cluster.configs(*words[3:])
    wait_until(lambda: not seen(), "no throttle to be left")

    assert before["status"] == "fine"
    assert before["quorum"] == {
        "leader": 100,
        "voters": [100],
        "majority": 1,
        "silent": [],
        "may_fail": 0,
    }


def move(cluster: Cluster, partition: TopicPartition, brokers: list[int]) -> None:
    """Reassign a partition without the checks of Kafka's tool, through broker 1."""
    server = f"127.0.0.1:{cluster.ports[1]}"
    with KafkaAdminClient(bootstrap_servers=server) as admin:
        admin.alter_partition_reassignments({partition: brokers})


def cancel(cluster: Cluster, found: dict[str, Any], file: Path) -> None:
    """Let Kafka's own tool cancel what `status` wrote, by the command that it names."""
    words = shlex.split(found["reassignments"]["choices"][-1]["command"])
    assert words[0] == "kafka-reassign-partitions.sh"
    cluster.reassign(*[str(file) if w == CANCEL_NAME else w for w in words[3:]])


def test_reassignments_that_run_and_that_are_stuck(new_cluster, tmp_path):
    cluster = new_cluster(apart=(3,))
    create(cluster, "big", [[1, 2], [2, 1]])
    cluster.produce("big", num_records=6000, record_bytes=10_000)
    plan = write_plan(tmp_path / "plan.json", "big", {0: [3, 2]})
    named = ("--reassignment-json-file", str(plan))
    stuck = tmp_path / "stuck.json"
    partition = TopicPartition("big", 0)

    cluster.reassign("--execute", *named, "--throttle", "100000")
    running = status(cluster)
    # The list before, while the copy runs: Kafka then adds and removes broker 3.
    move(cluster, partition, [1, 2])
    held = status(cluster, "--cancel-json", stuck)
    cancel(cluster, held, stuck)
    wait_until(lambda: status(cluster)["status"] == "fine", "the cancel")
    cluster.kill(3)
    wait_for_state(cluster, 3, "fenced")
    move(cluster, partition, [3, 2])
    waits = status(cluster, "--cancel-json", stuck)
    cancel(cluster, waits, stuck)
    freed = status(cluster)

    moves = running["reassignments"]
    assert (running["status"], moves["partitions"], moves["stuck"]) == ("fine", 1, [])
    assert moves["topics"][0]["topic"] == "big"
    assert 0 < moves["bytes_left"] <= moves["bytes"]
    assert {one["scope"] for one in running["throttles"]} == {"broker", "topic"}
    assert all(one["is_used"] for one in running["throttles"])
    for found, reason in (
        (held, "adds-and-removes-the-same-broker"),
        (waits, "waits-for-broker"),
    ):
        (one,) = found["reassignments"]["stuck"]
        assert (one["topic"], one["partition"]) == ("big", 0)
        assert (one["reason"], one["broker"]) == (reason, 3)
    assert freed["reassignments"]["partitions"] == 0
    assert not freed["throttles"]


def test_a_log_dir_that_failed_is_named_with_the_replicas_in_it(new_cluster):
    cluster = new_cluster()
    create(cluster, "t", [[1, 2]] * 4)
    broken = cluster.log_dirs(1)[0]
    broken.rename(broken.with_suffix(".gone"))
    broken.touch()
    wait_until(
        lambda: "KafkaStorageException" in cluster.describe_log_dirs(), "the failure"
    )

    wait_until(
        lambda: status(cluster)["under_replicated"], "the controller to hear of it"
    )
    found = status(cluster)

    (one,) = found["log_dirs"]["offline"]
    assert (one["broker"], one["log_dir"]) == (1, str(broken))
    assert one["replicas"] == found["under_replicated"][0]["partitions"] == 2
    assert not found["brokers"]["not_live"]
