"""`plan new-topic` and `plan add-partitions` as a shell sees them."""

import json

import pytest

import planner
import planner.errors
from planner.plan.documents.check_records import CheckRecord
from planner.plan.documents.plan_records import ErrorRecord, PlanRecord
from planner.snapshot import Snapshot
from support.commands import run
from support.plans import contents, lists_in, skewed_document, write_document


@pytest.fixture
def snap(tmp_path):
    return write_document(skewed_document(), tmp_path / "s.json")


NEW = ("new-topic", "--topic", "new", "--partitions", 6, "--replication-factor", 3)
MORE = ("add-partitions", "--topic", "a", "--partitions", 20)


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        pytest.param(NEW, range(6), id="new-topic"),
        pytest.param((*NEW, "--in-bytes-per-s", "1kB/s"), range(6), id="with-a-rate"),
        pytest.param(MORE, range(15, 20), id="add-partitions"),
    ],
)
def test_the_folder_and_its_check(words, numbers, snap, tmp_path, capsys):
    plan = tmp_path / "p"

    made = run(
        capsys, "plan", words[0], snap, *words[1:], "-o", plan, "--format", "json"
    )
    checked = run(capsys, "check", plan, "--snapshot", snap, "--format", "json")

    document = PlanRecord.model_validate(made.document)
    assert made.code == 0
    assert document.goal == words[0]
    lists = lists_in(plan / "reassignment.json")
    topic = words[2]
    assert sorted(lists) == [(topic, number) for number in numbers]
    assert document.new_partitions.replicas == sum(map(len, lists.values()))
    assert document.moves.replicas == document.moves.partitions == 0
    assert (checked.code, CheckRecord.model_validate(checked.document).ok) == (0, True)
    assert json.loads((plan / "rollback.json").read_text())["partitions"] == []
    text = (plan / "replica-assignment.txt").read_text().strip().split(",")
    tail = [[int(b) for b in row.split(":")] for row in text[-len(lists) :]]
    assert tail == [lists[topic, number] for number in numbers]
    assert len(text) == numbers.stop


@pytest.mark.parametrize("words", [NEW, MORE])
def test_why_there_is_no_place_is_said(words, snap, tmp_path, capsys):
    brokers = [broker["id"] for broker in skewed_document()["brokers"]]
    options = ("--destination-broker-list", brokers[0], "-o", tmp_path / "p")

    made = run(capsys, "plan", words[0], snap, *words[1:], *options)
    checked = run(capsys, "check", tmp_path / "p", "--snapshot", snap)

    text = " ".join(made.out.split())
    assert (made.code, checked.code) == (4, 3)
    assert f"cannot be kept: replicas for broker {brokers[0]} only" in text
    assert "Leave out --destination-broker-list" in text
    document = json.loads((tmp_path / "p/plan.json").read_text())
    PlanRecord.model_validate(document)
    assert document["reason"]["is_proven"]


@pytest.mark.not_quick
def test_the_same_plan_again(snap, tmp_path, capsys):
    for name in ("p", "q"):
        run(capsys, "plan", NEW[0], snap, *NEW[1:], "-o", tmp_path / name)

    assert contents(tmp_path / "p") == contents(tmp_path / "q")


def test_a_topic_that_has_come_makes_the_plan_stale(snap, tmp_path, capsys):
    plan, document = tmp_path / "p", skewed_document()
    run(capsys, "plan", NEW[0], snap, *NEW[1:], "-o", plan)
    document["topics"].append(
        {"name": "new", "partitions": [{"partition": 0, "replicas": [1]}]}
    )
    now = write_document(document, tmp_path / "now.json")

    checked = run(capsys, "check", plan, "--snapshot", now, "--format", "json")

    assert checked.code == 3
    assert {one["rule"] for one in checked.document["findings"]} == {"stale"}


def test_by_hand(snap, tmp_path, capsys):
    words = ("--topic", "new", "--replica-assignment", "1:2:3,2:3:1")

    made = run(capsys, "plan", "new-topic", snap, *words, "-o", tmp_path / "p")

    assert made.code == 0, made.err
    assert "2 partitions from 0" in made.out
    assert all(len(line) <= 80 for line in made.out.splitlines() if "/" not in line)
    assert lists_in(tmp_path / "p" / "reassignment.json") == {
        ("new", 0): [1, 2, 3],
        ("new", 1): [2, 3, 1],
    }


def test_by_hand_against_the_rack_rule_is_a_finding(snap, capsys):
    # Brokers 1 and 4 are on one rack.
    words = ("--topic", "new", "--replica-assignment", "1:4,2:3")

    made = run(capsys, "plan", "new-topic", snap, *words, "--quiet")

    assert made.code in {3, 4}
    assert "rack" in made.out


