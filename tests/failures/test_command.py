"""The command: what it prints, what it refuses, and its exit codes."""

import json
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.failures.all_failures import compute_all_failures
from planner.failures.failure_records import AllFailuresRecord, ScenarioRecord
from planner.failures.failure_request import FailuresRequest, read_failures_request
from planner.failures.failures_screen import all_failures_screen
from planner.snapshot import Snapshot
from support.commands import run
from support.plans import write_document


def partition(number: int, replicas: list[int], **more: Any) -> dict[str, Any]:
    return {"partition": number, "replicas": replicas, "size_bytes": 100} | more


def document(partitions: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "small",
        "kafka_version": "4.3.1",
        "brokers": [
            {
                "id": b,
                "rack": "abc"[b % 3],
                "log_dirs": [
                    {"path": path, "size_bytes": 10_000} for path in ("/d1", "/d2")
                ],
            }
            for b in range(1, 7)
        ],
        "topics": [{"name": "t", "partitions": partitions}],
    } | more


SAFE = [partition(n, [1 + n, 2 + n, 3 + n]) for n in range(3)]


@pytest.fixture
def safe(tmp_path: Path) -> Path:
    return write_document(document(SAFE), tmp_path / "safe.json")


def test_a_cluster_that_survives_anything_single_exits_0(capsys, safe: Path):
    outcome = run(capsys, "failures", safe)

    assert outcome.code == 0
    assert "N-1 broker yes, if the controllers keep their majority;" in outcome.out
    assert "N-1 rack   yes, if the controllers keep their majority;" in outcome.out
    assert "any broker unknown, any rack unknown" in outcome.out


def test_a_cluster_that_does_not_exits_3_and_says_why(capsys, tmp_path: Path):
    path = write_document(document([partition(0, [4])]), tmp_path / "s.json")

    outcome = run(capsys, "failures", path)

    assert outcome.code == 3
    assert "N-1 broker no, for 1 of 6; broker 4: 1 partition offline" in outcome.out


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--no-pairs",),
        ("--broker", "2"),
        ("--rack", "b"),
        ("--log-dir", "3:/data/d1"),
        ("--broker", "1-3", "--unclean"),
    ],
    ids=" ".join,
)
def test_every_screen_fits_eighty_columns(capsys, monkeypatch, options):
    # A path is as long as it is: this one is short.
    monkeypatch.chdir(SNAPSHOT_FILE.parent)

    outcome = run(capsys, "failures", SNAPSHOT_FILE.name, *options)

    assert outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_all_failures_follow_their_schema(capsys):
    outcome = run(capsys, "failures", SNAPSHOT_FILE, "--format", "json")

    found = outcome.document
    AllFailuresRecord.model_validate(found)
    assert [len(found["single"][kind]) for kind in ("broker", "log_dir", "rack")] == [
        12,
        24,
        3,
    ]
    assert found["pairs"]["broker"]["possible"] == 66
    assert len(found["pairs"]["broker"]["worst"]) == 5
    schema = run(capsys, "schema", "failures").document
    assert schema["properties"].keys() == found.keys()


def test_a_scenario_follows_its_schema(capsys):
    outcome = run(capsys, "failures", SNAPSHOT_FILE, "--rack", "a", "--format", "json")

    found = outcome.document
    ScenarioRecord.model_validate(found)
    assert found["stages"]["lost"]["under_replicated"] == found["num_partitions"] == 312
    assert found["stages"]["returned"]["under_replicated"] == 0
    assert found["stages"]["elected"]["leader_not_preferred"] == 0
    schema = run(capsys, "schema", "failures-scenario").document
    assert schema["properties"].keys() == found.keys()


def test_the_same_question_has_the_same_answer(capsys):
    first, second = (
        run(capsys, "failures", SNAPSHOT_FILE, "--format", "json").document
        for _ in range(2)
    )

    # Only the clock goes on.
    assert first.pop("data_age_s") <= second.pop("data_age_s")
    assert first == second


