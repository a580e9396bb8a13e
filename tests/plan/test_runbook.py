"""RUNBOOK.md: the commands of a plan, in order, for every kind of plan."""

import json
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

import planner
from placement.model.cluster import BrokerState
from planner.options.plan_request import PlanRequest
from planner.plan.folder.plan_folder import plan_files
from planner.plan.folder.runbook import NAME
from planner.plan.run.make_plan import make
from planner.snapshot import Snapshot
from planner.throttles import BROKER_THROTTLES, LOG_DIR_RATE, TOPIC_THROTTLES
from support.clusters import Dir, make_state
from support.commands import run
from support.plans import many_document, planned_for, skewed_document


def commands(text: str) -> list[list[str]]:
    """Return the commands of a runbook as words."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def reassignments(text: str) -> list[tuple[str, str]]:
    """Return the file and the action of each command of Kafka's tool, in order."""
    found = []
    for words in commands(text):
        if words[0] != "kafka-reassign-partitions.sh" or "--list" in words:
            continue
        [action] = {"--execute", "--verify", "--cancel"} & set(words)
        found.append((words[words.index("--reassignment-json-file") + 1], action))
    return found


def runbook_of(plan) -> tuple[str, dict[str, str]]:
    files = dict(plan_files(plan))
    return files[NAME], files


def of_state(state, goal: str, **options):
    return make(state, PlanRequest(goal=goal, **options)).plan


@cache
def skewed_plan(**options):
    """Plan the skewed cluster quickly, once for all tests with these options."""
    document = skewed_document()
    return planned_for(document, "rebalance", effort="quick", **options).plan


def test_every_file_that_it_names_is_there_with_lists_in_it():
    for options in ({}, {"waves": True}):
        plan = skewed_plan(**options)
        text, files = runbook_of(plan)

        named = [file for file, _ in reassignments(text)]
        assert named
        for file in named:
            assert json.loads(files[file])["partitions"]
        for words in commands(text):
            if words[0] == "kafka-leader-election.sh":
                assert json.loads(files[words[-1]])["partitions"]


def test_a_plan_is_run_verified_and_undone_with_the_cancel_first():
    text, _ = runbook_of(skewed_plan())

    assert reassignments(text) == [
        ("reassignment.json", "--execute"),
        ("reassignment.json", "--verify"),
        ("reassignment.json", "--verify"),
        ("reassignment.json", "--cancel"),
        ("rollback.json", "--execute"),
        ("rollback.json", "--verify"),
    ]


OWN_COMMANDS = [
    "apply . --bootstrap-server HOST:PORT",
    "apply . --bootstrap-server HOST:PORT --yes",
    "apply . --set pause",
    "verify . --bootstrap-server HOST:PORT --wait",
    "cancel . --bootstrap-server HOST:PORT --yes",
    "rollback . --bootstrap-server HOST:PORT --yes",
]


@pytest.mark.parametrize("waves", [False, True])
def test_a_runbook_begins_with_our_own_commands(waves):
    text, _ = runbook_of(skewed_plan(waves=waves))

    first = [shlex.join(words[1:]) for words in commands(text)[: len(OWN_COMMANDS)]]
    assert first == OWN_COMMANDS
    assert {words[0] for words in commands(text)[: len(OWN_COMMANDS)]} == {
        "kafka-planner"
    }
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[:2] == ["With kafka-planner", "Before"]


def test_a_runbook_of_new_partitions_begins_with_apply(tmp_path):
    now = Snapshot.from_document(skewed_document())
    more = len(skewed_document()["topics"][0]["partitions"]) + 2
    for found in (
        planner.new_topic(now, "fresh", 3, 2),
        planner.add_partitions(now, "a", more),
    ):
        folder = tmp_path / found.planned.plan.creation.topic
        found.write(folder)
        first = [
            shlex.join(words[1:]) for words in commands((folder / NAME).read_text())
        ]
        assert first[:2] == OWN_COMMANDS[:2]


def test_waves_are_run_one_by_one_and_undone_from_the_last():
    plan = skewed_plan(waves=True, max_moves_in=1)
    text, _ = runbook_of(plan)

    count = len(plan.waves.steps)
    assert count > 2
    numbers = range(1, count + 1)
    forth = [f"waves/wave-{number:03d}.json" for number in numbers]
    back = [f"waves/rollback-{number:03d}.json" for number in reversed(numbers)]
    started = [file for file, action in reassignments(text) if action == "--execute"]
    assert started == forth + back


def test_waves_have_the_throttles_that_waves_json_names():
    plan = skewed_plan(waves=True)
    text, files = runbook_of(plan)

    told = {
        wave["file"]: wave["throttle_bytes_per_s"]
        for wave in json.loads(files["waves/waves.json"])["waves"]
    }
    for words in commands(text):
        file = next((word for word in words if word in told), None)
        if file is None or "--execute" not in words:
            continue
        limit = words[words.index("--throttle") + 1] if "--throttle" in words else None
        assert limit == (None if told[file] is None else str(told[file]))


