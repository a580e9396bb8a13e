"""Failures of the smallest clusters: no broker, one, two or three."""

from pathlib import Path
from typing import Any

import pytest

from support.commands import run
from support.plans import write_document


def small(
    tmp_path: Path,
    lists: list[list[int]],
    *,
    brokers: list[dict[str, Any]],
    min_isr: int = 1,
    **more: Any,
) -> Path:
    """Write a cluster with one topic that has these replica lists."""
    partitions = [
        {"partition": p, "replicas": replicas, "size_bytes": 100, **more}
        for p, replicas in enumerate(lists)
    ]
    configs = {"min.insync.replicas": str(min_isr)}
    topics = [{"name": "t", "configs": configs, "partitions": partitions}]
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "small",
        "brokers": brokers,
        "topics": topics if lists else [],
    }
    return write_document(document, tmp_path / "small.json")


def alike(count: int, **more: Any) -> list[dict[str, Any]]:
    """Return so many brokers with a disk each."""
    disk = [{"path": "/d", "size_bytes": 10_000}]
    return [{"id": b, "log_dirs": disk, **more} for b in range(1, count + 1)]


@pytest.mark.parametrize(
    "brokers", [[], alike(3, state="fenced")], ids=["none", "all-fenced"]
)
def test_without_a_live_broker_nothing_is_survived(capsys, tmp_path: Path, brokers):
    lists = [[1, 2, 3]] if brokers else []
    path = small(tmp_path, lists, brokers=brokers)

    outcome = run(capsys, "failures", path)

    assert outcome.code == 3
    assert "N-1 broker no: no broker is live" in outcome.out
    found = run(capsys, "failures", path, "--format", "json").document
    assert found["verdict"]["broker"]["survives"] is False
