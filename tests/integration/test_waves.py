"""A plan in waves, run by Kafka's own tools and verified by ours between them."""

import json
from pathlib import Path
from typing import Any

import pytest

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import printed_topics
from integration.planner import partitions_of, run_here, take_snapshot
from integration.steps import create, replicas_of

pytestmark = pytest.mark.kafka

TOPIC = "waved"
# Clusters on loopback share the disk of the machine, which may be rather full.
ROOMY = ("--capacity-threshold", "disk=1")
IN_WAVES = ("--max-moves-in", 2, "--max-moves-out", 2, "--bandwidth", "20MB/s")


def plan_in_waves(
    cluster: Cluster, folder: Path, operation: str = "rebalance", *options: object
) -> tuple[Path, dict[str, Any], list[dict[str, Any]]]:
    """Plan a topic in waves; return its folder, the snapshot and the waves."""
    before, plan = folder / f"before-{operation}.json", folder / "plan"
    document = take_snapshot(cluster.bootstrap, before)
    what = ("--topic", TOPIC, "--resources", "replicas,leaders", *ROOMY, *IN_WAVES)
    made = run_here("plan", operation, before, *options, *what, "-o", plan)
    assert made.code == 0, made.err
    checked = run_here("check", plan, "--snapshot", before, *ROOMY)
    assert checked.code == 0, checked.out
    waves = json.loads((plan / "waves/waves.json").read_text())["waves"]
    return plan, document, waves


def status_of(cluster: Cluster, plan: Path) -> tuple[int, str, set[str]]:
    """Verify by our command: its exit code, the status, and which findings."""
    where = ("--bootstrap-server", cluster.bootstrap, "--format", "json")
    outcome = run_here("verify", plan, *where)
    assert outcome.code in {0, 3}, outcome.err
    printed = outcome.document
    return outcome.code, printed["status"], {one["rule"] for one in printed["findings"]}


def run_lists(cluster: Cluster, file: Path, throttle: int | None) -> None:
    """Run lists by Kafka's tool, throttled; then have it remove its throttles."""
    named = ("--reassignment-json-file", str(file))
    limited = () if throttle is None else ("--throttle", str(throttle))
    cluster.reassign("--execute", *named, *limited)
    wait_until(
        lambda: status_of(cluster, file)[1] == "completed", f"{file.name} to end"
    )
    if throttle is not None:
        # All is copied, and only Kafka's own --verify takes the throttles away.
        code, _, findings = status_of(cluster, file)
        assert code == 3
        assert "throttle-left" in findings
    printed = cluster.reassign("--verify", *named)
    assert "still in progress" not in printed
    code, status, findings = status_of(cluster, file)
    assert (code, status) == (0, "completed")
    assert "throttle-left" not in findings


def run_wave(cluster: Cluster, plan: Path, wave: dict[str, Any]) -> None:
    """Run one wave as waves.json says, with the elections after it."""
    run_lists(cluster, plan / wave["file"], wave["throttle_bytes_per_s"])
    if wave["elections"]:
        file = str(plan / wave["election_file"])
        options = ("--election-type", "preferred", "--path-to-json-file", file)
        cluster.elect(*options)


def leaders_of(cluster: Cluster) -> list[int | None]:
    printed = printed_topics(cluster.topics("--describe", "--topic", TOPIC))
    return [one["leader"] for _, one in sorted(printed.items())]


def test_waves_run_one_by_one_and_back_from_the_middle(new_cluster, tmp_path):
    # Of its own: what other tests have made would count in the plan, too.
    cluster = new_cluster()
    start = [[1, 2]] * 6
    create(cluster, TOPIC, start)
    cluster.produce(TOPIC, num_records=3000, record_bytes=100)
    plan, document, waves = plan_in_waves(cluster, tmp_path)
    copying = [wave for wave in waves if wave["kind"] == "copies"]
    assert [wave["copies"] for wave in copying] == [2, 2]
    assert [wave["kind"] for wave in waves] == ["copies", "copies", "leaders"]

    first, middle = copying
    run_wave(cluster, plan, first)
    assert status_of(cluster, plan / middle["file"])[1] != "completed"
    run_wave(cluster, plan, middle)
    # Nobody else is elected while a leader stays; who goes gives way to the first.
    assert leaders_of(cluster) == [
        1 if 1 in row else row[0] for row in replicas_of(cluster, TOPIC)
    ]
    for wave in (middle, first):
        limit = wave["throttle_bytes_per_s"]
        run_lists(cluster, plan / wave["rollback_file"], limit)

    assert status_of(cluster, plan)[1] == "not-started"
    assert replicas_of(cluster, TOPIC) == start
    back = take_snapshot(cluster.bootstrap, tmp_path / "back.json")
    for old, new in zip(
        partitions_of(document, TOPIC), partitions_of(back, TOPIC), strict=True
    ):
        assert new["log_dirs"] == old["log_dirs"]
        assert sorted(new["isr"]) == [1, 2]

    for wave in waves:
        run_wave(cluster, plan, wave)

    assert status_of(cluster, plan)[:2] == (0, "completed")
    now = replicas_of(cluster, TOPIC)
    assert [sum(b in row for row in now) for b in (1, 2, 3)] == [4, 4, 4]
    wait_until(
        lambda: leaders_of(cluster) == [row[0] for row in now],
        "the first replicas to lead",
    )


def test_replication_factors_go_up_and_down_in_waves(new_cluster, tmp_path):
    cluster = new_cluster()
    start = [[1], [2], [3], [1], [2], [3]]
    create(cluster, TOPIC, start)
    cluster.produce(TOPIC, num_records=3000, record_bytes=100)
    leaders = leaders_of(cluster)

    for factor in (3, 2):
        what = ("set-replication-factor", "--replication-factor", factor)
        plan, _, waves = plan_in_waves(cluster, tmp_path, *what)
        for wave in waves:
            run_wave(cluster, plan, wave)

        assert status_of(cluster, plan)[:2] == (0, "completed")
        now = replicas_of(cluster, TOPIC)
        assert [len(row) for row in now] == [factor] * len(start)
        assert [sum(b in row for row in now) for b in (1, 2, 3)] == [2 * factor] * 3
        after = take_snapshot(cluster.bootstrap, tmp_path / f"after-{factor}.json")
        for one in partitions_of(after, TOPIC):
            assert sorted(one["isr"]) == sorted(one["replicas"])
        if factor == 3:
            # Twelve copies, and two at most come to a broker at a time.
            assert [wave["copies"] for wave in waves if wave["copies"]] == [6, 6]
            assert leaders_of(cluster) == leaders
        else:
            assert not any(wave["copies"] for wave in waves)