def test_more_than_kafka_takes_at_once_is_run_file_by_file():
    text, files = runbook_of(planned_for(many_document(12_000), "rebalance").plan)

    parts = sorted(name for name in files if re.match(r"reassignment-\d+\.json", name))
    assert len(parts) > 1
    run_ = [file for file, action in reassignments(text) if action == "--execute"]
    assert run_[: len(parts)] == parts
    assert "rollback-001.json" in run_[len(parts) :]
    assert "rollback.json" not in run_


def test_a_change_of_order_alone_takes_no_throttle():
    state = make_state([[0, 1], [0, 1], [0, 1]], racks="ab")
    text, _ = runbook_of(of_state(state, "leaders"))

    assert "--throttle " not in text.split("## If a broker")[0]


def test_moves_between_log_dirs_have_their_own_throttle():
    dirs = [Dir("/a", 1000, 400), Dir("/b", 1000, 1000)]
    state = make_state(
        [[1]] * 6,
        size_bytes=100,
        log_dirs={1: dirs},
        dirs=[["/a"]] * 6,
    )
    text, _ = runbook_of(of_state(state, "log-dirs"))

    [started, *_] = [words for words in commands(text) if "--execute" in words]
    assert "--replica-alter-log-dirs-throttle" in started
    assert "--throttle" not in started


def test_nothing_to_do_needs_no_command():
    state = make_state([[0, 1], [1, 0]], racks="ab")
    text, _ = runbook_of(of_state(state, "rebalance"))

    assert commands(text) == []


def lost_broker_plan(**options):
    state = make_state(
        [[0, 3], [1, 3], [2, 0], [1, 2]],
        racks="abcd",
        states={3: BrokerState.DEAD},
        size_bytes=10,
        in_rate=7.0,
    )
    return of_state(state, "fix", **options)


@pytest.mark.parametrize("options", [{}, {"waves": True}])
def test_with_a_dead_broker_rates_are_set_for_all_brokers(options):
    text, files = runbook_of(lost_broker_plan(**options))

    executed = [words for words in commands(text) if "--execute" in words]
    forth = [words for words in executed if "rollback" not in " ".join(words)]
    assert all("--throttle" not in words for words in forth)
    configs = [words for words in commands(text) if words[0] == "kafka-configs.sh"]
    added = {
        pair.split("=")[0]
        for words in configs
        if "--add-config" in words
        for pair in words[-1].split(",")
    }
    removed = {
        key
        for words in configs
        if "--delete-config" in words
        for key in words[-1].split(",")
    }
    assert added == {*BROKER_THROTTLES, *TOPIC_THROTTLES} - {LOG_DIR_RATE}
    # Those of topics go with Kafka's own --verify.
    assert removed == set(BROKER_THROTTLES) - {LOG_DIR_RATE}
    notes = {note["what"] for note in json.loads(files["plan.json"])["notes"]}
    assert "throttle-waits" in notes


def test_what_rollback_leaves_out_is_kept_in_the_plan_and_said():
    text, files = runbook_of(lost_broker_plan())

    left_out = json.loads(files["plan.json"])["not_in_rollback"]
    assert [(one["partition"], one["replicas"]) for one in left_out] == [
        (0, [0, 3]),
        (1, [1, 3]),
    ]
    assert json.loads(files["rollback.json"])["partitions"] == []
    assert "2 partitions cannot be brought back" in text
    assert "rollback.json" not in [file for file, _ in reassignments(text)]


def test_a_plan_with_an_empty_rollback_can_be_not_started(tmp_path: Path, capsys):
    brokers = [{"id": b, "rack": r} for b, r in zip(range(4), "abcd", strict=True)]
    brokers[3]["state"] = "dead"
    lists = [[0, 3], [1, 3], [2, 0]]
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": brokers,
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {"partition": n, "replicas": row} for n, row in enumerate(lists)
                ],
            }
        ],
    }
    now = tmp_path / "now.json"
    now.write_text(json.dumps(document))
    assert run(capsys, "plan", "fix", now, "-o", tmp_path / "p").code == 0

    found = run(capsys, "verify", tmp_path / "p", "--snapshot", now)

    assert found.code == 3
    assert found.out.splitlines()[0] == "not-started: 2 not_started"
    assert "--throttle BYTES_PER_S" not in found.out


def test_an_older_folder_without_it_is_read(tmp_path: Path, capsys):
    plan = skewed_plan()
    folder = tmp_path / "p"
    folder.mkdir()
    for name, text in plan_files(plan):
        if name != NAME:
            (folder / name).write_text(text)
    document = json.loads((folder / "plan.json").read_text())
    del document["not_in_rollback"]
    (folder / "plan.json").write_text(json.dumps(document))
    snapshot = tmp_path / "s.json"
    snapshot.write_text(json.dumps(skewed_document()))

    found = run(capsys, "verify", folder, "--snapshot", snapshot)

    assert found.out.startswith("not-started: ")


def test_it_names_no_place_of_the_machine_and_no_time():
    text, _ = runbook_of(skewed_plan())

    assert not re.search(r"(?<!\S)/[a-z]|\b20\d\d-|\d:\d\d", text)
