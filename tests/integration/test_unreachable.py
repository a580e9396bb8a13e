"""Clusters that do not answer: exit 5, one line with the address and cause, in time."""

import json

import pytest

from integration.kafka.cluster import CONTROLLER, Cluster
from integration.planner import Outcome, run_planner

pytestmark = pytest.mark.kafka

# What starting Python, ending the client and a busy machine may add to a limit.
SLACK_S = 10
# A limit that nobody waits for where the cause can be seen at once.
LONG_S = 120
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
def test_no_broker_answers(server: str, cause: str, tmp_path):
    outcome = snapshot(server, tmp_path, "--timeout", LONG_S)

    found = assert_refused(outcome, tmp_path, limit_s=ANSWERED_S)
    assert found == f"{server}: {cause}"


def test_every_bootstrap_address_is_named_where_none_leads_to_a_broker(tmp_path):
    servers = "127.0.0.1:1,no-such-host.invalid:9092"
    outcome = snapshot(servers, tmp_path, "--timeout", LONG_S)

    found = assert_refused(outcome, tmp_path, limit_s=ANSWERED_S)
    assert found == (
        "127.0.0.1:1: connection refused; no-such-host.invalid:9092: unknown host"
    )


@pytest.mark.parametrize(
    ("where", "protocol", "cause"),
    [
        pytest.param(
            "controller", "PLAINTEXT", "a controller listens here", id="controller"
        ),
        pytest.param("broker", "SSL", "speaks no TLS", id="tls-against-plaintext"),
        pytest.param(
            "controller", "SSL", "speaks no TLS", id="tls-against-a-controller"
        ),
    ],
)
def test_a_listener_of_another_kind_is_named_at_once(
    shared_cluster: Cluster, tmp_path, where: str, protocol: str, cause: str
):
    ports = {"controller": shared_cluster.controller_port}
    server = f"127.0.0.1:{ports.get(where, shared_cluster.ports[1])}"
    config = tmp_path / "client.properties"
    config.write_text(f"security.protocol={protocol}\n")
    options = ("--command-config", config, "--timeout", LONG_S)

    outcome = snapshot(server, tmp_path, *options)

    line = assert_refused(outcome, tmp_path, limit_s=ANSWERED_S)
    assert line.startswith(f"{server}: ")
    assert cause in line


def test_one_bootstrap_address_that_leads_to_a_broker_is_enough(
    shared_cluster: Cluster, tmp_path
):
    controller = f"127.0.0.1:{shared_cluster.controller_port}"
    broker = f"127.0.0.1:{shared_cluster.ports[2]}"
    servers = f"{controller},127.0.0.1:1,no-such-host.invalid:9,{broker}"

    outcome = snapshot(servers, tmp_path)

    assert outcome.code == 0, outcome.err


def test_json_says_so_in_one_document(tmp_path):
    options = ("--timeout", ANSWERED_S, "--format", "json")
    outcome = snapshot("127.0.0.1:1", tmp_path, *options)

    assert outcome.code == 5
    assert outcome.document["error"] == "127.0.0.1:1: connection refused"
    assert outcome.err == ""


def new_topic(cluster: Cluster, snap, *options: object) -> Outcome:
    what = ("--topic", "t", "--partitions", 1, "--replication-factor", 1)
    roomy = ("--capacity-threshold", "disk=1")
    where = ("--bootstrap-server", cluster.bootstrap, "--apply", "--yes")
    return run_planner("plan", "new-topic", snap, *what, *roomy, *where, *options)


def test_a_controller_that_is_down_is_named_at_once(new_cluster, tmp_path):
    cluster: Cluster = new_cluster(num_brokers=1, apart=(CONTROLLER, 1))
    snap = tmp_path / "before.json"
    where = ("--bootstrap-server", cluster.bootstrap, "-o", snap)
    assert run_planner("snapshot", "live", *where, "--sample-seconds", 0).code == 0
    cluster.kill(CONTROLLER)

    taken = snapshot(cluster.bootstrap, tmp_path, "--timeout", LONG_S)
    made = new_topic(cluster, snap, "--timeout", LONG_S)

    port = cluster.controller_port
    cause = f"the controller is down (127.0.0.1:{port}: connection refused)"
    line = assert_refused(taken, tmp_path, limit_s=2 * ANSWERED_S)
    assert line.startswith(f"{cluster.bootstrap}: the brokers answer, but {cause}")
    # Nothing was asked that a broker could keep for the controller: not exit 6.
    assert made.code == 5
    assert cause in made.err
    # A plan is made before; what counts is that the limit is not waited for.
    assert made.seconds < LONG_S / 2


def test_a_controller_that_is_silent_is_named(new_cluster, tmp_path):
    cluster: Cluster = new_cluster(num_brokers=1, apart=(CONTROLLER, 1))
    cluster.pause(CONTROLLER)

    # On a busy machine a broker that is well may take some seconds, too.
    outcome = snapshot(cluster.bootstrap, tmp_path, "--timeout", 8)
    cluster.resume(CONTROLLER)

    line = assert_refused(outcome, tmp_path, limit_s=3 * 8)
    cause = "the brokers answer, but the controller did not within 8 s"
    assert line == f"{cluster.bootstrap}: {cause}"


def test_a_broker_that_is_frozen_is_named(new_cluster, tmp_path):
    cluster: Cluster = new_cluster(num_brokers=1, apart=(1,))
    cluster.pause(1)

    outcome = snapshot(cluster.bootstrap, tmp_path, "--timeout", 2)
    cluster.resume(1)

    line = assert_refused(outcome, tmp_path, limit_s=2)
    assert line.startswith(f"{cluster.bootstrap}: timed out")


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
