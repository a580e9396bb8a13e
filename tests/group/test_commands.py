"""`group assign`, `group show` and `group import`, as the shell sees them."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from assignment.check import check_named
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.group.assignor_registry import find_assignor
from planner.group.group_answers import GroupAssignmentRecord
from planner.schema import json_schema
from support.commands import run
from support.groups import group_of
from support.samples import SAMPLES

KAFKAS = [
    "range",
    "roundrobin",
    "sticky",
    "cooperative-sticky",
    "server-range",
    "server-uniform",
    "hash",
    "random",
]
OWNED = {"c0": {"t0": [0, 1, 2]}, "c1": {"t0": [3], "t1": [0]}}


def group_file(tmp_path, topics=None, members=None, **more):
    document = {
        "format": "kafka-planner/group",
        "version": 1,
        "group_id": "g",
        "topics": topics
        or [{"name": "t0", "partitions": 4}, {"name": "t1", "partitions": 2}],
        "members": members
        or [
            {"member_id": name, "topics": ["t0", "t1"], "owned": OWNED.get(name, {})}
            for name in ("c0", "c1", "c2")
        ],
        **more,
    }
    path = tmp_path / "g.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("assignor", [*KAFKAS, "balanced"])
def test_every_assignor_answers_by_its_name(tmp_path, capsys, assignor):
    path = group_file(tmp_path)

    done = run(
        capsys, "group", "assign", path, "--assignor", assignor, "--format", "json"
    )

    assert done.code == 0, done.err
    TypeAdapter(GroupAssignmentRecord).validate_json(done.out)
    document = done.document
    assert document["assignor"] == assignor
    group = group_of(
        {"t0": 4, "t1": 2}, dict.fromkeys(["c0", "c1", "c2"], "t0 t1"), OWNED
    )
    _, findings = check_named(group, document["assignment"])
    left = sum(map(len, document["unassigned"].values()))
    assert len(findings) == left
    assert left == 0 or assignor == "cooperative-sticky"
    assert (document["certificate"]["moved"] is None) == (assignor != "balanced")


def test_balanced_is_the_default_and_proven(tmp_path, capsys):
    document = run(
        capsys, "group", "assign", group_file(tmp_path), "--format", "json"
    ).document

    assert document["assignor"] == "balanced"
    assert document["moved"] == 1
    assert document["revoked"] == {"c0": {"t0": [2]}}
    assert document["load"] == {"c0": 2.0, "c1": 2.0, "c2": 2.0}
    assert document["idle_members"] == []
    assert {k: v["gap"] for k, v in document["certificate"].items()} == {
        "busiest": 0,
        "moved": 0,
    }


def test_java_order_changes_who_gets_the_extra(tmp_path, capsys):
    members = [{"member_id": name, "topics": ["t0"]} for name in ("c1", "c0", "b7")]
    owned = [{"t0": [0, 1]}, {"t0": [2, 3]}, {}]
    members = [{**m, "owned": o} for m, o in zip(members, owned, strict=True)]
    path = group_file(tmp_path, [{"name": "t0", "partitions": 4}], members)

    plain, java = (
        run(
            capsys,
            "group",
            "assign",
            path,
            "--assignor",
            "sticky",
            *more,
            "--format",
            "json",
        ).document["assignment"]
        for more in ((), ("--java-order",))
    )

    assert plain == {"c1": {"t0": [0, 1]}, "c0": {"t0": [2]}, "b7": {"t0": [3]}}
    assert java == {"b7": {"t0": [1]}, "c0": {"t0": [2, 3]}, "c1": {"t0": [0]}}


def test_the_screen_says_what_counts(tmp_path, capsys):
    done = run(capsys, "group", "assign", group_file(tmp_path))

    assert done.code == 0
    assert "Moved        1; proven: nothing less is possible" in done.out
    assert "c2" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_too_many_members_is_said(tmp_path, capsys):
    path = group_file(tmp_path, [{"name": "t0", "partitions": 1}])

    done = run(capsys, "group", "assign", path)

    assert "Idle         2: " in done.out
    assert "3 members for 1 partition: at least 2 have nothing to read" in (
        " ".join(done.out.split())
    )


def test_what_kafka_does_wrong_is_a_finding(tmp_path, capsys):
    members = [
        {
            "member_id": "c0",
            "topics": ["t1"],
            "owned": {"t1": [0, 1, 2]},
            "generation": 4,
        },
        {"member_id": "c1", "topics": ["t0", "t1"], "generation": 4},
        {"member_id": "c2", "topics": ["t0"], "owned": {"t1": [0]}, "generation": 3},
    ]
    topics = [{"name": "t0", "partitions": 1}, {"name": "t1", "partitions": 3}]
    path = group_file(tmp_path, topics, members)

    done = run(capsys, "group", "assign", path, "--assignor", "sticky")

    assert done.code == 3
    assert "not-subscribed: c2 is given t1-0, but does not read t1" in done.out


USER = '''
class Own:
    """Everything to the first member, whatever it weighs."""

    def assign(self, group):
        topics = {}
        for row in range(group.num_partitions):
            topic, _, number = group.name_of(row).rpartition("-")
            topics.setdefault(topic, []).append(int(number))
        return {group.members.ids[0]: topics}

class Fails:
    def assign(self, group):
        raise KeyError("host")

class Twice:
    def assign(self, group):
        both = {"t0": [0, 1, 2, 3], "t1": [0, 1]}
        return {"c0": both, "c1": {"t0": [0]}, "c9": {}}

class Nonsense:
    def assign(self, group):
        return [1, 2]

class Cannot:
    def __init__(self):
        raise RuntimeError("no key")

class Empty:
    pass
'''


@pytest.fixture
def own(tmp_path, monkeypatch):
    Path(tmp_path / "own_assignors.py").write_text(USER)
    monkeypatch.chdir(tmp_path)
    return "own_assignors"


def test_a_users_own_assignor(tmp_path, capsys, own):
    path = group_file(tmp_path)

    done = run(
        capsys, "group", "assign", path, "--assignor", f"{own}:Own", "--format", "json"
    )

    assert done.code == 0, done.err
    assert done.document["load"] == {"c0": 6.0, "c1": 0.0, "c2": 0.0}
    assert done.document["idle_members"] == ["c1", "c2"]
    assert done.document["certificate"]["busiest"]["lower_bound"] == 2.0


def test_what_a_users_assignor_returns_is_checked(tmp_path, capsys, own):
    path = group_file(tmp_path)

    done = run(
        capsys,
        "group",
        "assign",
        path,
        "--assignor",
        f"{own}:Twice",
        "--format",
        "json",
    )

    assert done.code == 3
    rules = [finding["rule"] for finding in done.document["findings"]]
    assert rules == ["unknown-member", "assigned-twice"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        pytest.param("Fails", "Fails raised KeyError: 'host'", id="raises"),
        pytest.param("Nonsense", "Nonsense returned list", id="returns-nonsense"),
        pytest.param("Cannot", "RuntimeError: no key", id="cannot-be-made"),
        pytest.param("Empty", "must have a method assign", id="no-method"),
        pytest.param("Missing", "the class cannot be found", id="no-class"),
    ],
)
def test_errors_of_a_users_assignor_are_its_own(tmp_path, capsys, own, name, rule):
    path = group_file(tmp_path)

    done = run(
        capsys,
        "group",
        "assign",
        path,
        "--assignor",
        f"{own}:{name}",
        "--format",
        "json",
    )

    assert done.code == 2
    assert rule in done.document["problems"][0]["rule"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        pytest.param("best", "must be one of range", id="unknown"),
        pytest.param("no_such_module:X", "module cannot be found", id="no-module"),
    ],
)
def test_unknown_assignors_are_refused(tmp_path, capsys, name, rule):
    done = run(capsys, "group", "assign", group_file(tmp_path), "--assignor", name)

    assert done.code == 2
    assert rule in done.err


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        pytest.param({"type": "share"}, "a share group cannot be assigned", id="share"),
        pytest.param({"type": "streams"}, "a streams group cannot", id="streams"),
        pytest.param(
            {"state": "PreparingRebalance", "members": [{"member_id": "c0"}]},
            "the group is PreparingRebalance",
            id="rebalancing",
        ),
    ],
)
def test_groups_of_other_kinds_are_refused(tmp_path, capsys, change, rule):
    done = run(capsys, "group", "assign", group_file(tmp_path, **change))

    assert done.code == 2
    assert rule in done.err


def test_a_group_without_members_is_refused(tmp_path, capsys):
    path = group_file(tmp_path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "members": []}))

    done = run(capsys, "group", "assign", path)

    assert done.code == 2
    assert "cannot be assigned" in done.err


@pytest.mark.parametrize("assignor", ["server-range", "server-uniform"])
def test_a_broker_assigns_without_the_topics_that_are_missing(
    tmp_path, capsys, assignor
):
    def assigned(*more):
        members = [
            {"member_id": f"c{at}", "topics": ["t0", *more], "owned": {"gone": [7]}}
            for at in range(2)
        ]
        path = group_file(tmp_path, members=members, type="consumer")
        shown = run(capsys, "group", "show", path)
        assert shown.code == 0
        done = run(
            capsys, "group", "assign", path, "--assignor", assignor, "--format", "json"
        )
        assert done.code == 0
        return done.document

    found = assigned("gone")

    assert found["assignment"] == assigned()["assignment"]
    assert "subscribed to, but not there: gone" in found["notes"]


def test_topics_without_readers_and_missing_topics_are_noted(tmp_path, capsys):
    members = [{"member_id": "c0", "topics": ["t0", "gone"]}]

    done = run(capsys, "group", "assign", group_file(tmp_path, members=members))

    assert done.code == 0
    assert "no member subscribes to t1" in done.out
    assert "subscribed to, but not there: gone" in done.out
    assert "2 partitions of t1" in done.out


def describe(name):
    return SAMPLES / f"consumer-groups-{name}.txt"


def test_show_says_the_same_of_text_and_file(tmp_path, capsys):
    path = tmp_path / "g.json"
    texts = [describe(name) for name in ("describe", "members-verbose", "state")]
    assert run(capsys, "group", "import", *texts, "-o", path).code == 0

    done = run(capsys, "group", "show", path, "--format", "json")

    document = done.document
    assert document["group_id"] == "app-classic"
    assert document["lag"] == 0
    assert document["num_partitions"] == 9
    assert sorted(m["partitions"] for m in document["members"]) == [1, 2, 6]
    shown = run(capsys, "group", "show", path).out
    assert "Coordinator  broker 5" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_import_says_what_it_assumed(tmp_path, capsys):
    path = tmp_path / "g.json"

    done = run(capsys, "group", "import", describe("describe"), "-o", path)

    assert "wrote" in done.err
    assert "every member is taken to read" in done.err
    listed = run(
        capsys, "group", "import", describe("describe"), "-o", path, "--format", "json"
    ).document
    assert listed["members"] == 3
    assert len(listed["notes"]) == 3


LAGGING = (
    "GROUP  TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST\n"
    "g      t      0          10              40              30   c-1          /h\n"
    "g      t      1          10              20              10   c-1          /h\n"
    "g      t      2          -               20              -    c-2          /h\n"
)


@pytest.mark.parametrize(
    ("table", "weights"),
    [
        pytest.param(None, [30.0, 10.0, 0.0], id="lag"),
        pytest.param(
            "topic,partition,weight\nt,0,2.5\nt,2,1\n", [2.5, 0, 1], id="table"
        ),
    ],
)
def test_weights_from_lag_or_a_table(tmp_path, capsys, table, weights):
    text, path = tmp_path / "lag.txt", tmp_path / "g.json"
    text.write_text(LAGGING)
    source = "lag"
    if table is not None:
        source = tmp_path / "w.csv"
        source.write_text(table)

    done = run(capsys, "group", "import", text, "--weights", source, "-o", path)

    assert done.code == 0, done.err
    (topic,) = json.loads(path.read_text())["topics"]
    assert topic["weights"] == weights


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        pytest.param("t,0", "three cells", id="cells"),
        pytest.param("x,0,1", "a topic of the group", id="topic"),
        pytest.param("t,9,1", "one of 3 partitions", id="partition"),
        pytest.param("t,0,1\nt,0,1", "a partition once", id="twice"),
        pytest.param("t,0,-1", "not negative", id="negative"),
        pytest.param("t,0,much", "not negative", id="no-number"),
        pytest.param("", "at least one line", id="empty"),
    ],
)
def test_bad_tables_of_weights_are_refused(tmp_path, capsys, line, rule):
    text, table = tmp_path / "lag.txt", tmp_path / "w.csv"
    text.write_text(LAGGING)
    table.write_text(f"# weights\n{line}\n")

    done = run(
        capsys, "group", "import", text, "--weights", table, "-o", tmp_path / "g.json"
    )

    assert done.code == 2
    assert rule in done.err
    assert not (tmp_path / "g.json").exists()


def test_a_snapshot_knows_partitions_racks_and_rates(tmp_path, capsys):
    bundled = json.loads(run_snapshot_topics(capsys))
    name = bundled["biggest_topics"][0]["topic"]
    text, path = tmp_path / "g.txt", tmp_path / "g.json"
    text.write_text(
        f"GROUP  TOPIC{' ' * len(name)} PARTITION  CONSUMER-ID\n"
        f"g      {name:<{len(name) + 5}} 0          c-1\n"
        f"g      {'elsewhere':<{len(name) + 5}} 0          c-1\n"
    )

    done = run(
        capsys,
        "group",
        "import",
        text,
        "--snapshot",
        SNAPSHOT_FILE,
        "--weights",
        "in",
        "-o",
        path,
    )

    assert done.code == 0, done.err
    topics = {t["name"]: t for t in json.loads(path.read_text())["topics"]}
    assert topics[name]["partitions"] == bundled["biggest_topics"][0]["partitions"]
    assert len(topics[name]["weights"]) == topics[name]["partitions"]
    assert min(topics[name]["weights"]) > 0
    assert all(len(set(racks)) == 3 for racks in topics[name]["racks"])
    assert "the snapshot has no topic elsewhere" in done.err
    assert topics["elsewhere"]["weights"] == [0.0]
    assert "elsewhere: its partitions weigh nothing" in done.err


def test_a_snapshot_that_is_older_than_the_group_is_refused(tmp_path, capsys):
    topic = json.loads(run_snapshot_topics(capsys))["biggest_topics"][0]
    name, there = topic["topic"], topic["partitions"]
    text, path = tmp_path / "g.txt", tmp_path / "g.json"
    text.write_text(
        f"GROUP  TOPIC{' ' * len(name)} PARTITION  CONSUMER-ID\n"
        f"g      {name:<{len(name) + 5}} {there:<10} c-1\n"
    )
    given = ("group", "import", text, "--snapshot", SNAPSHOT_FILE, "-o", path)

    done = run(capsys, *given)

    assert done.code == 2
    assert f"has {there} partitions of this topic (found {there + 1})" in done.err
    assert not path.exists()


def run_snapshot_topics(capsys):
    return run(capsys, "snapshot", "show", SNAPSHOT_FILE, "--format", "json").out


def test_rates_need_a_snapshot(tmp_path, capsys):
    done = run(
        capsys,
        "group",
        "import",
        describe("describe"),
        "--weights",
        "in",
        "-o",
        tmp_path / "g.json",
    )

    assert done.code == 2
    assert "--snapshot" in done.err


def test_unknown_lags_are_no_weights(tmp_path, capsys):
    done = run(
        capsys,
        "group",
        "import",
        describe("members-verbose"),
        "--weights",
        "lag",
        "-o",
        tmp_path / "g.json",
    )

    assert done.code == 2
    assert "lags must be known" in done.err


@pytest.mark.parametrize("name", ["group", "group-assignment", "group-show"])
def test_all_documents_have_a_schema(name):
    assert json_schema(name)["properties"]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        pytest.param(("show",), "none", id="show-of-nothing"),
        pytest.param(
            ("show", "a", "--group", "b", "--bootstrap-server", "h:1"),
            "a and b",
            id="two-groups",
        ),
        pytest.param(
            ("import", "-o", "g.json", "--bootstrap-server", "h:1"),
            "none",
            id="import-of-no-group",
        ),
    ],
)
def test_which_group_must_be_said_once(tmp_path, monkeypatch, capsys, words, value):
    monkeypatch.chdir(tmp_path)

    done = run(capsys, "group", *words, "--format", "json")

    assert done.code == 2
    (problem,) = done.document["problems"]
    assert (problem["place"], problem["value"]) == ("GROUP, --group", value)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        pytest.param((), "give texts to import", id="neither"),
        pytest.param(("t.txt", "--bootstrap-server", "h:1"), "not both", id="both"),
    ],
)
def test_import_takes_texts_or_a_cluster(tmp_path, capsys, words, rule):
    done = run(capsys, "group", "import", *words, "-o", tmp_path / "g.json")

    assert done.code == 2
    assert rule in " ".join(done.err.split())


def test_weights_are_added_where_a_group_is_assigned(tmp_path, capsys):
    table = tmp_path / "w.csv"
    table.write_text("t0,0,7\n")

    done = run(
        capsys,
        *("group", "assign", group_file(tmp_path), "--weights", table),
        *("--format", "json"),
    )

    assert max(done.document["load"].values()) == 7


def test_a_cluster_out_of_reach_is_said(capsys):
    where = ("--bootstrap-server", "127.0.0.1:1", "--timeout", "0.3")

    for words in (("show", "g"), ("assign", "g"), ("show",)):
        done = run(capsys, "group", *words, *where)

        assert done.code == 5
        assert "127.0.0.1:1" in done.err


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("rang", "range", id="a-slip"),
        pytest.param("uniform", "server-uniform", id="the-brokers-name"),
        pytest.param(
            "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
            "cooperative-sticky",
            id="a-clients-class",
        ),
        pytest.param(
            "org.apache.kafka.coordinator.group.assignor.RangeAssignor",
            "server-range",
            id="a-brokers-class",
        ),
    ],
)
def test_the_name_of_an_assignor_is_suggested(name, expected):
    with pytest.raises(BadInputError, match=f"did you mean {expected}[?]"):
        find_assignor(name, seed=0, tolerance=0.05)


def test_a_table_of_weights_may_have_spaces_and_notes_what_it_leaves_out(
    tmp_path, capsys
):
    table = tmp_path / "w.csv"
    table.write_text("t0 , 0 , 7\n")
    where = ("assign", group_file(tmp_path), "--weights", table, "--format", "json")

    found = run(capsys, "group", *where).document

    assert max(found["load"].values()) == 7
    assert f"5 partitions without a line in {table} weigh nothing" in found["notes"]


def test_topics_of_another_cluster_have_no_bytes_to_weigh_by(tmp_path, capsys):
    where = ("--weights", "in", "--snapshot", SNAPSHOT_FILE)

    done = run(capsys, "group", "assign", group_file(tmp_path), *where)

    assert done.code == 2
    assert "the snapshot has none of these topics" in done.err