@pytest.mark.parametrize(
    ("words", "problems"),
    [
        pytest.param(
            ["new-topic", "--topic", "a", "--partitions", "0"],
            [
                ("--topic", "Topic 'a' already exists."),
                ("--partitions", "Number of partitions must be larger than 0."),
                ("--replication-factor", "the replication factor must be given"),
            ],
            id="new-topic-all-wrong",
        ),
        pytest.param(
            ["new-topic", "--topic", "x y", "--partitions", "1"],
            [
                (
                    "--topic",
                    "Topic name is invalid: 'x y' contains one or more characters "
                    "other than ASCII alphanumerics, '.', '_' and '-'",
                ),
                ("--replication-factor", "the replication factor must be given"),
            ],
            id="bad-name",
        ),
        pytest.param(
            ["add-partitions", "--topic", "a", "--partitions", "15"],
            [("--partitions", "Topic already has 15 partition(s).")],
            id="no-growth",
        ),
        pytest.param(
            ["add-partitions", "--topic", "a", "--partitions", "3"],
            [
                (
                    "--partitions",
                    "The topic a currently has 15 partition(s); 3 would not be an "
                    "increase.",
                )
            ],
            id="shrinking",
        ),
        pytest.param(
            ["add-partitions", "--topic", "z", "--partitions", "3"],
            [("--topic", "Topic 'z' does not exist as expected")],
            id="no-such-topic",
        ),
        pytest.param(
            ["new-topic", "--topic", "n", "--replica-assignment", "1:9,1:1,x"],
            [
                (
                    "--replica-assignment",
                    "Partition replica lists may not contain duplicate entries: 1",
                ),
                ("--replica-assignment", 'For input string: "x"'),
                (
                    "--replica-assignment",
                    "The manual partition assignment includes broker 9, but no such "
                    "broker is registered.",
                ),
            ],
            id="by-hand-all-wrong",
        ),
        pytest.param(
            ["new-topic", "--apply", "--validate-only", "--topic", "n"],
            [
                ("--apply", "contradicts --validate-only"),
                ("--bootstrap-server", "must name a broker"),
                ("--bootstrap-server", "must name a broker"),
                ("--partitions", "the number of partitions must be given"),
                ("--replication-factor", "the replication factor must be given"),
            ],
            id="live-options",
        ),
        pytest.param(
            ["new-topic", "--partitions", "1", "--replication-factor", "1"],
            [("--topic", "one topic must be named")],
            id="no-topic",
        ),
    ],
)
def test_what_is_refused_is_said_all_at_once(words, problems, snap, capsys):
    refused = run(capsys, "plan", words[0], snap, *words[1:], "--format", "json")

    record = ErrorRecord.model_validate(refused.document)
    assert refused.code == 2
    assert [(one.place, one.rule) for one in record.problems] == problems


@pytest.mark.parametrize(
    "topic",
    [
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
        "__remote_log_metadata",
    ],
)
def test_topics_of_kafka_itself_never_get_more(topic, tmp_path, capsys):
    document = skewed_document()
    document["topics"][0]["name"] = topic
    snap = write_document(document, tmp_path / "s.json")
    words = ("--topic", topic, "--partitions", 20, "-o", tmp_path / "p")

    done = run(capsys, "plan", "add-partitions", snap, *words, "--format", "json")

    assert done.code == 2
    (problem,) = ErrorRecord.model_validate(done.document).problems
    assert (problem.place, problem.value) == ("--topic", topic)
    assert problem.rule.startswith("a topic of Kafka itself keeps its partitions")
    assert problem.remedy == "leave it as it is"
    assert not (tmp_path / "p").exists()
    with pytest.raises(planner.errors.BadInputError, match="topic: a topic of Kafka"):
        planner.add_partitions(planner.read_snapshot(snap), topic, 20)


@pytest.mark.slow
def test_python_does_the_same(snap, tmp_path, capsys):
    run(capsys, "plan", NEW[0], snap, *NEW[1:], "-o", tmp_path / "c")
    run(capsys, "plan", MORE[0], snap, *MORE[1:], "-o", tmp_path / "d")
    snapshot = planner.read_snapshot(snap)

    new = planner.new_topic(snapshot, "new", 6, 3)
    more = planner.add_partitions(snapshot, "a", 20)
    new.write(tmp_path / "p")
    more.write(tmp_path / "q")

    assert contents(tmp_path / "p") == contents(tmp_path / "c")
    assert contents(tmp_path / "q") == contents(tmp_path / "d")
    assert new.is_ok
    assert new.lists == {
        number: tuple(row)
        for (_, number), row in lists_in(tmp_path / "p" / "reassignment.json").items()
    }
    by_hand = planner.new_topic(snapshot, "h", replica_assignment=[[1, 2], [2, 3]])
    assert by_hand.replica_assignment == "1:2,2:3"
    assert planner.check_plan(tmp_path / "q", snapshot).ok


