"""What `failures` foretells, against a cluster whose brokers are killed for it."""

from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient

from integration.kafka.cluster import Cluster, wait_until
from integration.planner import run_planner, take_snapshot
from integration.told import told_brokers, told_topics

pytestmark = pytest.mark.kafka

TOPICS = {
    "t": {"assignments": {n: [1 + (n + k) % 3 for k in range(3)] for n in range(6)}},
    "pair": {"assignments": {0: [1, 2], 1: [3, 1], 2: [2, 3]}},
    "strict": {
        "assignments": {0: [3, 1, 2], 1: [1, 3, 2]},
        "configs": {"min.insync.replicas": "2"},
    },
    "alone": {"assignments": {0: [3], 1: [2]}},
}


@pytest.fixture
def cluster(new_cluster) -> Cluster:
    cluster = new_cluster()
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.create_topics(TOPICS, wait_for_metadata=True)
    return cluster


def foretold(
    path: Path, *lost: int, options: tuple[str, ...] = ()
) -> dict[tuple[str, int], dict[str, Any]]:
    """Return what `failures` says of each partition that loses a replica."""
    named = [*options, *(word for broker in lost for word in ("--broker", broker))]
    outcome = run_planner("failures", path, *named, "--format", "json")
    assert outcome.code == 3, outcome.err
    return {
        (one["topic"], one["partition"]): one for one in outcome.document["partitions"]
    }


def kill(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    wait_until_fenced(cluster, broker)


def wait_until_fenced(cluster: Cluster, broker: int) -> None:
    wait_until(
        lambda: told_brokers(cluster.endpoints())[broker][1] == "fenced",
        f"broker {broker} to be fenced",
    )


def told(cluster: Cluster) -> dict[tuple[str, int], dict[str, Any]]:
    found = told_topics(cluster.topics("--describe"))
    return {key: one for key, one in found.items() if key[0] in TOPICS}


def compare(expected: dict[tuple[str, int], dict[str, Any]], cluster: Cluster) -> None:
    seen = told(cluster)
    assert expected.keys() <= seen.keys()
    for key, one in expected.items():
        now = seen[key]
        assert (key, one["leader"]) == (key, now["leader"])
        assert (key, sorted(one["isr"])) == (key, sorted(now["isr"]))
        assert (key, sorted(one["elr"])) == (key, sorted(now["elr"]))


def wait_until_in_sync(cluster: Cluster) -> None:
    wait_until(
        lambda: not cluster.topics("--describe", "--under-replicated-partitions"),
        "replicas to catch up",
    )


def test_a_broker_that_is_killed_returns_and_is_stopped_does_as_foretold(
    cluster: Cluster, tmp_path
):
    take_snapshot(cluster.bootstrap, tmp_path / "before.json")
    expected = foretold(tmp_path / "before.json", 3)

    kill(cluster, 3)
    compare(expected, cluster)
    cluster.start_node(3)
    wait_until_in_sync(cluster)

    back = told(cluster)
    for key, one in expected.items():
        assert (key, back[key]["leader"]) == (key, one["leader_returned"])
    take_snapshot(cluster.bootstrap, tmp_path / "back.json")
    outcome = run_planner(
        "failures", tmp_path / "back.json", "--broker", 3, "--format", "json"
    )
    astray = outcome.document["stages"]["now"]["leader_not_preferred"]
    cluster.elect("--election-type", "preferred", "--all-topic-partitions")
    now = told(cluster)
    assert astray == sum(
        back[key]["leader"] != one["leader"] for key, one in now.items()
    )
    assert all(one["leader"] == one["replicas"][0] for one in now.values())

    take_snapshot(cluster.bootstrap, tmp_path / "again.json")
    restart = foretold(tmp_path / "again.json", 2, options=("--clean-shutdown",))
    cluster.stop_node(2)
    wait_until_fenced(cluster, 2)
    compare(restart, cluster)


def test_brokers_killed_one_after_the_other_leave_what_was_foretold(
    cluster: Cluster, tmp_path
):
    take_snapshot(cluster.bootstrap, tmp_path / "before.json")
    expected = foretold(tmp_path / "before.json", 3, 2)

    kill(cluster, 3)
    kill(cluster, 2)

    compare(expected, cluster)
    assert expected["pair", 2]["leader"] is None
    assert expected["strict", 0]["state"] == "under-min-isr"
