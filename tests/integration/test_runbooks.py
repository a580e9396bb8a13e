"""Runbooks and the documented way on a real Kafka: to the end, half-way, and back."""

import re
from pathlib import Path

import pytest

from integration.kafka.cluster import TOOLS, Cluster, wait_until
from integration.kafka_tool_output import printed_brokers
from integration.planner import run_here, take_snapshot
from integration.shell import ROOMY, Shell, commands_of, section, throttles
from integration.steps import create, replicas_of, write_plan

pytestmark = pytest.mark.kafka

README = Path(__file__).parents[2] / "README.md"
SLOW = "1000000"
"""A throttle at which 30 MB take half a minute: time enough to look at a copy."""


def fill(cluster: Cluster, topic: str, replicas: list[list[int]], mb: int = 1) -> None:
    create(cluster, topic, replicas)
    cluster.produce(topic, num_records=100 * mb, record_bytes=10_000)


@pytest.fixture
def planned(tmp_path: Path, monkeypatch):
    """Make a plan of a cluster; return a shell in its folder, and its runbook."""

    def make(cluster: Cluster, *words: object) -> tuple[Shell, str]:
        before, folder = tmp_path / "before.json", tmp_path / "plan"
        take_snapshot(cluster.bootstrap, before)
        operation, *options = words
        made = run_here("plan", operation, before, *options, *ROOMY, "-o", folder)
        assert made.code == 0, made.out + made.err
        shell = Shell(cluster, folder, monkeypatch)
        return shell, (folder / "RUNBOOK.md").read_text()

    return make


def start_slowly(shell: Shell, text: str) -> str:
    """Start the run of a section as it says, but slowly; return its file."""
    [line] = [one for one in commands_of(text) if "--execute" in one]
    shell.run(re.sub(r"(throttle) \d+", rf"\1 {SLOW}", line))
    found = re.search(r"--reassignment-json-file (\S+)", line)
    assert found
    return found[1]


def test_the_way_of_the_readme_leaves_nothing_behind(
    new_cluster, tmp_path, monkeypatch
):
    cluster = new_cluster(num_brokers=6, first_broker=7)
    start = [[7, 8], [8, 9], [9, 7]] * 4
    fill(cluster, "orders", start, mb=4)
    shell = Shell(cluster, tmp_path, monkeypatch)
    way = section(README.read_text(), "From a cluster to a verified plan")
    block, back = re.findall(r"```sh\n.*?```", way, re.DOTALL)[:2]

    told = shell.all_of(block)

    assert told[-1].startswith("completed: ")
    assert throttles(cluster, until=[]) == []
    assert {b for row in replicas_of(cluster, "orders") for b in row} >= {10, 11, 12}

    shell.all_of(back)

    assert shell.verify("plan").document["status"] == "not-started"
    assert replicas_of(cluster, "orders") == start
    assert throttles(cluster, until=[]) == []


def by_kafkas_tool(text):
    """Return the way of Kafka's own tool; `apply` comes first and has its own tests."""
    first, _, rest = text.partition("## Before")
    assert "kafka-planner apply" in first
    return rest


def test_a_runbook_is_followed_to_the_end_and_back(new_cluster, planned):
    cluster = new_cluster()
    start = [[1, 2]] * 6
    fill(cluster, "t", start, mb=6)
    shell, text = planned(cluster, "rebalance", "--resources", "replicas,leaders")

    ahead, back = by_kafkas_tool(text).split("## The way back")
    shell.all_of(ahead)

    assert shell.verify().code == 0
    assert throttles(cluster, until=[]) == []
    way_back = commands_of(section("## The way back" + back, "The way back"))
    for line in way_back[:-1]:
        shell.run(line)
    assert shell.verify().document["status"] == "not-started"
    assert throttles(cluster, until=[]) == []
    assert replicas_of(cluster, "t") == start


