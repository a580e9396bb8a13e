"""Plans executed by Kafka's own tool, and verified by it and by us."""

import json
from collections import Counter
from pathlib import Path

import pytest
from kafka import KafkaAdminClient

from integration.kafka.cluster import Cluster, wait_until
from integration.planner import partitions_of, run_planner, take_snapshot
from integration.steps import create, execute, replicas_of, verify, write_plan

pytestmark = pytest.mark.kafka

# Clusters on loopback share the disk of the machine, which may be rather full.
ROOMY = ("--capacity-threshold", "disk=1")


@pytest.fixture(scope="module")
def pair(libs, archive, tmp_path_factory):
    """Two brokers on two racks."""
    base = tmp_path_factory.mktemp("pair") / "kafka"
    options = {"num_brokers": 2, "num_racks": 2, "archive": archive, "apart": ()}
    with Cluster(libs, base, **options) as cluster:
        yield cluster


def check(plan: Path, snapshot: Path, *options: str) -> tuple[int, dict]:
    where = ("--snapshot", snapshot, "--format", "json", *ROOMY)
    outcome = run_planner("check", plan, *where, *options)
    assert outcome.code in {0, 3}, outcome.err
    return outcome.code, outcome.document


def test_our_plan_is_executed_and_rolled_back(shared_cluster: Cluster, tmp_path):
    # Everything on two of three brokers, and led by one; more than others leave there.
    create(shared_cluster, "crowded", [[1, 2]] * 60)
    before, plan = tmp_path / "before.json", tmp_path / "plan"

    def lies_somewhere() -> bool:
        rows = partitions_of(take_snapshot(shared_cluster.bootstrap, before), "crowded")
        # A partition none of whose replicas lies anywhere yet has no such field.
        return all(None not in row.get("log_dirs", [None]) for row in rows)

    wait_until(lies_somewhere, "every replica to be in a log dir")
    document = json.loads(before.read_text())
    what = ("--topics", "crowded", "--resources", "replicas,leaders")
    made = run_planner("plan", "rebalance", before, *what, *ROOMY, "-o", plan)
    assert made.code == 0, made.err
    assert check(plan, before)[0] == 0

    assert verify(shared_cluster, plan)[1]["status"] == "not-started"
    execute(shared_cluster, plan / "reassignment.json")

    code, done = verify(shared_cluster, plan)
    assert (code, done["status"]) == (0, "completed")
    moved = json.loads((plan / "reassignment.json").read_text())["partitions"]
    now = replicas_of(shared_cluster, "crowded")
    assert moved
    assert all(now[one["partition"]] == one["replicas"] for one in moved)
    assert 3 in {broker for replicas in now for broker in replicas}

    execute(shared_cluster, plan / "rollback.json")

    code, undone = verify(shared_cluster, plan / "rollback.json")
    assert (code, undone["status"]) == (0, "completed")
    assert verify(shared_cluster, plan)[1]["status"] == "not-started"
    after = take_snapshot(shared_cluster.bootstrap, tmp_path / "after.json")
    for old, new in zip(
        partitions_of(document, "crowded"), partitions_of(after, "crowded"), strict=True
    ):
        assert new["replicas"] == old["replicas"] == [1, 2]
        assert new["log_dirs"] == old["log_dirs"]


def test_tp_re_01(pair: Cluster, tmp_path):
    create(pair, "tp_re_01", [[1]] * 5)
    before, plan = tmp_path / "before.json", tmp_path / "plan"
    take_snapshot(pair.bootstrap, before)

    what = ("--topic", "tp_re_01", "--resources", "replicas", "--format", "json")
    made = run_planner("plan", "rebalance", before, *what, *ROOMY, "-o", plan)

    assert made.code == 0, made.err
    assert made.document["moves"]["replicas"] == 2
    targets = json.loads((plan / "reassignment.json").read_text())["partitions"]
    homes = {number: [1] for number in range(5)}
    homes |= {one["partition"]: one["replicas"] for one in targets}
    assert sorted(Counter(broker for (broker,) in homes.values()).values()) == [2, 3]

    edited = write_plan(tmp_path / "edited.json", "tp_re_01", {1: [2], 4: [2]})
    assert check(edited, before) == (0, {"ok": True, "findings": []})
    execute(pair, edited)
    code, done = verify(pair, edited)
    assert (code, done["status"]) == (0, "completed")
    assert replicas_of(pair, "tp_re_01") == [[1], [2], [1], [1], [2]]


