"""The commands of the documentation that change a cluster, run as they stand there."""

import json
import re
from pathlib import Path

import pytest

from integration.kafka.cluster import Cluster
from integration.planner import take_snapshot
from integration.shell import Shell, commands_of, section, throttles
from integration.steps import create, replicas_of

pytestmark = pytest.mark.kafka

DOCS = Path(__file__).parents[2] / "docs"
START = [[1, 2], [2, 3], [3, 1], [1, 2], [1, 3], [1, 2]]


@pytest.fixture
def shell(new_cluster, tmp_path, monkeypatch) -> Shell:
    """A shell beside a cluster of which broker 4 is new, and its snapshot."""
    cluster = new_cluster(num_brokers=4, num_racks=1)
    create(cluster, "orders", START)
    cluster.produce("orders", num_records=600, record_bytes=10_000)
    made = Shell(cluster, tmp_path, monkeypatch)
    snapshot_of(cluster, tmp_path / "prod.json")
    (tmp_path / "now.json").write_text((tmp_path / "prod.json").read_text())
    return made


def snapshot_of(cluster: Cluster, path: Path) -> None:
    document = take_snapshot(cluster.bootstrap, path)
    for broker in document["brokers"]:
        if broker["id"] == 4:
            broker["state"] = "new"
    path.write_text(json.dumps(document))


def blocks(name: str) -> list[str]:
    """Return the blocks of commands of a page, in order."""
    text = (DOCS / f"{name}.md").read_text()
    return re.findall(r"```sh\n.*?```", text, re.DOTALL)


def test_plans_and_the_way_back(shell: Shell):
    run, elect, *_ = blocks("plans")
    text = (DOCS / "plans.md").read_text()

    assert shell.all_of(run)[-1].startswith("completed: ")
    listed = json.loads((shell.folder / "plan/preferred-election.json").read_text())
    if listed["partitions"]:
        shell.all_of(elect)
    *back, last = commands_of(section(text, "The way back"))
    for line in back:
        shell.run(line)

    found = shell.planner(*shell.words(last)[1:])
    assert found.code == 3
    assert found.out.startswith("not-started: ")
    assert replicas_of(shell.cluster, "orders") == START
    assert throttles(shell.cluster, until=[]) == []


def test_rates_as_the_default_of_all_brokers(shell: Shell):
    shell.all_of(blocks("plans")[0].split("kafka-reassign")[0] + "```")
    text = (DOCS / "plans.md").read_text()

    shell.all_of(section(text, "With a broker that is not live"))

    assert shell.verify("plan").document["status"] == "completed"
    assert throttles(shell.cluster, until=[]) == []


def test_waves(shell: Shell):
    run, back = blocks("waves")

    assert shell.all_of(run)[-1].startswith("completed: ")
    shell.all_of(back)

    assert shell.verify("plan").document["status"] == "not-started"
    assert throttles(shell.cluster, until=[]) == []


def test_log_dirs(shell: Shell):
    first = {b: str(shell.cluster.log_dirs(b)[0]) for b in (3, 4)}
    block = blocks("log-dirs")[0].replace("/data/d1", first[3])
    block = block.replace("4-6:/logs/kafka-log{broker}", f"4:{first[4]}")

    assert shell.all_of(block)[-1].startswith("completed: ")
    assert throttles(shell.cluster, until=[]) == []


def test_leaders(shell: Shell):
    *lines, elect = commands_of(blocks("leaders")[0])
    for line in lines:
        shell.run(line)
    listed = json.loads((shell.folder / "plan/preferred-election.json").read_text())
    if listed["partitions"]:
        shell.run(elect)

    assert shell.verify("plan").document["status"] == "completed"


def test_generate(shell: Shell):
    topics = {"topics": [{"topic": "orders"}], "version": 1}
    (shell.folder / "topics.json").write_text(json.dumps(topics))

    shell.all_of(blocks("generate")[0].replace("0-5", "1-4"))

    assert shell.verify("proposed.json").document["status"] == "completed"
    assert throttles(shell.cluster, until=[]) == []
