"""The command `status`: what it names, its advice, and its exit codes."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.demo import SNAPSHOT_FILE
from planner.kafka_files.reassignment_file import read_reassignment_file
from planner.status.status_records import StatusRecord
from status.states import RATE, document, partition, quorum
from support.commands import Outcome, run
from support.plans import write_document


def status(capsys, tmp_path: Path, given: dict[str, Any], *options: object) -> Outcome:
    return run(capsys, "status", write_document(given, tmp_path / "s.json"), *options)


def checked(capsys, tmp_path: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON document, held against its schema."""
    outcome = status(capsys, tmp_path, given, "--format", "json")
    StatusRecord.model_validate_json(outcome.out)
    assert (outcome.code == 3) == (outcome.document["status"] == "wrong")
    return outcome.document


def words_of(outcome: Outcome) -> str:
    return " ".join(outcome.out.split())


def test_a_cluster_of_which_everything_is_known_and_fine_exits_0(capsys, tmp_path):
    outcome = status(capsys, tmp_path, document([partition(0, [1, 2, 3])]))

    assert outcome.code == 0
    assert "Wrong now  nothing\n" in outcome.out
    assert "Unknown" not in outcome.out
    assert "leader 100; 1 voter (100), majority 1; 0 more may fail" in outcome.out


def test_what_is_unknown_is_not_fine(capsys, tmp_path):
    bare = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": 1}, {"id": 2}],
        "topics": [{"name": "t", "partitions": [{"partition": 0, "replicas": [1, 2]}]}],
    }

    found = checked(capsys, tmp_path, bare)

    assert found["status"] == "unknown"
    assert found["quorum"] is None
    whats = [one["what"] for one in found["unknown"]]
    assert whats == [
        "broker-state",
        "log-dirs",
        "isr",
        "leader",
        "reassignments",
        "min-isr",
        "throttles",
        "throttles",
        "quorum",
    ]
    text = words_of(status(capsys, tmp_path, bare))
    assert "Wrong now nothing in what is known; see Unknown" in text
    assert "in-sync replicas of 1 partition: not in the snapshot" in text


def test_a_fenced_broker_is_named_with_the_choices(capsys, tmp_path):
    given = document(
        [partition(0, [1, 2], isr=[1]), partition(1, [2, 3], leader=3, isr=[3])],
        brokers={2: {"state": "fenced", "configs": None}},
    )

    outcome = status(capsys, tmp_path, given)
    found = checked(capsys, tmp_path, given)

    assert outcome.code == 3
    assert "Wrong now broker 2 fenced (2 replicas offline); 2 partitions under-rep" in (
        words_of(outcome)
    )
    assert "broker 2 (rack c, host h2) is fenced" in outcome.out
    (down,) = found["brokers"]["not_live"]
    assert (down["broker"], down["rack"], down["host"], down["state"]) == (
        2,
        "c",
        "h2",
        "fenced",
    )
    assert down["replicas"] == 2
    path = tmp_path / "s.json"
    assert [one["command"] for one in found["brokers"]["choices"]] == [
        None,
        f"kafka-planner plan fix {path} --lost 2 -o plan",
        f"kafka-planner plan remove-brokers {path} --broker-list 2 -o plan",
        "kafka-cluster.sh unregister --bootstrap-server HOST:PORT --id 2",
    ]
    assert [one["what"] for one in found["unknown"]] == ["throttles"]


def test_a_dead_broker_without_replicas_promises_nothing(capsys, tmp_path):
    given = document([partition(0, [1, 3])], brokers={2: {"state": "dead"}})

    text = words_of(status(capsys, tmp_path, given))

    assert "is dead: it is not registered; no partition lists it" in text
    assert "start broker 2, if the cluster is to have it" in text
    assert "catch up" not in text
    assert "have it;" not in text


def test_a_failed_log_dir_is_named_by_its_broker(capsys, tmp_path):
    dirs = [{"path": "/d1", "state": "offline"}, {"path": "/d2", "size_bytes": 9}]
    given = document(
        [partition(0, [1, 5], isr=[1], log_dirs=[None, "/d1"])],
        brokers={5: {"log_dirs": dirs}},
    )

    found = checked(capsys, tmp_path, given)

    (one,) = found["log_dirs"]["offline"]
    assert (one["broker"], one["log_dir"], one["replicas"]) == (5, "/d1", 1)
    commands = [choice["command"] for choice in found["log_dirs"]["choices"]]
    assert commands[-1].endswith("s.json --only log-dirs -o plan")


