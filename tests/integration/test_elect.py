"""Leaders elected on a real cluster: nothing without `--yes`, and each outcome."""

import pytest
from kafka import KafkaAdminClient

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import printed_brokers, printed_topics
from integration.planner import Outcome, run_here
from planner.kafka_files.reassignment_file import format_election

pytestmark = pytest.mark.kafka

TOPICS = {
    "t": {"assignments": {0: [1, 2], 1: [2, 3], 2: [3, 1]}},
    "u": {
        "assignments": {0: [1, 2, 3]},
        "configs": {"min.insync.replicas": "2"},
    },
}
ALL = ("--all-topic-partitions",)


@pytest.fixture
def cluster(new_cluster) -> Cluster:
    cluster = new_cluster(apart=(1, 2, 3))
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.create_topics(TOPICS, wait_for_metadata=True)
    return cluster


def elect(cluster: Cluster, kind: str, *options: object) -> Outcome:
    where = ("--bootstrap-server", cluster.bootstrap, "--format", "json")
    return run_here("elect", "--election-type", kind, *where, *options)


def leaders(cluster: Cluster) -> dict[tuple[str, int], int | None]:
    """Return who leads, as Kafka's own tool tells."""
    printed = printed_topics(cluster.topics("--describe"))
    return {name: one["leader"] for name, one in printed.items() if name[0] in TOPICS}


def outcomes(outcome: Outcome) -> dict[tuple[str, int], str]:
    """Return what becomes of the topics of this test, as the command tells."""
    return {
        (one["topic"], one["partition"]): one["outcome"]
        for one in outcome.document["partitions"]
        if one["topic"] in TOPICS
    }


def wait_for_isr(cluster: Cluster, isr: set[int]) -> None:
    wait_until(
        lambda: all(
            set(one["isr"]) == set(one["replicas"]) & isr
            for name, one in printed_topics(cluster.topics("--describe")).items()
            if name[0] in TOPICS
        ),
        f"brokers {isr} to be in sync",
    )


def test_preferred_leaders_lead_again_after_a_broker_returned(
    cluster: Cluster, tmp_path
):
    cluster.stop_node(1)
    cluster.start_node(1)
    wait_for_isr(cluster, {1, 2, 3})
    before = leaders(cluster)
    file = tmp_path / "election.json"
    file.write_text(format_election([("t", 0), ("t", 1), ("gone", 7)]))

    preview = elect(cluster, "preferred", *ALL)
    after_preview = leaders(cluster)
    journal = ("--journal", tmp_path / "journal.jsonl")
    named = elect(cluster, "preferred", "--path-to-json-file", file, "--yes", *journal)
    after_named = leaders(cluster)
    everything = elect(cluster, "preferred", *ALL, "--yes")
    again = elect(cluster, "preferred", *ALL, "--yes")

    assert before == {("t", 0): 2, ("t", 1): 2, ("t", 2): 3, ("u", 0): 2}
    assert preview.code == 0
    assert not preview.document["done"]
    assert outcomes(preview) == {
        ("t", 0): "to-elect",
        ("t", 1): "already-preferred",
        ("t", 2): "already-preferred",
        ("u", 0): "to-elect",
    }
    assert after_preview == before
    assert named.code == 3
    assert [one["outcome"] for one in named.document["partitions"]] == [
        "unknown-partition",
        "elected",
        "already-preferred",
    ]
    assert after_named == before | {("t", 0): 1}
    assert everything.code == 0
    assert outcomes(everything)["u", 0] == "elected"
    assert set(outcomes(again).values()) == {"already-preferred"}
    assert leaders(cluster) == {("t", 0): 1, ("t", 1): 2, ("t", 2): 3, ("u", 0): 1}
    # Kafka's own tool finds nothing left to elect, and says so by saying nothing.
    assert cluster.elect("--election-type", "preferred", *ALL).strip() == ""


def test_a_preferred_replica_that_is_gone_is_named(cluster: Cluster):
    cluster.kill(1)
    wait_until(
        lambda: printed_brokers(cluster.endpoints())[1][1] == "fenced", "broker 1 to go"
    )
    before = leaders(cluster)

    outcome = elect(cluster, "preferred", *ALL, "--yes")

    assert outcome.code == 3
    assert outcomes(outcome) == {
        ("t", 0): "preferred-not-available",
        ("t", 1): "already-preferred",
        ("t", 2): "already-preferred",
        ("u", 0): "preferred-not-available",
    }
    messages = {one["message"] for one in outcome.document["partitions"]} - {""}
    assert messages == {"preferred replica 1 is offline"}
    assert leaders(cluster) == before


def test_an_unclean_election_lists_what_is_lost_and_is_held_on_demand_only(
    cluster: Cluster,
):
    cluster.produce("u", num_records=100, record_bytes=100)
    cluster.kill(1)
    wait_for_isr(cluster, {2, 3})
    cluster.produce("u", num_records=100, record_bytes=100)
    cluster.kill(2)
    cluster.kill(3)
    cluster.start_node(1)
    wait_until(lambda: leaders(cluster)["u", 0] is None, "u-0 to have no leader")
    one = ("--topic", "u", "--partition", 0)

    preferred = elect(cluster, "preferred", *one, "--yes")
    preview = elect(cluster, "unclean", *one)
    still = leaders(cluster)["u", 0]
    held = elect(cluster, "unclean", *one, "--yes")
    again = elect(cluster, "unclean", *one, "--yes")

    assert preferred.code == 3
    (found,) = preferred.document["partitions"]
    assert found["outcome"] == "preferred-not-available"
    assert found["message"].endswith("the partition has no leader")
    assert preview.code == 0
    (loss,) = preview.document["losses"]
    assert loss["new_leader"] == 1
    assert set(loss["complete_replicas"]) <= {2, 3}
    assert loss["complete_replicas"]
    assert 100 * 100 <= loss["kept_bytes"] < 200 * 100
    assert still is None
    assert held.code == 0, held.err
    (found,) = held.document["partitions"]
    assert (found["outcome"], found["unclean"]) == ("elected", True)
    assert (found["leader"], found["new_leader"]) == (None, 1)
    assert held.document["losses"] == [loss]
    assert leaders(cluster)["u", 0] == 1
    assert again.document["partitions"][0]["outcome"] == "has-leader"


def test_a_partition_without_any_replica_cannot_be_elected(cluster: Cluster):
    cluster.kill(3)
    cluster.kill(1)
    wait_until(lambda: leaders(cluster)["t", 2] is None, "t-2 to have no leader")

    where = ("--bootstrap-server", cluster.bootstrap, "--yes")
    what = ("--election-type", "unclean", "--topic", "t", "--partition", 2)
    outcome = run_here("elect", *where, *what)

    assert outcome.code == 3
    assert "t-2: no-replica-available: every replica is offline: 3, 1" in outcome.out
    assert outcome.err == ""
