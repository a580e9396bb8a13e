"""Out loads that `failures` tells, against the bytes that a real leader writes."""

import json
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import printed_brokers
from integration.planner import run_here, take_snapshot

pytestmark = pytest.mark.kafka

LEADER, FOLLOWER, LOST = 1, 2, 3
NUM_RECORDS, RECORD_BYTES = 3000, 10_000
PHASE_BYTES = NUM_RECORDS * RECORD_BYTES
TOLERANCE = 0.05 * PHASE_BYTES
"""
Of what one follower fetches, 30 MB.

Each record is a batch of its own: its header (61 bytes), what frames a record and what
frames a fetch are below 3 % of 10 kB for the log and two followers together;
heartbeats, metadata and empty fetches are some kB a second. One follower more or less
is 100 %.
"""


@pytest.fixture
def cluster(new_cluster) -> Cluster:
    cluster = new_cluster(apart=(LEADER, LOST))
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        topic = {"assignments": {0: [LEADER, FOLLOWER, LOST]}}
        admin.create_topics({"steady": topic}, wait_for_metadata=True)
    return cluster


def served(cluster: Cluster) -> int:
    """
    Produce to the topic; return the bytes that its leader sent to followers meanwhile.

    Producers wait for every replica in sync, so those have fetched all of it.
    """
    before = cluster.bytes_written(LEADER)
    cluster.produce("steady", num_records=NUM_RECORDS, record_bytes=RECORD_BYTES)
    # The leader wrote it once to its own log.
    return cluster.bytes_written(LEADER) - before - PHASE_BYTES


def foretold(cluster: Cluster, path: Path) -> dict[str, Any]:
    """Return the loss of a follower's broker, at one phase's bytes a second."""
    document = take_snapshot(cluster.bootstrap, path)
    for topic in document["topics"]:
        for one in topic["partitions"]:
            one["in_bytes_per_s"], one["out_bytes_per_s"] = PHASE_BYTES, 0
    path.write_text(json.dumps(document), encoding="utf-8")
    outcome = run_here(
        "failures", path, "--broker", LOST, "--bandwidth", "30MB/s", "--format", "json"
    )
    assert outcome.code in {0, 3}, outcome.err
    return outcome.document


def wait_until_in_sync(cluster: Cluster) -> None:
    wait_until(
        lambda: not cluster.topics("--describe", "--under-replicated-partitions"),
        "replicas to catch up",
    )


def test_leaders_send_what_failures_tells(cluster: Cluster, tmp_path: Path):
    wait_until_in_sync(cluster)
    told = foretold(cluster, tmp_path / "s.json")
    stages, back = told["stages"], told["on_return"]

    with_all = served(cluster)
    cluster.kill(LOST)
    wait_until(
        lambda: printed_brokers(cluster.endpoints())[LOST][1] == "fenced", "the loss"
    )
    while_gone = served(cluster)
    before = cluster.bytes_written(LEADER)
    cluster.start_node(LOST)
    wait_until_in_sync(cluster)
    caught_up = cluster.bytes_written(LEADER) - before
    on_return = served(cluster)

    def load(busiest: dict[str, Any]) -> float:
        assert busiest["broker"] == LEADER
        return float(busiest["load"])

    near = {"abs": TOLERANCE}
    assert load(stages["now"]["busiest"]["out"]) == pytest.approx(with_all, **near)
    assert load(stages["lost"]["busiest"]["out"]) == pytest.approx(while_gone, **near)
    assert load(back["busiest_out"]) == pytest.approx(on_return, **near)
    # Away for a second at a phase a second, it fetches that phase at the bandwidth.
    missed = back["catch_up_s_per_hour"] / 3600 * 30e6
    assert missed == pytest.approx(caught_up, **near)
