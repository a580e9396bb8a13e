"""Steps that several tests of plans take."""

import json
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import printed_replicas, printed_topics
from integration.planner import run_here


def create(cluster: Cluster, topic: str, replicas: list[list[int]]) -> None:
    """Create a topic with its replicas where they are wanted, and wait for them."""
    assignments = dict(enumerate(replicas))
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.create_topics(
            {topic: {"assignments": assignments}}, wait_for_metadata=True
        )
    wait_until_there(cluster, topic, sum(map(len, replicas)))


def wait_until_there(cluster: Cluster, topic: str, num_replicas: int) -> None:
    """Wait until every replica of a new topic lies in a log dir."""
    of_topic = ("--topic-list", topic)
    wait_until(
        lambda: (
            len(printed_replicas(cluster.describe_log_dirs(*of_topic))) == num_replicas
        ),
        f"the replicas of {topic} to be there",
    )


def write_plan(path: Path, topic: str, replicas: dict[int, list[int]]) -> Path:
    """Write a reassignment by hand."""
    partitions = [
        {"topic": topic, "partition": partition, "replicas": brokers}
        for partition, brokers in replicas.items()
    ]
    path.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return path


def execute(cluster: Cluster, file: Path) -> None:
    """
    Let Kafka's own tool run a plan to its end, and wait until the brokers know.

    The controller tells that a reassignment has ended before each broker has heard of
    it: the tool then finds none under way, and the replicas of both lists.
    """
    named = ("--reassignment-json-file", str(file))
    cluster.reassign("--execute", *named)

    def has_ended() -> bool:
        printed = cluster.reassign("--verify", *named)
        return "in progress" not in printed and "replica set is" not in printed

    wait_until(has_ended, "the reassignment to end")


def verify(cluster: Cluster, plan: Path) -> tuple[int, dict[str, Any]]:
    """Run `verify` against the cluster: its exit code and its document."""
    where = ("--bootstrap-server", cluster.bootstrap, "--format", "json")
    outcome = run_here("verify", plan, *where)
    assert outcome.code in {0, 3}, outcome.err
    return outcome.code, outcome.document


def preview(cluster: Cluster, plan: Path) -> dict[str, Any]:
    """Run `apply` against the cluster, which changes nothing: its document."""
    where = ("--bootstrap-server", cluster.bootstrap, "--format", "json")
    outcome = run_here("apply", plan, *where)
    assert outcome.code in {0, 3}, outcome.err
    return outcome.document


def replicas_of(cluster: Cluster, topic: str) -> list[list[int]]:
    """Return the replicas of each partition, as Kafka's own tool tells."""
    printed = printed_topics(cluster.topics("--describe", "--topic", topic))
    return [one["replicas"] for _, one in sorted(printed.items())]
