"""Brokers and disks that fail, seen by snapshots of a cluster that is broken for it."""

import pytest
from kafka import KafkaAdminClient

from integration.kafka.cluster import TOOLS, Cluster, wait_until
from integration.kafka_tool_output import printed_brokers, printed_topics
from integration.planner import brokers_of, partitions_of, take_snapshot
from integration.steps import create, verify, write_plan

pytestmark = pytest.mark.kafka

TOPICS = {
    "t": {"assignments": {0: [1, 2], 1: [2, 3], 2: [3, 1]}},
    "alone": {"assignments": {0: [3], 1: [3]}},
}


@pytest.fixture
def cluster(new_cluster) -> Cluster:
    cluster = new_cluster(apart=(3,))
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.create_topics(TOPICS, wait_for_metadata=True)
    return cluster


def wait_for_state(cluster: Cluster, broker_id: int, state: str) -> None:
    wait_until(
        lambda: printed_brokers(cluster.endpoints())[broker_id][1] == state,
        f"broker {broker_id} to be {state}",
    )


def test_a_broker_dies_and_returns(cluster: Cluster, tmp_path):
    # Taken at once: the broker is dead, and the controller does not know it yet.
    cluster.kill(3)
    dead = take_snapshot(cluster.bootstrap, tmp_path / "dead.json")
    told_dead = printed_topics(cluster.topics("--describe"))
    cluster.start_node(3)
    wait_until(
        lambda: not cluster.topics("--describe", "--under-replicated-partitions"),
        "replicas to catch up",
    )
    back = take_snapshot(cluster.bootstrap, tmp_path / "back.json")

    states = {broker_id: one["state"] for broker_id, one in brokers_of(dead).items()}
    assert states == {1: "alive", 2: "alive", 3: "fenced"}
    assert "log_dirs" not in brokers_of(dead)[3]
    for one in partitions_of(dead, "t"):
        printed = told_dead["t", one["partition"]]
        assert (one["leader"], one["isr"]) == (printed["leader"], printed["isr"])
        assert 3 not in one["isr"]
    alone = partitions_of(dead, "alone")[0]
    assert (alone["leader"], alone["replicas"]) == (None, [3])
    assert "size_bytes" not in alone
    assert brokers_of(back)[3]["state"] == "alive"
    assert all(
        set(one["isr"]) == set(one["replicas"]) for one in partitions_of(back, "t")
    )


def test_a_broker_that_only_replicas_name_is_dead(cluster: Cluster, tmp_path):
    cluster.kill(3)
    wait_for_state(cluster, 3, "fenced")
    where = ("--bootstrap-server", cluster.bootstrap)
    cluster.run(f"{TOOLS}.ClusterTool", "unregister", *where, "--id", "3")
    wait_until(
        lambda: 3 not in printed_brokers(cluster.endpoints()),
        "broker 3 to be forgotten",
    )

    document = take_snapshot(cluster.bootstrap, tmp_path / "s.json")

    assert brokers_of(document)[3] == {"id": 3, "state": "dead"}
    assert partitions_of(document, "t")[1]["replicas"] == [2, 3]


def test_a_log_dir_fails(cluster: Cluster, tmp_path):
    before = take_snapshot(cluster.bootstrap, tmp_path / "before.json")
    broken = cluster.log_dirs(1)[0]
    broken.rename(broken.with_suffix(".gone"))
    broken.touch()

    wait_until(
        lambda: "KafkaStorageException" in cluster.describe_log_dirs(),
        "the failure",
    )
    after = take_snapshot(cluster.bootstrap, tmp_path / "after.json")

    states = {one["path"]: one for one in brokers_of(after)[1]["log_dirs"]}
    assert states[str(broken)] == {"path": str(broken), "state": "offline"}
    assert states[str(cluster.log_dirs(1)[1])]["state"] == "online"
    assert brokers_of(after)[1]["state"] == "alive"
    printed = printed_topics(cluster.topics("--describe"))
    for old, new in zip(
        partitions_of(before, "t"), partitions_of(after, "t"), strict=True
    ):
        is_lost = str(broken) in (old.get("log_dirs") or ())
        slot = new["replicas"].index(1) if 1 in new["replicas"] else None
        if is_lost and slot is not None:
            assert new["log_dirs"][slot] is None
        assert new["isr"] == printed["t", new["partition"]]["isr"]


def test_a_plan_towards_a_broker_that_dies_goes_on_when_it_returns(
    cluster: Cluster, tmp_path
):
    create(cluster, "moved", [[1, 2], [2, 1]])
    cluster.produce("moved", num_records=6000, record_bytes=10_000)
    plan = write_plan(tmp_path / "plan.json", "moved", {0: [3, 2], 1: [2, 1]})
    named = ("--reassignment-json-file", str(plan))

    cluster.reassign("--execute", *named, "--throttle", "3000000")
    cluster.kill(3)
    _, dead = verify(cluster, plan)
    cluster.start_node(3)
    cluster.reassign("--execute", *named, "--throttle", "1000000000", "--additional")
    wait_until(
        lambda: "in progress" not in cluster.reassign("--verify", *named), "the copy"
    )
    code, back = verify(cluster, plan)

    assert dead["status"] == "in-progress"
    assert dead["partitions"]["in_progress"] == 1
    assert (code, back["status"]) == (0, "completed")