@pytest.mark.parametrize(
    ("failed", "listed"),
    [
        pytest.param(["/d1", "/d2"], [("/d1", 0, 1), ("/d2", 0, 1)], id="one-of-two"),
        pytest.param([], [(None, 0, 1)], id="of-no-known-dir"),
    ],
)
def test_an_offline_replica_of_a_live_broker_is_in_one_of_its_failed_log_dirs(
    capsys, tmp_path, failed, listed
):
    dirs = [
        {"path": path, "state": "offline" if path in failed else "online"}
        for path in ("/d1", "/d2", "/d3")
    ]
    given = document(
        [partition(0, [1, 5], isr=[1], offline_replicas=[5])],
        brokers={5: {"log_dirs": dirs}},
    )

    found = checked(capsys, tmp_path, given)["log_dirs"]["offline"]

    keys = ("log_dir", "replicas", "in_this_or_another")
    assert [tuple(one[key] for key in keys) for one in found] == listed
    text = words_of(status(capsys, tmp_path, given))
    assert "1 more in it or another" in text or "which log dir failed is unk" in text


def test_leaderless_partitions_say_who_has_the_last_copies(capsys, tmp_path):
    given = document(
        [
            partition(
                0, [2, 1], leader=None, isr=[], elr=[2], replica_bytes=[None, 60]
            ),
            partition(1, [1, 3]),
        ],
        brokers={2: {"state": "fenced"}},
    )

    outcome = status(capsys, tmp_path, given)
    (one,) = checked(capsys, tmp_path, given)["leaderless"]

    assert (one["topic"], one["partition"]) == ("t", 0)
    assert (one["isr"], one["elr"], one["out_of_sync"]) == ([], [2], [1])
    assert (one["rescue"], one["rescue_brokers"]) == ("start-broker", [2])
    assert one["unclean"] == {
        "leader": 1,
        "lost_bytes": 40,
        "command": "kafka-planner elect --election-type unclean --topic t "
        "--partition 0 --bootstrap-server HOST:PORT",
    }
    text = words_of(outcome)
    assert "1 partition without a leader: t-0;" in text
    assert "makes broker 1 the leader: at least 40 B are lost" in text


def test_without_an_isr_no_leader_is_suggested(capsys, tmp_path):
    given = document([partition(0, [1, 2], leader=None, isr=None)])

    (one,) = checked(capsys, tmp_path, given)["leaderless"]

    assert (one["isr"], one["rescue"], one["rescue_brokers"]) == (None, "unknown", [])
    assert one["unclean"]["command"] is None
    assert "which replicas are in sync is unknown" in one["message"]


STUCK = [
    partition(0, [3, 1, 2], isr=[1, 2], adding_replicas=[3], removing_replicas=[3]),
    partition(1, [6, 1, 2], isr=[1, 2], adding_replicas=[6], removing_replicas=[2]),
    partition(2, [4, 1, 2], isr=[1, 2], adding_replicas=[4], removing_replicas=[2]),
]


@pytest.mark.parametrize("path", ["/d1", None])
def test_a_live_leader_that_is_not_elected_may_have_lost_its_log_dir(
    capsys, tmp_path, path
):
    one = partition(0, [2, 1], leader=None, isr=[2], log_dirs=[path, "/d1"])

    text = words_of(status(capsys, tmp_path, document([one])))

    assert "broker 2 has every committed record" in text
    assert ("the log dir of the replica has failed" in text) == (path is None)


def choices_for_log_dirs(capsys, tmp_path, failed, held_by) -> list[str]:
    """Return the remedies where the paths of broker 2 failed, by the given holders."""
    paths = [{"path": p, "size_bytes": 1000} for p in ("/d1", "/d2")]
    states = [one | {"state": "offline"} for one in paths[:failed]] + paths[failed:]
    one = partition(0, held_by, isr=[1], log_dirs=["/d1"] * len(held_by))
    given = document([one], brokers={2: {"log_dirs": states}})
    found = checked(capsys, tmp_path, given)["log_dirs"]["choices"]
    return [choice["choice"].removeprefix("or ").split()[0] for choice in found]


@pytest.mark.parametrize(
    ("failed", "held_by", "expected"),
    [
        pytest.param(1, [1, 2], ["repair", "restart", "copy"], id="one of two"),
        pytest.param(2, [1, 2], ["repair", "copy"], id="no other log dir"),
        pytest.param(
            1, [1, 2, 3, 4, 5, 6], ["repair", "restart"], id="no other broker"
        ),
    ],
)
def test_a_failed_log_dir_has_the_remedies_that_work(
    capsys, tmp_path, failed, held_by, expected
):
    assert choices_for_log_dirs(capsys, tmp_path, failed, held_by) == expected


