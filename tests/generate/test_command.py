"""`generate` as a shell sees it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from planner.plan.documents.check_records import GenerateRecord
from planner.plan.documents.plan_records import ErrorRecord
from support.commands import run
from support.plans import write_document

TOPIC = {"topic": "big", "partition": 0}


@pytest.fixture
def snap(tmp_path):
    dirs = [{"path": "/data/d1"}, {"path": "/data/d2"}]
    partition = {"partition": 0, "replicas": [1, 2], "log_dirs": ["/data/d1", None]}
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [
            {"id": n, "rack": f"r{n % 2}", "log_dirs": dirs} for n in (1, 2, 3)
        ],
        "topics": [
            {"name": "big", "partitions": [partition | {"size_bytes": 2_000_000}]},
            {
                "name": "small",
                "partitions": [{"partition": n, "replicas": [1]} for n in (0, 1)],
            },
        ],
    }
    return write_document(document, tmp_path / "s.json")


@pytest.fixture
def topics(tmp_path):
    file = tmp_path / "topics.json"
    file.write_text('{"topics":[{"topic":"big"},{"topic":"small"}],"version":1}')
    return file


def generate(capsys, topics, snap, broker_list, *options):
    where = ("--topics-to-move-json-file", topics, "--broker-list", broker_list)
    return run(capsys, "generate", *where, "--snapshot", snap, *options)


def test_text_is_that_of_kafkas_tool(capsys, topics, snap):
    outcome = generate(capsys, topics, snap, "1,2,3,9")

    lines = outcome.out.split("\n")
    assert outcome.code == 0
    assert lines[0] == "Current partition replica assignment"
    assert lines[1] == (
        '{"version":1,"partitions":['
        '{"topic":"big","partition":0,"replicas":[1,2],"log_dirs":["/data/d1","any"]},'
        '{"topic":"small","partition":0,"replicas":[1],"log_dirs":["any"]},'
        '{"topic":"small","partition":1,"replicas":[1],"log_dirs":["any"]}]}'
    )
    assert lines[2] == ""
    assert lines[3] == "Proposed partition reassignment configuration"
    proposed = json.loads(lines[4])["partitions"]
    assert [tuple(one) for one in proposed] == [
        ("topic", "partition", "replicas", "log_dirs")
    ] * 3
    assert lines[5:] == [""]
    assert outcome.err.splitlines() == [
        "note: broker 9 is not in the cluster: left out",
        "1 replica copied, the fewest for counts this even; 2 of 3 lists change, and 2",
        "preferred leaders",
    ]


def test_quietly_there_are_no_words(capsys, topics, snap):
    assert generate(capsys, topics, snap, "1-3,9", "--quiet").err == ""


def test_json_is_one_document(capsys, topics, snap):
    outcome = generate(capsys, topics, snap, "1,3,9", "--format", "json")

    assert (outcome.code, outcome.err) == (0, "")
    GenerateRecord.model_validate(outcome.document)
    document = outcome.document
    assert document["moves"]["replicas"] == 2
    assert document["moves"]["bytes"] == 2_000_000
    assert document["is_least"] is True
    assert document["ignored_brokers"] == [9]
    assert document["findings"] == []


def test_from_scratch_is_kafkas_own(capsys, topics, snap):
    one, same, other = (
        generate(capsys, topics, snap, "1-3", "--from-scratch", *seed)
        for seed in ((), ("--seed", 1), ("--seed", 5))
    )

    assert one.out == same.out != other.out
    assert "the fewest" not in one.err


def test_findings_are_said_and_are_the_exit_code(capsys, topics, snap, tmp_path):
    document = json.loads(snap.read_text())
    for broker in document["brokers"]:
        broker |= {"disk_bytes": 1_000_000, "log_dirs": []}
    small = write_document(document, tmp_path / "small.json")

    outcome = generate(capsys, topics, small, "2,3")

    assert outcome.code == 3
    assert "finding: capacity: broker 3" in outcome.err


def test_a_finding_names_its_partition_once(capsys, topics, snap, tmp_path):
    document = json.loads(snap.read_text())
    document["topics"][1]["partitions"][0] |= {"isr": [], "leader": None}
    broken = write_document(document, tmp_path / "broken.json")

    outcome = generate(capsys, topics, broken, "2,3")

    assert outcome.code == 3
    assert "finding: no-source: small-0: no live replica" in outcome.err


@pytest.mark.parametrize(
    ("content", "broker_list", "rules"),
    [
        pytest.param(
            '{"topics":[{"topic":"nosuch"}]}',
            "1,1",
            [
                "Broker list contains duplicate entries: [1]",
                "Topic nosuch not found.",
            ],
            id="kafkas-words",
        ),
        pytest.param(
            '{"version":2,"topics":[7,{"topic":null},{"topic":"big"}]}',
            "1,x",
            [
                "Not supported version field value 2",
                "must be an object with the name of a topic",
                "must be an object with the name of a topic",
                "must be broker ids",
            ],
            id="file-and-list",
        ),
        pytest.param("[]", "1", ["must be an object"], id="no-object"),
        pytest.param("{}", "1", ["must list the topics to move"], id="no-topics"),
        pytest.param(
            '{"topics":[]}', "1", ["must list the topics to move"], id="empty"
        ),
        pytest.param(
            '{"topics":', "1", ["must be JSON: Expecting value"], id="cut-off"
        ),
    ],
)
def test_bad_input_is_refused_with_every_problem(
    content, broker_list, rules, capsys, topics, snap
):
    topics.write_text(content)

    outcome = generate(capsys, topics, snap, broker_list, "--format", "json")

    assert outcome.code == 2
    ErrorRecord.model_validate(outcome.document)
    assert [one["rule"] for one in outcome.document["problems"]] == rules


def test_the_source_must_be_given(capsys, topics):
    where = ("--topics-to-move-json-file", topics, "--broker-list", "1")

    outcome = run(capsys, "generate", *where)

    assert outcome.code == 2
    assert "--snapshot, --bootstrap-server" in outcome.err


@pytest.mark.parametrize(
    ("brokers", "copies", "leaders"),
    [("1032,1062,1127", 5, 2), ("1032,1062,1127,1119", 8, 4)],
)
def test_followers_move_rather_than_leaders(capsys, tmp_path, brokers, copies, leaders):
    case = Path(__file__).parents[1] / "data" / "cases" / "c28"
    snap = tmp_path / "s.json"
    given = ("--topics", case / "topics.txt", "--brokers", case / "brokers.csv")
    assert run(capsys, "snapshot", "import", *given, "-o", snap).code == 0

    made = run(
        capsys, "generate", "--topics-to-move-json-file", case / "t.json",
        "--broker-list", brokers, "--snapshot", snap,
    )  # fmt: skip

    rows = [json.loads(line) for line in made.out.splitlines() if line[:1] == "{"]
    was, now = (
        {p["partition"]: p["replicas"] for p in one["partitions"]} for one in rows
    )
    assert sum(len(set(now[p]) - set(was[p])) for p in now) == copies
    assert sum(now[p][0] != was[p][0] for p in now) == leaders
    held = Counter(b for row in {**was, **now}.values() for b in row)
    led = Counter(row[0] for row in {**was, **now}.values())
    for counts in (held, led):
        assert max(counts.values()) - min(counts.values()) <= 1
