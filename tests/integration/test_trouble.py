"""Plans on a real cluster in trouble: what they copy, leave alone, and foresee."""

import json
from typing import Any

import pytest
from kafka import KafkaAdminClient

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import printed_brokers, printed_replicas
from integration.planner import partitions_of, run_here, take_snapshot
from integration.steps import create, execute, replicas_of, write_plan
from planner.snapshot import read_snapshot

pytestmark = pytest.mark.kafka

ROOMY = ("--capacity-threshold", "disk=1")


def plan(*words: object) -> tuple[int, dict[str, Any]]:
    """Run `plan`: its exit code and its document."""
    outcome = run_here("plan", *words, *ROOMY, "--format", "json")
    assert outcome.code in {0, 3, 4}, outcome.err
    return outcome.code, outcome.document


def kinds(document: dict[str, Any], part: str) -> set[str]:
    return {one["what"] for one in document[part]}


def test_a_sole_replica_of_a_killed_broker_is_not_copied(new_cluster, tmp_path):
    cluster = new_cluster(apart=(3,))
    create(cluster, "alone", [[3]])
    create(cluster, "t", [[3, 1]])
    cluster.kill(3)
    wait_until(
        lambda: printed_brokers(cluster.endpoints())[3][1] == "fenced", "broker 3 to go"
    )
    wait_until(
        lambda: "Isr: 1\t" in cluster.topics("--describe", "--topic", "t"), "the ISR"
    )
    snapshot, folder = tmp_path / "s.json", tmp_path / "p"
    take_snapshot(cluster.bootstrap, snapshot)

    waits = plan("fix", snapshot)
    gone = plan("fix", snapshot, "--lost", "3", "-o", folder)
    by_hand = write_plan(tmp_path / "hand.json", "alone", {0: [1]})
    checked = run_here("check", by_hand, "--snapshot", snapshot, "--format", "json")
    execute(cluster, folder / "reassignment.json")
    cluster.reassign("--execute", "--reassignment-json-file", str(by_hand))
    hangs = cluster.reassign("--list")
    # Kafka does not even take it back: that would need an unclean election.
    cancel = ("--cancel", "--reassignment-json-file", str(by_hand))
    cluster.reassign(*cancel, is_checked=False)
    still = cluster.reassign("--list")

    assert waits[0] == 3
    assert waits[1]["status"] == "left-alone"
    assert "left-offline" in kinds(waits[1], "notes")
    assert (gone[0], gone[1]["status"]) == (4, "infeasible")
    (lacking,) = (one for one in gone[1]["shortfalls"] if one["what"] == "no-source")
    assert lacking["where"] == {"topic": "alone", "partition": 0}
    assert checked.code == 3
    caused = [one for one in checked.document["findings"] if not one["existing"]]
    assert {one["rule"] for one in caused} == {"min-isr", "no-source"}
    assert sorted(replicas_of(cluster, "t")[0]) == [1, 2]
    assert "alone-0" in hangs
    assert "alone-0" in still


def test_what_a_failed_log_dir_held_is_copied(new_cluster, tmp_path):
    cluster = new_cluster()
    create(cluster, "t", [[1, 2]] * 4)
    broken = cluster.log_dirs(1)[0]
    broken.rename(broken.with_suffix(".gone"))
    broken.touch()
    wait_until(
        lambda: "KafkaStorageException" in cluster.describe_log_dirs(), "the failure"
    )
    snapshot, folder = tmp_path / "s.json", tmp_path / "p"

    def num_offline() -> int:
        take_snapshot(cluster.bootstrap, snapshot)
        return int(read_snapshot(snapshot).to_state().is_offline.sum())

    wait_until(lambda: num_offline() == 2, "the controller to hear of it")
    code, document = plan("fix", snapshot, "-o", folder)
    execute(cluster, folder / "reassignment.json")

    assert code == 0
    assert document["moves"]["replicas"] == 2
    assert sorted(map(sorted, replicas_of(cluster, "t"))) == [
        [1, 2],
        [1, 2],
        [2, 3],
        [2, 3],
    ]
    assert num_offline() == 0


def test_a_broker_chooses_the_log_dir_that_was_foreseen(new_cluster, tmp_path):
    cluster = new_cluster()
    create(cluster, "few", [[1]] * 5)
    create(cluster, "more", [[2]] * 3)
    first, second = map(str, cluster.log_dirs(1))
    _gather(cluster, "few", first)
    snapshot, applied = tmp_path / "s.json", tmp_path / "after.json"
    take_snapshot(cluster.bootstrap, snapshot)
    file = write_plan(tmp_path / "r.json", "more", {n: [2, 1] for n in range(3)})

    assert run_here("snapshot", "apply", file, snapshot, "-o", applied).code == 0
    foreseen = _dirs(json.loads(applied.read_text()), "more")
    execute(cluster, file)

    # With 5 partitions against none, all three go to the emptier log dir.
    assert foreseen == [second] * 3
    assert _dirs_on(cluster, "more", 1) == {second}


def _gather(cluster: Cluster, topic: str, log_dir: str) -> None:
    """Bring every partition of a topic on broker 1 into one log dir."""
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.alter_replica_log_dirs({(topic, n, 1): log_dir for n in range(5)})
    wait_until(
        lambda: _dirs_on(cluster, topic, 1) == {log_dir},
        f"{topic} to be in one log dir",
    )


def _dirs_on(cluster: Cluster, topic: str, broker: int) -> set[str]:
    printed = printed_replicas(cluster.describe_log_dirs("--topic-list", topic))
    return {path for (owner, _, _), (path, _) in printed.items() if owner == broker}


def _dirs(document: dict[str, Any], topic: str) -> list[str | None]:
    return [
        dict(zip(one["replicas"], one["log_dirs"], strict=True))[1]
        for one in partitions_of(document, topic)
    ]