def test_a_min_isr_above_the_factor_is_named_with_its_remedies(capsys, tmp_path):
    topic = {"min.insync.replicas": "3"}
    given = document(
        [partition(0, [1, 2]), partition(1, [1, 2, 3], isr=[1])], topic=topic
    )

    text = words_of(status(capsys, tmp_path, given))
    found = checked(capsys, tmp_path, given)

    assert "t: 2 partitions, the worst with 1 in sync of 3" in text
    assert (
        "t: min.insync.replicas is 3, and a partition has 2 replicas: before 3.7 Kafka "
        "refuses acks=all even if all are in sync; later it is content with the fewer"
    ) in text
    assert "--entity-name t --add-config min.insync.replicas=1" in text
    commands = [choice["command"] for choice in found["min_isr_choices"]]
    assert len(commands) == 2
    words = shlex.split(commands[1])
    outcome = run(capsys, *words[1:-1], tmp_path / "plan")
    assert outcome.code == 0
    moved = json.loads((tmp_path / "plan" / "reassignment.json").read_text())
    assert {len(each["replicas"]) for each in moved["partitions"]} == {4}


def test_a_min_isr_that_the_factor_allows_has_no_such_line(capsys, tmp_path):
    given = document(
        [partition(0, [1, 2], isr=[1])], topic={"min.insync.replicas": "2"}
    )

    assert "refuses" not in status(capsys, tmp_path, given).out
    assert checked(capsys, tmp_path, given)["min_isr_choices"] == []


def test_brokers_without_a_rack_beside_others_are_named(capsys, tmp_path):
    bare = {2: {"rack": None}, 5: {"rack": None}}
    some = checked(capsys, tmp_path, document([partition(0, [1, 2])], brokers=bare))
    every = {number: {"rack": None} for number in range(1, 7)}
    none = checked(capsys, tmp_path, document([partition(0, [1, 2])], brokers=every))

    assert some["status"] == "unknown"
    assert [one["message"] for one in some["unknown"]] == [
        "rack of brokers 2,5: not in the snapshot; whether their copies share a rack "
        "with others is unknown"
    ]
    assert none["unknown"] == []


def test_running_and_stuck_reassignments_are_distinguished(capsys, tmp_path):
    given = document(STUCK, brokers={6: {"state": "fenced"}})

    found = checked(capsys, tmp_path, given)["reassignments"]

    assert (found["partitions"], found["bytes"], found["bytes_left"]) == (3, 300, 300)
    assert found["topics"] == [
        {"topic": "t", "partitions": 3, "bytes": 300, "bytes_left": 300, "stuck": 2}
    ]
    stuck = {(one["partition"], one["reason"], one["broker"]) for one in found["stuck"]}
    assert stuck == {
        (0, "adds-and-removes-the-same-broker", 3),
        (1, "waits-for-broker", 6),
    }
    assert [e["partition"] for e in found["cancel"]["partitions"]] == [0, 1]


def test_a_reassignment_that_runs_is_nothing_wrong(capsys, tmp_path):
    outcome = status(capsys, tmp_path, document(STUCK[2:]))

    assert outcome.code == 0
    assert "Wrong now  nothing\n" in outcome.out
    assert "1 partition being reassigned; 100 B of 100 B left to copy" in outcome.out


def test_stuck_reassignments_are_written_for_kafkas_cancel(capsys, tmp_path):
    path = tmp_path / "stuck.json"
    given = document(STUCK, brokers={6: {"state": "fenced"}})

    outcome = status(capsys, tmp_path, given, "--cancel-json", path)

    assert outcome.code == 3
    lists = read_reassignment_file(path)
    assert lists.partitions == (0, 1)
    assert lists.replicas == ((3, 1, 2), (6, 1, 2))
    assert f"wrote {path}" in outcome.err
    # Another file there is not replaced.
    path.write_text("notes of mine")
    outcome = status(capsys, tmp_path, given, "--cancel-json", path)
    assert outcome.code == 2
    assert path.read_text() == "notes of mine"


def test_no_file_is_written_where_nothing_is_stuck(capsys, tmp_path):
    path = tmp_path / "stuck.json"

    outcome = status(
        capsys, tmp_path, document(STUCK[2:]), "--cancel-json", path, "--quiet"
    )

    assert (outcome.code, outcome.err) == (0, "")
    assert not path.exists()