def next_command(out: str) -> list[str]:
    """Return the words of the command that a screen ends with."""
    _, command = out.rsplit("\nNext ", 1)
    return shlex.split(command.replace("\\\n", " "))[1:]


def test_what_to_do_before_a_restart_helps(capsys, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s.json.gz").write_bytes(SNAPSHOT_FILE.read_bytes())

    before = run(capsys, "failures", "s.json.gz", "--broker", "2", "--clean-shutdown")
    run(capsys, *next_command(before.out))
    run(capsys, "snapshot", "apply", "plan", "s.json.gz", "-o", "after.json.gz")
    after = run(capsys, "failures", "after.json.gz", "--broker", "2")

    assert "Binds      out of broker 3: 92 % of 80 %" in before.out
    assert "brokers are stopped in order" in " ".join(before.out.split())
    assert (before.code, after.code) == (3, 0)
    assert next_command(after.out)[:2] == ["plan", "demote"]


@pytest.mark.parametrize(
    ("partitions", "lost", "command"),
    [
        pytest.param(
            [partition(0, [4])],
            ("--broker", "4"),
            "plan set-replication-factor s.json --replication-factor 2 --topics t",
            id="too-few-replicas",
        ),
        pytest.param(
            SAFE, ("--broker", "2,1"), "plan demote s.json --broker-list 1-2", id="safe"
        ),
        pytest.param(
            [partition(0, [1, 2])], ("--broker", "1-2"), "failures s.json", id="both"
        ),
        pytest.param(
            SAFE,
            ("--log-dir", "1:/d1", "--log-dir", "2:/d2"),
            "plan demote s.json --log-dirs 1:/d1 --log-dirs 2:/d2",
            id="log-dirs",
        ),
    ],
)
def test_every_answer_ends_with_what_to_do(
    capsys, tmp_path: Path, monkeypatch, partitions, lost, command: str
):
    monkeypatch.chdir(tmp_path)
    write_document(document(partitions), Path("s.json"))

    outcome = run(capsys, "failures", "s.json", *lost)

    found = " ".join(next_command(outcome.out))
    assert found.removesuffix(" -o plan") == command


def test_losing_a_broker_says_who_leads_and_what_stays(capsys, tmp_path: Path):
    lists = [partition(0, [1, 2]), partition(1, [2, 1]), partition(2, [1, 2])]
    given = document(lists)
    given["brokers"] = given["brokers"][:2]
    path = write_document(given, tmp_path / "demo.json")

    found = run(capsys, "failures", path, "--broker", "1", "--format", "json").document

    leaders = [(one["leader_before"], one["leader"]) for one in found["partitions"]]
    assert sorted(leaders) == [(1, 2), (1, 2), (2, 2)]
    assert {tuple(one["isr"]) for one in found["partitions"]} == {(2,)}
    assert {one["leader_returned"] for one in found["partitions"]} == {2}
    assert found["automatic_election"] == {
        "is_enabled": True,
        "has_threshold": False,
        "changes": 2,
        "passes": 1,
    }
    # Nobody else is left to copy to: broker 2 stays as it is.
    assert found["rebuild"] == {
        "replicas": 0,
        "unplaced_replicas": 3,
        "bytes": 0,
        "seconds": 0.0,
        "busiest_sender": None,
        "fullest": {"disk": pytest.approx(300 / 20_000), "in": None},
    }
    screen = " ".join(run(capsys, "failures", path, "--broker", "1").out.split())
    assert "Rebuild nothing to copy; 3 replicas have no broker left to be" in screen


def test_what_is_not_known_binds_nothing(capsys, tmp_path: Path):
    lists = [partition(p, [1, 2, 3]) for p in range(3)]
    given = document(lists)
    for broker in given["brokers"]:
        broker["out_bytes_per_s"] = 1e6
    path = write_document(given, tmp_path / "s.json")

    found = run(capsys, "failures", path, "--broker", "1", "--format", "json").document

    assert found["stages"]["lost"]["busiest"]["out"] is None
    assert found["binding"] is None


def test_on_three_brokers_the_disks_of_two_do_not_fill_up(capsys, tmp_path: Path):
    given = document([partition(p, [1, 2, 3]) for p in range(3)])
    given["brokers"] = given["brokers"][:3]
    path = write_document(given, tmp_path / "s.json")

    found = run(capsys, "failures", path, "--format", "json").document
    screen = " ".join(run(capsys, "failures", path).out.split())

    for row in found["single"]["broker"]:
        assert row["survives"]
        assert (row["unplaced_replicas"], row["rebuilt_bytes"]) == (3, 0)
    assert "3 replicas have no broker left to be rebuilt on" in screen


def test_how_full_survivors_are_once_all_is_rebuilt_is_that_of_all_failures(capsys):
    every = run(capsys, "failures", SNAPSHOT_FILE, "--format", "json").document

    for kind, option in (("broker", "--broker"), ("log_dir", "--log-dir")):
        for row in every["single"][kind][::5]:
            lost = (option, row["lost"][0], "--format", "json")
            one = run(capsys, "failures", SNAPSHOT_FILE, *lost).document
            assert one["rebuild"]["fullest"] == row["fullest_when_rebuilt"]
            assert one["rebuild"]["seconds"] == row["rebuild_s"]
            assert one["pushed_over_threshold"] == row["pushed_over_threshold"]


def test_a_broker_stops_with_its_last_log_dir(capsys, tmp_path: Path):
    # Where its replicas lie nobody told: they are gone with the broker all the same.
    voters = [{"id": i, "voter": True} for i in (1, 2, 3)]
    path = write_document(document(SAFE, controllers=voters), tmp_path / "s.json")
    dirs = [word for d in ("1:/d1", "1:/d2") for word in ("--log-dir", d)]

    one = run(capsys, "failures", path, *dirs[:2], "--format", "json").document
    both = run(capsys, "failures", path, *dirs, "--format", "json").document
    whole = run(capsys, "failures", path, "--broker", "1", "--format", "json").document

    assert one["num_partitions"] == 0
    assert both["num_partitions"] == 1
    assert "no log dir is left to broker 1: it stops" in both.pop("notes")
    assert "no log dir is left" not in " ".join(whole.pop("notes"))
    for each in (both, whole):
        del each["lost"], each["data_age_s"], each["summary"]
    assert both == whole


def test_a_broker_lost_twice_is_counted_once(capsys, safe: Path):
    lost = ("--rack", "b", "--rack", "b", "--broker", "2", "--format", "json")

    outcome = run(capsys, "failures", safe, *lost)

    assert outcome.document["lost"] == ["broker 2", "rack b"]


def test_unknown_values_are_not_zero(capsys, tmp_path: Path):
    blind = [{"partition": n, "replicas": [1, 2]} for n in range(3)]
    path = write_document(document(blind), tmp_path / "s.json")

    every = run(capsys, "failures", path)
    one = run(capsys, "failures", path, "--broker", "1")
    told = run(capsys, "failures", path, "--format", "json").document
    lost = run(capsys, "failures", path, "--broker", "1", "--format", "json").document

    for screen in (every.out, one.out):
        assert not re.search(r"\b0 B|\b0 s|\b0 %", screen.split("Pairs")[0])
    assert "3 replicas of unknown size" in one.out
    worst = told["single"]["broker"][0]
    assert worst["busiest"]["out"] is None
    assert worst["rebuilt_bytes"] is None
    assert worst["rebuild_s"] is None
    assert worst["fullest_when_rebuilt"] == {"disk": None, "in": None}
    assert worst["busiest"]["leaders"]["load"] == 3
    assert lost["rebuild"]["bytes"] is None
    assert lost["rebuild"]["fullest"] == {"disk": None, "in": None}
    assert lost["stages"]["lost"]["busiest"]["out"] is None
    AllFailuresRecord.model_validate(told)
    ScenarioRecord.model_validate(lost)


def test_no_broker_left_is_reported(capsys, safe: Path):
    outcome = run(capsys, "failures", safe, "--broker", "1-6")

    assert outcome.code == 3
    assert "Binds      no broker is left" in outcome.out
    assert "0 move; no broker is left" in outcome.out


def test_an_unclean_election_is_priced_on_demand(capsys, tmp_path: Path):
    stale = partition(0, [1, 2], leader=1, isr=[1], replica_bytes=[100, 40])
    path = write_document(document([stale]), tmp_path / "s.json")

    quiet = run(capsys, "failures", path, "--broker", "1")
    told = run(capsys, "failures", path, "--broker", "1", "--unclean")

    assert (quiet.code, told.code) == (3, 3)
    assert "offline" in quiet.out
    assert "unclean:" not in quiet.out
    assert "2 would lead, 60 B at least are lost" in told.out


def test_eligible_replicas_lead_where_they_are_enabled(capsys, tmp_path: Path):
    one = partition(0, [1, 2], leader=1, isr=[1], elr=[2])
    given = document([one], features={"eligible.leader.replicas.version": 1})
    given["configs"] = {"min.insync.replicas": "2"}
    path = write_document(given, tmp_path / "s.json")

    found = run(capsys, "failures", path, "--broker", "1", "--format", "json").document

    assert found["assumptions"]["eligible_leader_replicas"] is True
    (only,) = found["partitions"]
    assert (only["leader"], only["isr"], only["state"]) == (2, [2], "under-min-isr")


def test_under_min_isr_producers_are_said_to_be_refused(capsys, tmp_path: Path):
    given = document([partition(0, [1, 2])], configs={"min.insync.replicas": "2"})
    path = write_document(given, tmp_path / "s.json")

    outcome = run(capsys, "failures", path, "--broker", "2")

    said = " ".join(outcome.out.split())
    assert "not survived: 1 partition under min ISR (acks=all refused)" in said
    assert outcome.code == 3


def test_topics_may_elect_uncleanly_by_themselves(capsys, tmp_path: Path):
    stale = partition(0, [1, 2], leader=1, isr=[1])
    given = document([stale], configs={"unclean.leader.election.enable": "true"})
    path = write_document(given, tmp_path / "s.json")

    outcome = run(capsys, "failures", path, "--broker", "1", "--format", "json")

    (only,) = outcome.document["partitions"]
    assert (only["leader"], only["isr"]) == (2, [2])
    assert any("elect uncleanly" in note for note in outcome.document["notes"])


def test_an_older_kafka_elects_past_a_threshold_only(capsys, tmp_path: Path):
    lists = [partition(n, [1, 2]) for n in range(4)]
    config = {"leader.imbalance.per.broker.percentage": "100"}
    given = document(lists, kafka_version="3.9.1", configs=config)
    path = write_document(given, tmp_path / "s.json")

    outcome = run(capsys, "failures", path, "--broker", "1")

    assert "0 by the next automatic election" in outcome.out
    assert "leader.imbalance.per.broker.percentage" in outcome.out


def test_elections_may_be_switched_off(capsys, tmp_path: Path):
    config = {"auto.leader.rebalance.enable": "false"}
    path = write_document(document(SAFE, configs=config), tmp_path / "s.json")

    outcome = run(capsys, "failures", path, "--broker", "1")

    assert "not by itself: auto.leader.rebalance.enable is false" in outcome.out


@pytest.mark.parametrize(
    ("controllers", "broker", "rack"),
    [
        pytest.param([], "unknown", "unknown", id="nobody-told"),
        pytest.param([(1, None)], "no", "no", id="one-combined"),
        pytest.param([(100, "a"), (101, "b"), (102, "c")], "yes", "yes", id="spread"),
        pytest.param([(100, "a"), (101, "a"), (102, "c")], "yes", "no", id="two-in-a"),
        pytest.param(
            [(100, None), (101, None), (102, None)], "yes", "unknown", id="no-racks"
        ),
        pytest.param([(1, None), (2, None), (3, None)], "yes", "yes", id="combined"),
        pytest.param([(1, None), (4, None), (3, None)], "yes", "no", id="same-rack"),
    ],
)
def test_the_controllers_majority_counts(
    capsys, tmp_path: Path, controllers, broker, rack
):
    listed = [{"id": i, "rack": name, "voter": True} for i, name in controllers]
    path = write_document(document(SAFE, controllers=listed), tmp_path / "s.json")

    outcome = run(capsys, "failures", path)

    assert f"any broker {broker}, any rack {rack}" in outcome.out
    verdicts = re.findall(
        "^N-1 (broker|rack) +(no|yes, if|yes)", outcome.out, re.MULTILINE
    )
    words = {"yes": "yes", "no": "no", "unknown": "yes, if"}
    assert verdicts == [("broker", words[broker]), ("rack", words[rack])]
    assert outcome.code == (3 if "no" in {broker, rack} else 0)


def test_a_scenario_counts_controllers_too(capsys, tmp_path: Path):
    listed = [{"id": i, "voter": True} for i in (1, 2, 3)]
    path = write_document(document(SAFE, controllers=listed), tmp_path / "s.json")

    one = run(capsys, "failures", path, "--broker", "1")
    two = run(capsys, "failures", path, "--broker", "1,2")

    assert "majority: yes" in one.out
    assert "no majority of controllers" in two.out
    assert two.code == 3


def test_every_bad_option_is_named_at_once(capsys, safe: Path):
    outcome = run(
        capsys,
        *("failures", safe, "--broker", "77", "--broker", "x", "--rack", "q"),
        *("--log-dir", "1:/nowhere", "--bandwidth", "fast"),
        *("--capacity-threshold", "disk=2", "--format", "json"),
    )

    assert outcome.code == 2
    places = [problem["place"] for problem in outcome.document["problems"]]
    assert places == [
        "--broker",
        "--broker",
        "--rack",
        "--log-dir",
        "--capacity-threshold",
        "--bandwidth",
    ]
    assert json.dumps(outcome.document).count("remedy") == 6


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [
        pytest.param("--broker", "66", "6", id="broker"),
        pytest.param("--rack", "B", "b", id="rack"),
        pytest.param("--log-dir", "2:/d22", "2:/d2", id="log-dir"),
    ],
)
def test_what_was_likely_meant_is_said(
    capsys, safe: Path, option: str, value: str, meant: str
):
    outcome = run(capsys, "failures", safe, option, value)

    assert outcome.code == 2
    assert f"did you mean {meant}?" in outcome.err


