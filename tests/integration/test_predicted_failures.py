"""What `failures` foretells, against a cluster whose brokers are killed for it."""

from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import printed_brokers, printed_topics
from integration.planner import partitions_of, run_here, take_snapshot

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
    cluster = new_cluster(apart=(2, 3))
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.create_topics(TOPICS, wait_for_metadata=True)
    return cluster


def foretold(
    path: Path,
    *lost: int,
    log_dirs: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
) -> dict[tuple[str, int], dict[str, Any]]:
    """Return what `failures` says of each partition that loses a replica."""
    named = [*options, *(word for broker in lost for word in ("--broker", broker))]
    named += [word for log_dir in log_dirs for word in ("--log-dir", log_dir)]
    outcome = run_here("failures", path, *named, "--format", "json")
    assert outcome.code == 3, outcome.err
    return {
        (one["topic"], one["partition"]): one for one in outcome.document["partitions"]
    }


def kill(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    wait_until_fenced(cluster, broker)


def wait_until_fenced(cluster: Cluster, broker: int) -> None:
    wait_until(
        lambda: printed_brokers(cluster.endpoints())[broker][1] == "fenced",
        f"broker {broker} to be fenced",
    )


def told(cluster: Cluster) -> dict[tuple[str, int], dict[str, Any]]:
    found = printed_topics(cluster.topics("--describe"))
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


def wait_until_preferred(cluster: Cluster) -> None:
    """Wait until the broker that is asked has heard of all that were elected."""
    wait_until(
        lambda: all(
            one["leader"] == one["replicas"][0] for one in told(cluster).values()
        ),
        "every first replica to lead",
    )


def break_log_dir(path: Path) -> None:
    """Put a file where the log dir was, so that nothing can be written there."""
    path.rename(path.with_suffix(".away"))
    path.touch()


def mend_log_dir(path: Path) -> None:
    path.unlink()
    path.with_suffix(".away").rename(path)


def wait_until_left(
    cluster: Cluster, broker: int, expected: dict[tuple[str, int], dict[str, Any]]
) -> None:
    """Wait until a broker leads none of these partitions, whoever else does."""
    wait_until(
        lambda: all(told(cluster)[key]["leader"] != broker for key in expected),
        f"broker {broker} to lead nothing of what it lost",
        timeout_s=120,
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
    outcome = run_here(
        "failures", tmp_path / "back.json", "--broker", 3, "--format", "json"
    )
    astray = outcome.document["stages"]["now"]["leader_not_preferred"]
    cluster.elect("--election-type", "preferred", "--all-topic-partitions")
    wait_until_preferred(cluster)
    now = told(cluster)
    assert astray == sum(
        back[key]["leader"] != one["leader"] for key, one in now.items()
    )

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


def test_log_dirs_that_fail_do_as_foretold_and_the_last_one_stops_the_broker(
    cluster: Cluster, tmp_path
):
    snapshot = take_snapshot(cluster.bootstrap, tmp_path / "before.json")
    (only,) = (p for p in partitions_of(snapshot, "alone") if p["replicas"] == [3])
    first = Path(only["log_dirs"][0])
    (second,) = (path for path in cluster.log_dirs(3) if path != first)
    one = foretold(tmp_path / "before.json", log_dirs=(f"3:{first}",))
    both = foretold(tmp_path / "before.json", log_dirs=(f"3:{first}", f"3:{second}"))
    whole = foretold(tmp_path / "before.json", 3)

    break_log_dir(first)
    wait_until_left(cluster, 3, one)
    compare(one, cluster)
    untouched = both.keys() - one.keys()
    assert any(told(cluster)[key]["leader"] == 3 for key in untouched)
    assert printed_brokers(cluster.endpoints())[3][1] == "unfenced"
    break_log_dir(second)
    cluster.wait_ended(3)
    wait_until_fenced(cluster, 3)
    compare(both, cluster)
    mend_log_dir(first)
    mend_log_dir(second)
    cluster.start_node(3)
    wait_until_in_sync(cluster)

    back = told(cluster)
    for key, each in both.items():
        assert (key, back[key]["leader"]) == (key, each["leader_returned"])
    assert both == whole
    assert one["alone", only["partition"]]["leader"] is None