def test_half_way_a_rollback_begins_with_a_cancel(new_cluster, planned):
    cluster = new_cluster(num_brokers=4, num_racks=1)
    start = [[2, 3, 1], [1, 2, 3]]
    fill(cluster, "big", start, mb=60)
    shell, text = planned(cluster, "replace-broker", "--broker", 2, "--with", 4)
    start_slowly(shell, section(text, "Run"))

    # Mid-copy: in progress, and no throttle is called left behind.
    half = shell.verify()
    assert (half.code, half.document["status"]) == (3, "in-progress")
    assert {one["rule"] for one in half.document["findings"]} == {"in-progress"}
    assert all(move["can_finish"] for move in half.document["moving"])
    cancel, execute, *rest = commands_of(section(text, "The way back"))
    with pytest.raises(RuntimeError, match="existing partition assignment"):
        shell.run(execute)

    shell.run(cancel)
    assert throttles(cluster, until=[]) == []
    after_cancel = shell.verify().document
    rules = {one["rule"] for one in after_cancel["findings"]}
    assert rules <= {"other-order", "not-started"}
    for line in [execute, *rest[:-1]]:
        shell.run(line)

    assert shell.verify().document["status"] == "not-started"
    assert replicas_of(cluster, "big") == start
    assert throttles(cluster, until=[]) == []


def test_an_additional_rollback_is_stuck_until_it_is_cancelled(new_cluster, planned):
    cluster = new_cluster(num_brokers=4, num_racks=1)
    fill(cluster, "big", [[1, 2]], mb=30)
    shell, text = planned(cluster, "replace-broker", "--broker", 2, "--with", 4)
    start_slowly(shell, section(text, "Run"))
    rollback = str(shell.folder / "rollback.json")
    named = ("--reassignment-json-file", rollback)
    cluster.reassign("--execute", "--additional", *named)

    stuck = shell.verify()
    assert [one["rule"] for one in stuck.document["findings"]] == ["stuck"]
    assert not stuck.document["moving"][0]["can_finish"]
    shell.run_left("can never finish")

    assert cluster.reassign("--list").startswith("No partition reassignments")
    assert sorted(replicas_of(cluster, "big")[0]) == [1, 2]
    assert throttles(cluster, until=[]) == []


def test_a_wave_is_undone_half_way_with_those_before_it(new_cluster, planned):
    cluster = new_cluster(num_brokers=4, num_racks=1)
    start = [[1, 2]] * 3
    fill(cluster, "big", start, mb=60)
    shell, text = planned(
        cluster, "replace-broker", "--broker", 2, "--with", 4, "--max-moves-in", 1
    )
    waves = re.findall(r"^## (Wave \d of \d)$", text, re.MULTILINE)
    assert len(waves) >= 3
    shell.all_of(section(text, waves[0]))
    between = shell.verify().document
    assert between["status"] == "in-progress"
    assert [wave["status"] for wave in between["waves"]][:2] == [
        "completed",
        "not-started",
    ]
    assert "wave-002.json" in between["left"][0]["commands"][0]
    start_slowly(shell, section(text, waves[1]))
    assert [wave["status"] for wave in shell.verify().document["waves"]][:2] == [
        "completed",
        "in-progress",
    ]

    cancel, *lines = commands_of(section(text, "The way back"))
    shell.run(cancel)
    for line in lines:
        if "rollback-001" in line or "rollback-002" in line:
            shell.run(line)

    assert shell.verify().document["status"] == "not-started"
    assert replicas_of(cluster, "big") == start
    assert throttles(cluster, until=[]) == []


def test_a_copy_to_a_broker_that_died_waits_for_it_by_name(new_cluster, planned):
    cluster = new_cluster(num_brokers=4, num_racks=1, apart=(4,))
    fill(cluster, "big", [[1, 2]], mb=30)
    shell, text = planned(cluster, "replace-broker", "--broker", 2, "--with", 4)
    start_slowly(shell, section(text, "Run"))
    cluster.kill(4)
    wait_until(
        lambda: printed_brokers(cluster.endpoints())[4][1] == "fenced",
        "broker 4 to be fenced",
    )

    found = shell.verify()
    [finding] = found.document["findings"]
    assert finding["rule"] == "waits"
    assert finding["message"] == "big-0: waits for broker 4, fenced"
    assert finding["where"]["broker"] == 4
    lines = [one for step in found.document["left"] for one in step["commands"]]
    assert any("--cancel" in one for one in lines)

    cluster.start_node(4)
    shell.run(commands_of(section(text, "Run"))[1])
    assert shell.verify().code == 0
    assert throttles(cluster, until=[]) == []