def test_a_bandwidth_of_nothing_is_refused(capsys, safe: Path):
    outcome = run(capsys, "failures", safe, "--bandwidth", "0")

    assert outcome.code == 2
    assert "must be above 0" in outcome.err


def test_a_cluster_without_racks_is_said(capsys, tmp_path: Path):
    given = document(SAFE)
    for broker in given["brokers"]:
        del broker["rack"]
    path = write_document(given, tmp_path / "s.json")

    outcome = run(capsys, "failures", path)

    assert "N-1 rack   unknown: the snapshot has no rack" in outcome.out
    assert outcome.code == 0


def test_drawn_pairs_say_their_error():
    snapshot = Snapshot.from_document(document(SAFE))
    state = snapshot.to_state()
    settings = read_failures_request(FailuresRequest(), snapshot, state)

    every = compute_all_failures(snapshot, state, settings, sample=5, most_domains=2)

    now = datetime(2026, 11, 21, tzinfo=UTC)
    lines = "\n".join(all_failures_screen(every, Path("s.json"), 3, now=now))
    assert "of 15; 5 drawn" in lines
    assert "±" in lines


@pytest.mark.parametrize("options", [(), ("--broker", "4")], ids=["all", "one"])
def test_a_screen_alone_makes_no_document(capsys, monkeypatch, options):
    def refuse(*_: object, **__: object):
        pytest.fail("a document was made")

    monkeypatch.setattr("planner.failures.failures_document.to_document", refuse)
    monkeypatch.setattr("planner.failures.loss_document.to_document", refuse)

    assert run(capsys, "failures", SNAPSHOT_FILE, *options).code in {0, 3}
