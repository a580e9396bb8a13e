"""Scenarios of three brokers with three replicas: nothing can be rebuilt elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from support.commands import run
from support.plans import write_document


def three(**more: Any) -> dict[str, Any]:
    """Return three brokers, all of which hold each of six partitions."""
    brokers = [
        {"id": b, "rack": "abc"[b - 1], "out_bytes_per_s": 100.0} for b in (1, 2, 3)
    ]
    rates = {"in_bytes_per_s": 1.0, "out_bytes_per_s": 2.0, "size_bytes": 10}
    lists = [[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 2
    partitions = [
        {"partition": p, "replicas": replicas, **rates}
        for p, replicas in enumerate(lists)
    ]
    configs = {"min.insync.replicas": "2"}
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "three",
        "brokers": brokers,
        "topics": [{"name": "t", "configs": configs, "partitions": partitions}],
        **more,
    }


def answer(capsys: Any, tmp_path: Path, *scenarios: str) -> Any:
    """Play scenarios, each the text of its changes."""
    snapshot = write_document(three(), tmp_path / "three.json")
    file = tmp_path / "scenarios.toml"
    file.write_text("\n".join(scenarios))
    return run(capsys, "what-if", snapshot, file, "--format", "json").document


LOST = '[[scenarios]]\nname = "{then}"\nthen = "{then}"\nchanges = [{change}]\n'
CHANGE = '{change = "lose", brokers = "1"}'


@pytest.mark.parametrize("then", ["rebalance", "needed", "nothing"])
def test_followers_that_are_not_rebuilt_fetch_nothing(capsys, tmp_path: Path, then):
    text = LOST.replace("{then}", then).replace("{change}", CHANGE)

    (found,) = answer(capsys, tmp_path, text)["scenarios"]

    # Broker 2 leads four partitions: consumers read 2, and one follower fetches 1.
    assert found["resources"]["out"]["max_use"] == 0.12
    assert found["out_on_return"]["max_use"] == 0.16
    assert found["cross_rack_bytes_per_s"] == 6.0


def test_every_scenario_that_does_not_hold_says_why(capsys, tmp_path: Path):
    snapshot = write_document(three(), tmp_path / "three.json")
    same = 'changes = [{change = "traffic", factor = 1}]'
    fine = [f'[[scenarios]]\nname = "fine {n}"\n{same}' for n in range(14)]
    broken = (
        '[[scenarios]]\nname = "gone"\nchanges = [{change = "lose", brokers = "1"}]'
    )
    file = tmp_path / "scenarios.toml"
    file.write_text("\n".join([*fine, broken]))

    lines = run(capsys, "what-if", snapshot, file).out.splitlines()

    assert any(line.startswith("gone: does not hold; ") for line in lines)
    assert "and 3 more that hold: --scenario NAME shows them" in lines


def test_a_demoted_broker_that_leads_may_bind(capsys, tmp_path: Path):
    document = three()
    document["brokers"][0]["state"] = "demoted"
    snapshot = write_document(document, tmp_path / "demoted.json")
    file = tmp_path / "scenarios.toml"
    same = 'then = "nothing"\nchanges = [{change = "traffic", factor = 1}]'
    file.write_text(f'[[scenarios]]\nname = "as is"\n{same}')

    found = run(capsys, "what-if", snapshot, file, "--format", "json").document

    binding = found["today"]["binding"]
    assert (binding["broker"], binding["resource"]) == (1, "out")
    assert binding["threshold"] == pytest.approx(0.8)