@pytest.mark.parametrize("operation", ["new-topic", "add-partitions"])
def test_a_result_is_checked_and_verified_as_its_folder_is(operation, tmp_path):
    snapshot = Snapshot.from_document(skewed_document())
    made = (
        planner.new_topic(snapshot, "new", 2, 3)
        if operation == "new-topic"
        else planner.add_partitions(snapshot, "a", 17)
    )
    made.write(tmp_path / "p")

    after = Snapshot.from_state(made.planned.plan.placed.reassignment.after())

    assert made.goal == operation
    assert json.loads(made.reassignment)["partitions"] == [
        {
            "topic": topic,
            "partition": n,
            "replicas": row,
            "log_dirs": ["any"] * len(row),
        }
        for (topic, n), row in lists_in(tmp_path / "p/reassignment.json").items()
    ]
    assert planner.check_plan(made, snapshot).ok
    assert not planner.check_plan(made, after).ok
    for now in (snapshot, after):
        found, read = (planner.verify_plan(one, now) for one in (made, tmp_path / "p"))
        assert found.statuses == read.statuses
    assert found.is_done


def test_topic_configs_are_in_the_plan_and_in_the_command(snap, tmp_path, capsys):
    plan = tmp_path / "p"
    configs = ("min.insync.replicas=2", "cleanup.policy=compact,delete")
    given = [word for one in configs for word in ("--topic-config", one)]

    shown = run(capsys, "plan", *_words(NEW, snap), *given, "-o", plan)
    checked = run(capsys, "check", plan, "--snapshot", snap, "--format", "json")

    settings = json.loads((plan / "plan.json").read_text())["settings"]
    assert settings["topic_config"] == {
        "min.insync.replicas": "2",
        "cleanup.policy": "compact,delete",
    }
    assert settings["min_insync_replicas"] == 2
    text = " ".join(shown.out.split())
    assert all(f"--config {one}" in text for one in configs)
    assert checked.code == 0


def _words(words, snap):
    return (words[0], snap, *words[1:])


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        pytest.param(["retention.ms"], "must be KEY=VALUE", id="no-value"),
        pytest.param(["=5"], "must be KEY=VALUE", id="no-key"),
        pytest.param(["a b=5"], "must be KEY=VALUE", id="no-such-key"),
        pytest.param(["a=1", "a=2"], "must give each topic config once", id="twice"),
        pytest.param(
            ["min.insync.replicas=0"], "must be a whole number of at least 1", id="isr"
        ),
        pytest.param(
            ["min.insync.replicas=4"],
            "replication factor 3 is below min.insync.replicas 4 of --topic-config",
            id="more-than-the-factor",
        ),
    ],
)
def test_topic_configs_that_cannot_be_are_refused(given, rule, snap, capsys):
    options = [word for one in given for word in ("--topic-config", one)]

    refused = run(capsys, "plan", *_words(NEW, snap), *options, "--format", "json")

    assert refused.code == 2
    (problem,) = refused.document["problems"]
    assert problem["rule"] == rule


def test_the_least_in_sync_of_the_cluster_holds_for_a_new_topic(tmp_path, capsys):
    document = skewed_document() | {"configs": {"min.insync.replicas": "2"}}
    snap = write_document(document, tmp_path / "s.json")
    one = ("new-topic", snap, "--topic", "new", "--partitions", 2)
    one = (*one, "--replication-factor", 1)

    refused = run(capsys, "plan", *one, "--format", "json")
    own = ("--topic-config", "min.insync.replicas=1", "--format", "json")
    mended = run(capsys, "plan", *one, *own)

    assert refused.code == 2
    (problem,) = refused.document["problems"]
    assert problem["rule"].endswith("below min.insync.replicas 2 of the cluster")
    assert "--topic-config min.insync.replicas=1" in problem["remedy"]
    assert mended.code == 0


def test_the_check_of_the_folder_knows_the_least_in_sync(snap, tmp_path, capsys):
    plan = tmp_path / "p"
    given = ("--topic-config", "min.insync.replicas=3", "-o", plan)
    assert run(capsys, "plan", *_words(NEW, snap), *given).code == 0
    path = plan / "plan.json"
    document = json.loads(path.read_text())
    document["settings"]["min_insync_replicas"] = 4
    path.write_text(json.dumps(document))

    checked = run(capsys, "check", plan, "--snapshot", snap, "--format", "json")

    assert checked.code == 3
    assert {one["rule"] for one in checked.document["findings"]} == {"min-isr"}


@pytest.mark.not_quick
def test_topic_configs_come_from_the_file_and_from_python(snap, tmp_path, capsys):
    config = tmp_path / "planner.toml"
    config.write_text(
        '[operation.new-topic]\ntopic-config = ["min.insync.replicas=2"]\n'
    )

    made = run(
        capsys, "plan", *_words(NEW, snap), "--config", config, "--format", "json"
    )
    result = planner.new_topic(
        planner.read_snapshot(snap), "new", 6, 3, topic_config={"retention.ms": "1"}
    )

    wanted = {"min.insync.replicas": "2"}
    assert made.document["settings"]["topic_config"] == wanted
    assert result.document["settings"]["topic_config"] == {"retention.ms": "1"}
