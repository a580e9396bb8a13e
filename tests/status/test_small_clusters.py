"""Remedies for a broker that is down where no other one is left for its replicas."""

import json
from pathlib import Path
from typing import Any

from support.commands import run
from support.plans import write_document


def one_down(tmp_path: Path, brokers: int, **more: Any) -> Path:
    """Write a cluster with partitions of three replicas, and a broker that is down."""
    rows = [{"id": b, "state": "alive"} for b in range(1, brokers + 1)]
    rows[0]["state"] = "fenced"
    partition = {"partition": 0, "replicas": [1, 2, 3], "leader": 2, "isr": [2, 3]}
    topics = [{"name": "t", "partitions": [partition], **more}]
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "small",
        "brokers": rows,
        "topics": topics,
    }
    return write_document(document, tmp_path / "down.json")


def test_three_replicas_are_not_copied_to_two_brokers(capsys, tmp_path: Path):
    path = one_down(tmp_path, 3)

    text = " ".join(run(capsys, "status", path).out.split())

    assert (
        "or add 1 broker first (partitions there need 3, and 2 are live); then treat "
        "it as gone, and copy what it held from the replicas left:"
    ) in text
    assert "or, with 1 broker added, take it out of the cluster for good:" in text


def test_a_fourth_broker_takes_what_was_lost(capsys, tmp_path: Path):
    path = one_down(tmp_path, 4)

    text = " ".join(run(capsys, "status", path).out.split())

    assert "or treat it as gone, and copy what it held from the replicas left:" in text


def test_a_plan_sends_to_the_broker_that_is_down_where_none_is_left(
    capsys, tmp_path: Path
):
    path = one_down(tmp_path, 3)

    made = run(capsys, "plan", "remove-brokers", path, "--broker-list", 1)

    assert made.code == 4
    repair = [line for line in made.out.splitlines() if line.startswith(" repair")]
    assert repair == [" repair    start broker 1, or add a broker"]


def test_a_plan_sends_to_the_repair_where_a_broker_is_left(capsys, tmp_path: Path):
    path = one_down(tmp_path, 4)

    made = run(capsys, "plan", "rebalance", path)

    remedy = "start broker 1; or, if gone for good, plan fix --lost 1"
    assert f" repair    {remedy}" in made.out.splitlines()


def test_the_only_copy_cannot_be_copied_from_replicas_left(capsys, tmp_path: Path):
    path = one_down(tmp_path, 3)
    document = json.loads(path.read_text())
    alone = {"partition": 0, "replicas": [1], "leader": None, "isr": [1]}
    document["topics"][0]["partitions"] = [alone]
    write_document(document, path)

    text = " ".join(run(capsys, "status", path).out.split())

    assert "start broker 1: no live broker has a full copy of what is there" in text
    assert "replicas left" not in text
    assert "remove-brokers" not in text
