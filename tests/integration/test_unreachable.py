"""Clusters that do not answer: exit 5, one line with the address and cause, in time."""

import json

import pytest

from integration.kafka.cluster import CONTROLLER, Cluster
from integration.planner import Outcome, run_planner

pytestmark = pytest.mark.kafka

# What starting Python, ending the client and a busy machine may add to a limit.
SLACK_S = 10
# In which a busy machine gets to refuse a connection, and to tell of it.
ANSWERED_S = 4


def snapshot(bootstrap: str, folder, *options: object) -> Outcome:
    where = ("--bootstrap-server", bootstrap, "-o", folder / "s.json")
    options = ("--sample-seconds", 0, *options)
    return run_planner("snapshot", "live", *where, *options)


def assert_refused(outcome: Outcome, folder, *, limit_s: float) -> str:
    """Return the one line."""
    (line,) = outcome.err.splitlines()
    assert outcome.code == 5
    assert line.startswith("error: ")
    assert outcome.out == ""
    assert not (folder / "s.json").exists()
    assert outcome.seconds < limit_s + SLACK_S
    return line.removeprefix("error: ")


@pytest.mark.parametrize(
    ("server", "cause"),
    [
        pytest.param("127.0.0.1:1", "connection refused", id="closed-port"),
        pytest.param("no-such-host.invalid:9092", "unknown host", id="no-such-name"),
    ],
)
def test_nobody_there(server: str, cause: str, tmp_path):
    outcome = snapshot(server, tmp_path, "--timeout", ANSWERED_S)

    found = assert_refused(outcome, tmp_path, limit_s=ANSWERED_S)
    assert found == f"{server}: {cause}"


def test_json_says_so_in_one_document(tmp_path):
    options = ("--timeout", ANSWERED_S, "--format", "json")
    outcome = snapshot("127.0.0.1:1", tmp_path, *options)

    assert outcome.code == 5
    assert outcome.document["error"] == "127.0.0.1:1: connection refused"
    assert outcome.err == ""


def test_a_cluster_without_its_controller_is_named(new_cluster, tmp_path):
    cluster: Cluster = new_cluster(num_brokers=1)
    cluster.kill(CONTROLLER)

    outcome = snapshot(cluster.bootstrap, tmp_path, "--timeout", 3)

    line = assert_refused(outcome, tmp_path, limit_s=3 * 3)
    assert line.startswith(cluster.bootstrap)
    assert "timed out" in line


def test_a_broker_that_is_frozen_is_named(new_cluster, tmp_path):
    cluster: Cluster = new_cluster(num_brokers=1)
    cluster.pause(1)

    outcome = snapshot(cluster.bootstrap, tmp_path, "--timeout", 2)
    cluster.resume(1)

    line = assert_refused(outcome, tmp_path, limit_s=2)
    assert line == f"{cluster.bootstrap}: timed out"


def test_a_foreign_advertised_listener_needs_resolve(new_cluster, tmp_path):
    listener = {"advertised.listeners": "PLAINTEXT://kafka-{node}.invalid:{port}"}
    cluster: Cluster = new_cluster(num_brokers=1, config=listener)
    advertised = f"kafka-1.invalid:{cluster.ports[1]}"

    without = snapshot(cluster.bootstrap, tmp_path, "--timeout", 4)
    line = assert_refused(without, tmp_path, limit_s=4)
    resolve = ("--resolve", f"{advertised}={cluster.bootstrap}")
    resolved = snapshot(cluster.bootstrap, tmp_path, *resolve)

    assert f"advertised listener of broker 1 at {advertised}: unknown host" in line
    assert f"--resolve {advertised}=HOST:PORT" in line
    assert resolved.code == 0, resolved.err
    document = json.loads((tmp_path / "s.json").read_text())
    assert document["brokers"][0]["host"] == "kafka-1.invalid"
