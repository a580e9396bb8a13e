"""`snapshot synth` as a shell sees it."""

import shlex
from pathlib import Path

import pytest

from placement.synthetic import FAMILIES, SIZES, make_instance
from planner.snapshot import Snapshot, read_snapshot
from support.commands import run
from support.states import differences


@pytest.mark.parametrize("family", ["a", "b"])
def test_writes_the_cluster_of_a_family(capsys, tmp_path: Path, family):
    done = run(
        capsys,
        *("snapshot", "synth", "--family", family, "--size", "XS", "--seed", 3),
        *("--band", "0.1", "-o", tmp_path / "s.json"),
    )

    made = make_instance(family, SIZES["XS"], 3, 0.1)
    snapshot = read_snapshot(tmp_path / "s.json")
    assert (done.code, done.out) == (0, "")
    assert FAMILIES[family] in " ".join(done.err.split())
    assert max(map(len, done.err.splitlines())) <= 80 + len(str(tmp_path))
    assert not differences(snapshot.to_state(), made.state)
    assert snapshot.rates == {"source": "synthetic"}


def test_the_command_that_is_said_can_be_run(capsys, tmp_path: Path):
    done = run(
        capsys,
        *("snapshot", "synth", "--family", "b", "--size", "XS"),
        *("-o", tmp_path / "s.json"),
    )

    said = done.err[done.err.index("kafka-planner") :].replace("\\\n", " ")
    command = shlex.split(said)
    assert command[:3] == ["kafka-planner", "plan", "remove-brokers"]
    planned = run(capsys, *command[1:], "--effort", "quick", "--format", "json")
    assert planned.document["goal"] == "remove-brokers"
    assert planned.document["settings"]["band"]["disk"] == 0.05


def test_json_is_one_document(capsys, tmp_path: Path):
    done = run(
        capsys,
        *("snapshot", "synth", "--family", "c", "--brokers", 8, "--racks", 4),
        *("--replicas", 600, "--format", "json", "-o", tmp_path / "folder"),
    )

    assert (done.code, done.err) == (0, "")
    said = done.document
    assert said["meaning"] == FAMILIES["c"]
    assert [said[name] for name in ("brokers", "racks", "partitions")] == [8, 4, 200]
    assert said["command"][:3] == ["kafka-planner", "plan", "rebalance"]
    assert len(read_snapshot(tmp_path / "folder").brokers) == 8


def test_quiet_says_nothing(capsys, tmp_path: Path):
    path = tmp_path / "s.json"
    done = run(
        capsys,
        *("snapshot", "synth", "--family", "g", "--size", "XS", "--quiet", "-o", path),
    )

    assert (done.code, done.out, done.err) == (0, "", "")
    assert isinstance(read_snapshot(path), Snapshot)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(
            ["--family", "z"], "--family must be one of a, a', b", id="family"
        ),
        pytest.param(["--size", "XXL"], "--size", id="size"),
        pytest.param(
            ["--brokers", "3", "--racks", "4"], "at least --racks", id="racks"
        ),
        pytest.param(["--racks", "2"], "--racks", id="too-few-racks"),
        pytest.param(["--band", "-1"], "--band", id="band"),
    ],
)
def test_what_cannot_be_made_is_refused(capsys, tmp_path: Path, options, said):
    done = run(capsys, "snapshot", "synth", *options, "-o", tmp_path / "s.json")

    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "s.json").exists()
