"""Waves in the plan folder: files, figures, what is proven, and what check says."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_records import ElectionRecord, PlanRecord
from planner.plan.documents.wave_records import WavesRecord
from planner.plan.run.make_plan import make
from support.clusters import make_state
from support.commands import run
from support.plans import lists_in, skewed_document, write_document


@pytest.fixture
def snapshot(tmp_path: Path, monkeypatch) -> Path:
    """A cluster that is planned quickly: here it is cut into waves."""
    monkeypatch.setenv("PLANNER_EFFORT", "quick")
    return write_document(skewed_document(num_partitions=14), tmp_path / "s.json")


def planned(capsys, snapshot: Path, folder: Path, *options: object) -> dict[str, Any]:
    """Plan a rebalance in waves; return waves.json."""
    outcome = run(
        capsys,
        "plan",
        "rebalance",
        snapshot,
        *options,
        "-o",
        folder,
        "--format",
        "json",
    )
    assert outcome.code == 0, outcome.err
    return json.loads((folder / "waves" / "waves.json").read_text())


def test_who_will_lead_a_partition_without_leader_sends_its_copies():
    # The first wave that touches partition 2 elects broker 0, which sends the rest.
    state = make_state(
        [[0, 2], [0, 2], [0, 1]], racks="abca", leaders=[0, 0, None], size_bytes=10
    )
    request = PlanRequest(
        goal="set-replication-factor",
        waves=True,
        max_moves_in=1,
        max_moves_out=1,
        replication_factor=4,
    )

    made = make(state, request)

    assert made.is_ok, made.findings


def test_nothing_in_sync_gives_way_to_what_was_dropped_as_behind():
    # Drawn: t-1 lost one in sync to broker 4, whose replica is behind already.
    state = make_state(
        [[0, 1, 3, 4], [0, 4, 1, 2]],
        racks="aaaaa",
        isr=[[0, 1, 3, 4], [0, 1, 2]],
        min_isr=3,
        size_bytes=[20, 5],
    )
    request = PlanRequest(
        goal="set-replication-factor",
        waves=True,
        rebalance=True,
        effort="quick",
        replication_factor=3,
    )

    made = make(state, request)

    assert made.is_ok, made.findings


def test_waves_lead_from_the_lists_before_to_the_plan(capsys, snapshot, tmp_path):
    told = planned(capsys, snapshot, tmp_path / "plan", "--waves")

    WavesRecord.model_validate(told)
    now = lists_in(tmp_path / "plan" / "rollback.json")
    before = dict(now)
    for wave in told["waves"]:
        lists = lists_in(tmp_path / "plan" / wave["file"])
        back = lists_in(tmp_path / "plan" / wave["rollback_file"])
        assert back == {key: now[key] for key in lists}
        assert wave["partitions"] == len(lists)
        copies = sum(len(set(new) - set(now[key])) for key, new in lists.items())
        assert wave["copies"] == copies
        now.update(lists)
    assert now == lists_in(tmp_path / "plan" / "reassignment.json")
    assert now != before


def test_a_plan_says_how_many_waves_and_what_is_proven(capsys, snapshot, tmp_path):
    told = planned(capsys, snapshot, tmp_path / "plan", "--max-moves-in", 1)

    plan = json.loads((tmp_path / "plan" / "plan.json").read_text())
    PlanRecord.model_validate(plan)
    assert plan["settings"]["waves"] == told["settings"]
    assert told["settings"]["max_moves_in"] == 1
    assert told["settings"]["max_moves_out"] == 5
    copying = [wave for wave in plan["waves"] if wave["kind"] == "copies"]
    proven = told["certificate"]["waves"]
    assert len(copying) == proven["value"] >= proven["lower_bound"] > 0
    (stage,) = proven["proof"]["stages"]
    assert -(-stage["copies"] // stage["cap"]) == stage["waves"]
    assert sum(wave["bytes"] for wave in copying) == plan["moves"]["bytes"]
    assert sum(wave["copies"] for wave in copying) == plan["moves"]["replicas"]
    seconds = told["certificate"]["seconds"]
    assert seconds["lower_bound"] <= seconds["value"] <= told["seconds_wave_by_wave"]
    assert seconds["lower_bound"] == pytest.approx(seconds["proof"]["bytes"] / 50e6)


def test_leaders_are_elected_after_the_copies(capsys, snapshot, tmp_path):
    told = planned(capsys, snapshot, tmp_path / "plan", "--waves")

    kinds = [wave["kind"] for wave in told["waves"]]
    assert kinds == sorted(kinds)
    assert kinds[-1] == "leaders"
    last = told["waves"][-1]
    elected = json.loads((tmp_path / "plan" / last["election_file"]).read_text())
    ElectionRecord.model_validate(elected)
    assert len(elected["partitions"]) == last["elections"]
    assert last["throttle_bytes_per_s"] is None


def test_a_throttle_leaves_room_for_what_is_written_meanwhile(
    capsys, snapshot, tmp_path
):
    told = planned(
        capsys, snapshot, tmp_path / "plan", "--waves", "--bandwidth", "1KB/s"
    )

    for wave in told["waves"]:
        if wave["kind"] == "copies":
            least = wave["least_throttle_bytes_per_s"]
            assert least > 0
            assert wave["throttle_bytes_per_s"] == 1000 + least


def test_a_wave_copies_no_faster_than_its_networks_have_room_for(
    capsys, snapshot, tmp_path
):
    plan = tmp_path / "plan"
    told = planned(capsys, snapshot, plan, "--waves", "--bandwidth", "1MB/s")
    fine = run(capsys, "check", plan, "--snapshot", snapshot)
    spoiled = json.loads((plan / "waves/waves.json").read_text())
    spoiled["waves"][0]["bandwidth_bytes_per_s"] *= 1.01
    (plan / "waves/waves.json").write_text(json.dumps(spoiled))

    found = run(capsys, "check", plan, "--snapshot", snapshot, "--format", "json")

    assert (told["in_threshold"], told["out_threshold"]) == (0.8, 0.8)
    for wave in told["waves"]:
        if wave["kind"] == "copies":
            rate, least = (
                wave[f"{name}_bytes_per_s"] for name in ("bandwidth", "least_throttle")
            )
            assert wave["throttle_bytes_per_s"] == round(rate + least)
            busiest = max(max(b["bytes_in"], b["bytes_out"]) for b in wave["brokers"])
            assert wave["seconds"] == pytest.approx(busiest / rate)
            way = wave["network"]["direction"]
            whole = {"in": 14_000, "out": 56_000}[way]
            left = 0.8 * whole - wave["network"]["load_bytes_per_s"]
            assert rate == pytest.approx(max(left, 0.01 * whole))
    assert any("network" in note for note in told["notes"])
    assert fine.code == 0, fine.out
    assert found.code == 3
    rules = {one["rule"] for one in found.document["findings"] if not one["existing"]}
    assert rules == {"wave-network"}


def test_without_options_of_waves_there_are_none(capsys, snapshot, tmp_path):
    run(capsys, "plan", "rebalance", snapshot, "-o", tmp_path / "plan")

    plan = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert plan["waves"] == []
    assert plan["settings"]["waves"] is None
    assert not (tmp_path / "plan" / "waves").exists()


def test_a_plan_with_waves_gives_way_to_one_without(capsys, snapshot, tmp_path):
    planned(capsys, snapshot, tmp_path / "plan", "--waves")

    run(capsys, "plan", "rebalance", snapshot, "-o", tmp_path / "plan")

    assert not (tmp_path / "plan" / "waves").exists()


def test_the_same_options_give_the_same_files(capsys, snapshot, tmp_path):
    for name in ("one", "two"):
        planned(capsys, snapshot, tmp_path / name, "--waves", "--order", "small")

    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "waves").iterdir()}
        for name in ("one", "two")
    )
    assert one == two


def test_check_holds_every_wave(capsys, snapshot, tmp_path):
    told = planned(capsys, snapshot, tmp_path / "plan", "--waves")
    fine = run(capsys, "check", tmp_path / "plan", "--snapshot", snapshot)
    first = tmp_path / "plan" / told["waves"][0]["file"]
    spoiled = json.loads(first.read_text())
    spoiled["partitions"][0]["replicas"].pop()
    spoiled["partitions"][0].pop("log_dirs")
    first.write_text(json.dumps(spoiled))

    found = run(
        capsys, "check", tmp_path / "plan", "--snapshot", snapshot, "--format", "json"
    )

    assert fine.code == 0, fine.out
    assert found.code == 3
    rules = {finding["rule"] for finding in found.document["findings"]}
    assert "wave-replication-factor" in rules


def test_waves_that_cannot_be_read_are_refused(capsys, snapshot, tmp_path):
    told = planned(capsys, snapshot, tmp_path / "plan", "--waves")
    (tmp_path / "plan" / told["waves"][0]["file"]).write_text("{}")
    (tmp_path / "plan" / told["waves"][1]["file"]).unlink()

    missing = run(capsys, "check", tmp_path / "plan", "--snapshot", snapshot)
    (tmp_path / "plan" / "waves" / "waves.json").write_text('{"format": "nothing"}')
    broken = run(capsys, "check", tmp_path / "plan", "--snapshot", snapshot)

    assert (missing.code, broken.code) == (2, 2)
    assert told["waves"][0]["file"] in missing.err
    assert told["waves"][1]["file"] in missing.err
    assert "does not list waves" in broken.err


@pytest.mark.parametrize(
    "options",
    [("--bandwidth", "fast"), ("--bandwidth", "0"), ("--max-moves-in", "0")],
    ids=" ".join,
)
def test_an_option_that_makes_no_sense_is_refused(capsys, snapshot, options):
    outcome = run(capsys, "plan", "rebalance", snapshot, "--waves", *options)

    assert outcome.code == 2
    assert options[0] in outcome.err


@pytest.mark.not_quick
def test_a_screen_with_waves_fits_and_says_what_is_proven(
    capsys, monkeypatch, tmp_path
):
    # A path is as long as it is: these are short.
    shutil.copy(SNAPSHOT_FILE, tmp_path / "s.json.gz")
    monkeypatch.chdir(tmp_path)

    outcome = run(capsys, "plan", "add-brokers", "s.json.gz", "--waves", "-o", "p")

    assert outcome.code == 0
    assert "waves of copies; proven: not under" in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80
    waves = json.loads((tmp_path / "p" / "waves" / "waves.json").read_text())
    proven = waves["certificate"]["waves"]
    assert proven["value"] == proven["lower_bound"]
    assert waves["certificate"]["seconds"]["gap"] <= 0.02


def test_full_disks_that_wait_for_each_other_are_named(capsys, tmp_path):
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [
            {"id": b, "rack": "ab"[b % 2], "disk_bytes": 100, "max_replicas": 9}
            for b in range(2)
        ],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {"partition": n, "replicas": [n], "size_bytes": 70}
                    for n in range(2)
                ],
            }
        ],
    }
    from placement.model.load import Resource, weigh
    from placement.waves.wave_settings import WaveSettings
    from planner.plan.waves.wave_document import to_document
    from planner.plan.waves.wave_files import check_planned, plan_waves
    from planner.snapshot import Snapshot
    from waves.reassignments import reassignment_to

    state = Snapshot.from_document(document).to_state()
    settings = WaveSettings(thresholds={Resource.DISK: 0.8})

    waves = plan_waves(reassignment_to(state, [[1], [0]]), weigh(state), settings)

    told = to_document(waves)
    WavesRecord.model_validate(told)
    assert told["stuck"]["copies_left"] == 2
    assert set(told["stuck"]["brokers"]) == {0, 1}
    assert {finding.rule for finding in check_planned(waves)} == {"wave-end"}


def test_a_temporary_lack_of_room_is_noted_in_the_plan():
    from planner.options.plan_request import PlanRequest
    from planner.plan.documents.plan_document import to_document
    from planner.plan.run.make_plan import make
    from support.clusters import Dir, make_state

    # Where the third replica lies is unknown: the broker has no room for one more.
    state = make_state(
        [[0], [0], [0]],
        racks="a",
        log_dirs={0: [Dir("/d1", 100), Dir("/d2", 100)]},
        dirs=[["/d1"], ["/d1"], [None]],
        size_bytes=[40, 40, 75],
        disk_bytes=200,
    )

    made = make(state, PlanRequest(goal="log-dirs", waves=True))

    told = to_document(made.plan)
    assert told["moves"]["log_dirs"] == 1
    (note,) = [one for one in told["notes"] if one["what"] == "waves-stuck"]
    assert note["message"].startswith("1 copies are in no wave: no disk has room")
    assert note["need"] == 35
    assert {finding.rule for finding in made.findings} == {"wave-end"}


def test_a_replica_put_aside_is_reported(tmp_path):
    from placement.model.load import Resource, weigh
    from placement.waves.wave_settings import WaveSettings
    from planner.plan.waves.wave_document import to_document
    from planner.plan.waves.wave_files import check_planned, plan_waves
    from support.clusters import make_state
    from waves.reassignments import reassignment_to

    state = make_state(
        [[3, 0], [3, 1]],
        racks="abcde",
        size_bytes=[90, 90],
        disk_bytes=[100, 100, 100, 300, 300],
    )
    settings = WaveSettings(thresholds={Resource.DISK: 1.0})

    waves = plan_waves(reassignment_to(state, [[3, 1], [3, 0]]), weigh(state), settings)

    told = to_document(waves)
    WavesRecord.model_validate(told)
    (hop,) = told["hops"]
    assert (hop["bytes"], {hop["from"], hop["to"]}) == (90, {0, 1})
    assert any("by way of" in note for note in told["notes"])
    assert check_planned(waves) == ()


CHANGES = [
    pytest.param(
        ("set-replication-factor", "--replication-factor", "4"), {"copies"}, id="up"
    ),
    pytest.param(
        ("set-replication-factor", "--replication-factor", "1", "--topic", "a"),
        {"drops"},
        id="down",
    ),
    pytest.param(("log-dirs", "--empty", "1-2:/d2"), {"copies"}, id="inside-brokers"),
    pytest.param(("rebalance", "--with-log-dirs"), {"copies"}, id="with-log-dirs"),
]


@pytest.mark.parametrize(("command", "kinds"), CHANGES)
def test_factors_and_log_dirs_change_in_waves(
    capsys, snapshot, tmp_path, command, kinds
):
    plan = tmp_path / "plan"
    what = ("--capacity-threshold", "disk=1", "--max-moves-in", 2, "-o", plan)

    made = run(capsys, "plan", *command[:1], snapshot, *command[1:], *what)

    assert made.code == 0, made.out
    assert run(capsys, "check", plan, "--snapshot", snapshot).code == 0
    told = json.loads((plan / "waves" / "waves.json").read_text())
    WavesRecord.model_validate(told)
    document = PlanRecord.model_validate_json((plan / "plan.json").read_text())
    assert kinds <= {wave["kind"] for wave in told["waves"]}
    for name, whole in (("copies", "replicas"), ("log_dirs", "log_dirs")):
        counted = sum(wave[name] for wave in told["waves"])
        assert counted == getattr(document.moves, whole)
    size = sum(wave["log_dir_bytes"] for wave in told["waves"])
    assert size == document.moves.log_dir_bytes
    now = lists_in(plan / "rollback.json")
    for wave in told["waves"]:
        lists = lists_in(plan / wave["file"])
        assert lists_in(plan / wave["rollback_file"]) == {
            key: now[key] for key in lists
        }
        lost = sum(max(len(now[key]) - len(row), 0) for key, row in lists.items())
        assert lost == wave["drops"]
        now.update(lists)
    assert now == lists_in(plan / "reassignment.json")


def dirs_in(path: Path) -> dict[tuple[str, int, int], str]:
    """Return the log dirs that a file names, by topic, partition and broker."""
    return {
        (entry["topic"], entry["partition"], broker): log_dir
        for entry in json.loads(path.read_text())["partitions"]
        for broker, log_dir in zip(entry["replicas"], entry["log_dirs"], strict=True)
        if log_dir != "any"
    }


def test_each_wave_names_its_log_dirs_and_its_way_back_those_before(
    capsys, snapshot, tmp_path
):
    plan = tmp_path / "plan"
    what = ("--empty", "1-2:/d2", "--max-moves-in", 1, "-o", plan)
    made = run(capsys, "plan", "log-dirs", snapshot, *what)
    assert made.code == 0, made.out

    waves = json.loads((plan / "waves" / "waves.json").read_text())["waves"]

    assert len(waves) > 1
    goes, lay = (
        dirs_in(plan / f"{name}.json") for name in ("reassignment", "rollback")
    )
    met: dict[tuple[str, int, int], str] = {}
    for wave in waves:
        named = dirs_in(plan / wave["file"])
        assert named.items() <= goes.items()
        assert len(named) == wave["log_dirs"]
        # One at a time on each broker, at its disk.
        assert len({broker for _, _, broker in named}) == len(named)
        assert wave["throttle_bytes_per_s"] is None
        assert wave["log_dir_throttle_bytes_per_s"] == 50_000_000
        back = dirs_in(plan / wave["rollback_file"])
        assert back == {key: (lay | met)[key] for key in back}
        met |= named
    assert met == goes


def test_check_finds_a_wave_that_names_another_log_dir(capsys, snapshot, tmp_path):
    plan = tmp_path / "plan"
    run(capsys, "plan", "log-dirs", snapshot, "--empty", "1:/d2", "--waves", "-o", plan)
    first = plan / "waves" / "wave-001.json"
    text = first.read_text()
    found = []
    for wrong in ("/d9", "any"):
        first.write_text(text.replace('"/d1"', f'"{wrong}"', 1))
        outcome = run(capsys, "check", plan, "--snapshot", snapshot, "--format", "json")
        assert outcome.code == 3
        found.append({one["rule"] for one in outcome.document["findings"]})

    assert {"wave-log-dir", "wave-end"} <= found[0]
    assert "wave-end" in found[1]