def test_tp_re_02(pair: Cluster, tmp_path):
    create(pair, "tp_re_02", [[1], [2], [1]])
    pair.produce("tp_re_02", num_records=3000, record_bytes=100)
    before = tmp_path / "before.json"
    document = take_snapshot(pair.bootstrap, before)
    wider = {0: [1, 2], 1: [2, 1], 2: [1, 2]}
    plan = write_plan(tmp_path / "plan.json", "tp_re_02", wider)

    refused, why = check(plan, before)
    allowed, _ = check(plan, before, "--allow-replication-factor-change")
    execute(pair, plan)

    assert (refused, allowed) == (3, 0)
    assert {one["rule"] for one in why["findings"]} == {"replication-factor"}
    assert verify(pair, plan)[1]["partitions"]["completed"] == 3
    after = take_snapshot(pair.bootstrap, tmp_path / "after.json")
    for old, new in zip(
        partitions_of(document, "tp_re_02"),
        partitions_of(after, "tp_re_02"),
        strict=True,
    ):
        assert new["replicas"] == wider[new["partition"]]
        # The copy that was there has not moved, and leads still.
        assert new["log_dirs"][0] == old["log_dirs"][0]
        assert new["leader"] == old["leader"]
        assert new["size_bytes"] == old["size_bytes"]
        assert sorted(new["isr"]) == [1, 2]


def test_a_plan_half_done_is_in_progress(pair: Cluster, tmp_path):
    create(pair, "slow", [[1], [1]])
    pair.produce("slow", num_records=6000, record_bytes=10_000)
    plan = write_plan(tmp_path / "plan.json", "slow", {0: [2], 1: [2]})
    named = ("--reassignment-json-file", str(plan))

    pair.reassign("--execute", *named, "--throttle", "3000000")
    during_code, during = verify(pair, plan)
    document = take_snapshot(pair.bootstrap, tmp_path / "during.json")
    pair.reassign("--execute", *named, "--throttle", "1000000000", "--additional")
    with KafkaAdminClient(bootstrap_servers=pair.bootstrap) as admin:
        wait_until(lambda: not admin.list_partition_reassignments(), "the copies")
    throttled_code, throttled = verify(pair, plan)
    pair.reassign("--verify", *named)
    done_code, done = verify(pair, plan)

    assert (during_code, during["status"]) == (3, "in-progress")
    assert during["partitions"]["in_progress"] == 2
    moving = partitions_of(document, "slow")[0]
    assert moving["replicas"] == [2, 1]
    assert (moving["adding_replicas"], moving["removing_replicas"]) == ([2], [1])
    rate = {broker["id"]: broker["configs"] for broker in document["brokers"]}[1]
    assert rate["leader.replication.throttled.rate"] == "3000000"
    assert (throttled_code, throttled["status"]) == (3, "completed")
    assert {one["rule"] for one in throttled["findings"]} == {"throttle-left"}
    assert (done_code, done["status"]) == (0, "completed")


def dirs_told(cluster: Cluster, topic: str) -> dict[tuple[int, int], str]:
    """Return broker and partition of each replica, and where Kafka says it lies."""
    said = cluster.describe_log_dirs("--topic-list", topic)
    document = json.loads(said.splitlines()[-1])
    return {
        (broker["broker"], int(one["partition"].rpartition("-")[2])): home["logDir"]
        for broker in document["brokers"]
        for home in broker["logDirs"]
        for one in home["partitions"]
        if one["partition"].rpartition("-")[0] == topic and not one["isFuture"]
    }


def test_a_log_dir_is_emptied_by_kafkas_own_tool(pair: Cluster, tmp_path):
    create(pair, "inside", [[1, 2]] * 6)
    pair.produce("inside", num_records=3000, record_bytes=500)
    first = tmp_path / "before.json"
    document = take_snapshot(pair.bootstrap, first)
    was = dirs_told(pair, "inside")
    emptied = was[1, 0]
    plan = tmp_path / "plan"

    what = ("--topic", "inside", "--empty", f"1:{emptied}", "--band", "1")
    made = run_planner(
        "plan", "log-dirs", first, *what, *ROOMY, "-o", plan, "--format", "json"
    )

    # Other topics lie there too, and were left out.
    assert made.code in {0, 4}, made.err
    assert made.document["moves"]["replicas"] == 0
    assert check(plan, first)[0] == 0
    early_code, early = verify(pair, plan)
    named = ("--reassignment-json-file", str(plan / "reassignment.json"))
    said = pair.reassign("--execute", *named)
    wait_until(
        lambda: "in progress" not in pair.reassign("--verify", *named), "the moves"
    )
    done_code, done = verify(pair, plan)
    now = dirs_told(pair, "inside")

    assert early_code == 3
    assert {one["rule"] for one in early["findings"]} == {"log-dir"}
    assert "Successfully started moving log directory to" in said
    assert (done_code, done["status"], done["findings"]) == (0, "completed", [])
    assert emptied not in {at for (broker, _), at in now.items() if broker == 1}
    assert replicas_of(pair, "inside") == [[1, 2]] * 6

    execute(pair, plan / "rollback.json")

    assert verify(pair, plan / "rollback.json")[0] == 0
    back = dirs_told(pair, "inside")
    moved = json.loads((plan / "rollback.json").read_text())["partitions"]
    assert moved
    for entry in moved:
        for broker in entry["replicas"]:
            assert back[broker, entry["partition"]] == was[broker, entry["partition"]]
    assert [p["replicas"] for p in partitions_of(document, "inside")] == [[1, 2]] * 6