def test_a_runbook_of_a_lost_broker_does_without_kafkas_throttle(
    new_cluster, planned, tmp_path
):
    cluster = new_cluster(num_brokers=4, num_racks=1, apart=(2,))
    fill(cluster, "t", [[1, 2], [2, 3], [3, 1]], mb=3)
    cluster.kill(2)
    wait_until(
        lambda: printed_brokers(cluster.endpoints())[2][1] == "fenced",
        "broker 2 to be fenced",
    )
    where = ("--bootstrap-server", cluster.bootstrap)
    cluster.run(f"{TOOLS}.ClusterTool", "unregister", *where, "--id", "2")
    # Kafka's tool waits a minute for a broker that is gone; four seconds here.
    patience = tmp_path / "patience.properties"
    patience.write_text("default.api.timeout.ms=4000\nrequest.timeout.ms=3000\n")
    shell, text = planned(cluster, "fix")
    assert shell.verify().document["status"] == "not-started"

    cluster.tool_options = ("--command-config", str(patience))
    with pytest.raises(RuntimeError, match="node assignment"):
        shell.run(
            "kafka-reassign-partitions.sh --bootstrap-server HOST:PORT "
            "--reassignment-json-file reassignment.json --execute --throttle 50000000"
        )
    cluster.tool_options = ()
    assert throttles(cluster) != []
    left = shell.verify().document
    assert left["status"] == "not-started"
    counts = [
        one["count"] for one in left["findings"] if one["rule"] == "throttle-left"
    ]
    assert len(counts) == 1
    assert counts[0] > 1
    shell.run_left("throttle")
    assert throttles(cluster, until=[]) == []

    ahead, _ = by_kafkas_tool(text).split("## The way back")
    shell.all_of(ahead)

    assert shell.verify().code == 0
    assert throttles(cluster, until=[]) == []
    assert all(2 not in row for row in replicas_of(cluster, "t"))


def test_moves_between_log_dirs_are_in_progress_until_they_are_done(
    new_cluster, planned, tmp_path
):
    cluster = new_cluster(num_brokers=1, num_racks=1)
    fill(cluster, "big", [[1]] * 2, mb=60)
    first = str(cluster.log_dirs(1)[0])
    shell, text = planned(cluster, "log-dirs", "--empty", f"1:{first}")
    start_slowly(shell, section(text, "Run"))

    half = shell.verify()
    assert (half.code, half.document["status"]) == (3, "in-progress")
    assert half.document["partitions"]["in_progress"] >= 1
    assert "throttle-left" not in {one["rule"] for one in half.document["findings"]}

    verify = [one for one in commands_of(section(text, "Run")) if "--verify" in one]
    shell.run(verify[0])
    assert shell.verify().code == 0
    assert throttles(cluster, until=[]) == []


def test_a_default_of_all_brokers_is_seen_and_removed(new_cluster, planned):
    cluster = new_cluster()
    fill(cluster, "t", [[1, 2]])
    [rate] = ["leader.replication.throttled.rate"]
    everywhere = ("--alter", "--entity-type", "brokers", "--entity-default")
    cluster.configs(*everywhere, "--add-config", f"{rate}=1000000")
    one = ("--alter", "--entity-type", "brokers", "--entity-name", "2")
    cluster.configs(*one, "--add-config", f"{rate}=2000000")
    shell, _ = planned(cluster, "rebalance", "--resources", "replicas")
    plan = write_plan(shell.folder / "as-is.json", "t", {0: [1, 2]})

    found = shell.verify(plan.name).document
    [finding] = [one for one in found["findings"] if one["rule"] == "throttle-left"]
    assert finding["count"] == 2
    for step in found["left"]:
        for line in step["commands"]:
            shell.run(line)

    assert throttles(cluster, until=[]) == []
    assert shell.verify(plan.name).code == 0