@pytest.mark.parametrize(
    ("given", "place", "entity"),
    [
        pytest.param(
            {"brokers": {1: {"configs": {RATE: "1000000"}}}},
            "broker 1",
            "--entity-type brokers --entity-name 1",
            id="broker",
        ),
        pytest.param(
            {"configs": {RATE: "1000000"}},
            "default of all brokers",
            "--entity-type brokers --entity-default",
            id="default",
        ),
    ],
)
def test_a_throttle_left_behind_is_wrong(capsys, tmp_path, given, place, entity):
    wrong = document([partition(0, [1, 2])], **given)

    outcome = status(capsys, tmp_path, wrong)

    assert outcome.code == 3
    assert "Wrong now  1 throttle left behind\n" in outcome.out
    assert f"{place}: {RATE} 1 MB/s, left behind" in words_of(outcome)
    assert (
        f"kafka-configs.sh --bootstrap-server HOST:PORT --alter {entity} "
        f"--delete-config {RATE}\n"
    ) in outcome.out


def test_a_throttle_of_a_running_reassignment_is_in_force_and_not_wrong(
    capsys, tmp_path
):
    given = document(STUCK[2:], configs={RATE: "5"})

    outcome = status(capsys, tmp_path, given)

    assert outcome.code == 0
    assert checked(capsys, tmp_path, given)["throttles"][0]["is_used"]
    assert "1 throttle in force" in words_of(outcome)
    assert "to remove once the reassignment has ended" in words_of(outcome)


@pytest.mark.parametrize(
    ("ages", "silent", "may_fail", "code"),
    [
        pytest.param([0, 300, 200], [], 1, 0, id="all-follow"),
        pytest.param([0, 20_000, 200], [101], 0, 3, id="one-is-silent"),
        pytest.param([0, 200, None], [102], 0, 3, id="one-never-followed"),
        pytest.param([None, None, None], None, None, 0, id="unknown"),
    ],
)
def test_the_quorum_says_how_many_more_may_fail(
    capsys, tmp_path, ages, silent, may_fail, code
):
    given = document([partition(0, [1, 2])], controllers=quorum(*ages))

    found = checked(capsys, tmp_path, given)

    assert found["quorum"] == {
        "leader": 100,
        "voters": [100, 101, 102],
        "majority": 2,
        "silent": silent,
        "may_fail": may_fail,
    }
    assert status(capsys, tmp_path, given).code == code


def test_many_troubles_of_a_kind_are_counted(capsys, tmp_path):
    given = document(
        [partition(n, [2, 1], leader=None, isr=[2]) for n in range(25)],
        brokers={2: {"state": "fenced"}},
    )

    text = words_of(status(capsys, tmp_path, given))

    assert "25 partitions without a leader: t-0, t-1, t-2 and 22 more" in text
    assert "and 15 more partitions; --format json has all" in text
    assert len(checked(capsys, tmp_path, given)["leaderless"]) == 25


def test_it_wants_one_place_to_look(capsys, tmp_path):
    outcome = run(capsys, "status")

    assert outcome.code == 2
    assert "exactly one of the two must be given" in outcome.err
    both = run(capsys, "status", SNAPSHOT_FILE, "--bootstrap-server", "h:1")
    assert both.code == 2


def test_lines_fit_but_for_commands(capsys, tmp_path):
    given = document(STUCK, brokers={6: {"state": "fenced"}}, configs={RATE: "1"})

    lines = status(capsys, tmp_path, given).out.splitlines()

    assert not [
        line for line in lines if len(line) > 80 and not line.startswith("  kafka-")
    ]


HEADED = ("score", "snapshot show", "failures", "plan rebalance", "plan leaders")


@pytest.mark.parametrize("command", HEADED)
def test_other_screens_begin_with_what_is_wrong(capsys, tmp_path, command: str):
    given = document(
        [partition(0, [2, 1], leader=None, isr=[2]), partition(1, [3, 4])],
        brokers={2: {"state": "fenced"}},
    )
    # Longer than a line: a path that is broken could not be copied.
    path = write_document(given, tmp_path / f"{'long-name-' * 8}.json")

    text = words_of(run(capsys, *command.split(), path))

    head = "Wrong now broker 2 fenced (1 replica offline); 1 partition without a leader"
    assert head in text
    assert f"see kafka-planner status {path}" in text


@pytest.mark.not_quick
@pytest.mark.parametrize("command", HEADED)
def test_where_nothing_is_wrong_nothing_is_said(capsys, command: str):
    text = run(capsys, *command.split(), SNAPSHOT_FILE).out

    assert "Wrong now" not in text
    assert "Moving now" not in text


def test_python_gives_the_same(capsys, tmp_path):
    given = document([partition(0, [2, 1], leader=None, isr=[2])])
    path = write_document(given, tmp_path / "s.json")

    found = planner.cluster_status(planner.read_snapshot(path))

    assert not found.ok
    assert found.verdict == "wrong"
    printed = run(capsys, "status", path, "--format", "json").document
    ours = json.loads(json.dumps(found.document))
    assert ours["leaderless"] == printed["leaderless"]
    assert "1 partition without a leader: t-0" in repr(found)
