"""`group what-if`, as the shell sees it."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from planner.group.what_if.what_if_records import WhatIfRecord
from planner.schema import json_schema
from support.commands import run
from support.samples import SAMPLES

TOPICS = [{"name": "orders", "partitions": 6}]
MEMBERS = [{"member_id": f"c{n}", "topics": ["orders"]} for n in range(3)]
JOIN = '[[events]]\nat_s = 10\nevent = "join"\nmember = "c3"\n'
EAGER = '[[runs]]\nprotocol = "eager"\n'


def files(tmp_path, events, topics=None, members=None, **more):
    group = {
        "format": "kafka-planner/group",
        "version": 1,
        "group_id": "billing",
        "topics": TOPICS if topics is None else topics,
        "members": MEMBERS if members is None else members,
        **more,
    }
    (tmp_path / "g.json").write_text(json.dumps(group))
    (tmp_path / "e.toml").write_text(events)
    return tmp_path / "g.json", tmp_path / "e.toml"


def played(capsys, tmp_path, events, **group):
    paths = files(tmp_path, events, **group)

    done = run(capsys, "group", "what-if", *paths, "--format", "json")

    assert done.code == 0, done.out
    TypeAdapter(WhatIfRecord).validate_json(done.out)
    return done.document


def test_protocols_stand_side_by_side(tmp_path, capsys):
    document = played(capsys, tmp_path, "[rates]\norders = 10\n" + JOIN)

    ways = [(each["protocol"], each["assignor"]) for each in document["runs"]]
    assert ways == [
        ("eager", "range"),
        ("eager", "sticky"),
        ("cooperative", "cooperative-sticky"),
        ("consumer", "server-uniform"),
    ]
    assert [each["rebalances"] for each in document["runs"]] == [1, 1, 2, 1]
    assert [each["revoked"] for each in document["runs"]] == [6, 6, 1, 1]
    assert [each["moved"] for each in document["runs"]] == [1, 1, 1, 1]
    eager, _, cooperative, _ = document["runs"]
    assert eager["still"]["longest_s"] == 1.967
    assert eager["steps"][0]["revoked"]["c0"] == {"orders": [0, 1]}
    assert cooperative["still"]["partitions"] == 1
    assert eager["lag"]["peak"] == pytest.approx(10 * (2 * 1.967 + 2 * 1.033))


def test_the_screen_is_for_people(tmp_path, capsys):
    paths = files(tmp_path, "reads_per_s = 90\n[rates]\norders = 10\n" + JOIN)

    done = run(capsys, "group", "what-if", *paths)

    assert done.code == 0
    assert all(len(line) <= 80 for line in done.out.splitlines())
    assert "cooperative cooperative-sticky" in done.out
    told = " ".join(done.out.split())
    assert "10.0 s c3 joins" in told
    assert "6 revoked from c2, c0, c1, 5 given back; 1 moved" in told
    assert "60 messages at most; caught up at" in told


def test_idle_members_and_unread_topics_are_noted(tmp_path, capsys):
    leaves = "".join(
        f'[[events]]\nat_s = 20\nevent = "leave"\nmember = "c{n}"\n' for n in range(4)
    )
    topics = [{"name": "orders", "partitions": 3}]
    events = EAGER + "[rates]\norders = 1\n" + JOIN

    told = run(capsys, "group", "what-if", *files(tmp_path, events, topics=topics))
    gone = run(
        capsys, "group", "what-if", *files(tmp_path, events + leaves, topics=topics)
    )

    assert "1: c3" in told.out
    assert "4 members for 3 partitions: at least 1 have nothing to read" in told.out
    assert "3 partitions have no reader at the end" in gone.out
    assert "not caught up" in gone.out


def test_static_and_dynamic_side_by_side(tmp_path, capsys):
    runs = "".join(
        f'[[runs]]\nprotocol = "eager"\nstatic = {word}\n' for word in ("true", "false")
    )
    restart = '[[events]]\nat_s = 10\nevent = "rolling-restart"\ndown_s = 20\n'

    static, dynamic = played(capsys, tmp_path, runs + restart)["runs"]

    assert (static["rebalances"], dynamic["rebalances"]) == (0, 6)
    assert (static["static"], dynamic["static"]) == (True, False)
    assert static["still"]["partition_s"] == 6 * 20


def test_every_event_is_played(tmp_path, capsys):
    events = """
    until_s = 2000
    poll_ms = 500
    [settings]
    session.timeout.ms = 10000
    "heartbeat.interval.ms" = 1000
    [rates]
    orders = [1, 2, 3]
    clicks = 1.5
    [[runs]]
    protocol = "cooperative"
    assignor = "balanced"
    [[events]]
    at_s = 10
    event = "join"
    member = "c3"
    pattern = "cl.*"
    [[events]]
    at_s = 100
    event = "stop-heartbeating"
    member = "c0"
    for_s = 5
    [[events]]
    at_s = 200
    event = "stop-heartbeating"
    member = "c0"
    [[events]]
    at_s = 300
    event = "return"
    member = "c0"
    [[events]]
    at_s = 400
    event = "stop-polling"
    member = "c1"
    for_s = 20
    [[events]]
    at_s = 500
    event = "slow"
    member = "c2"
    reads_per_s = 1
    poll_ms = 700
    [[events]]
    at_s = 600
    event = "grow"
    topic = "orders"
    partitions = 8
    [[events]]
    at_s = 700
    event = "new-topic"
    topic = "clicks"
    partitions = 2
    [[events]]
    at_s = 1200
    event = "leave"
    member = "c2"
    """

    document = played(capsys, tmp_path, events)

    (only,) = document["runs"]
    assert document["settings"]["session.timeout.ms"] == 10000
    assert [said["text"] for said in only["story"]] == [
        "c3 joins",
        "c0 stops heart-beating",
        "c0 goes on",
        "c0 stops heart-beating",
        "c0 is put out: no heartbeat within session.timeout.ms",
        "c0#2 joins",
        "c1 stops polling",
        "c1 goes on",
        "c2 is slow from now on",
        "orders grows to 8 partitions",
        "clicks appears with 2 partitions",
        "c2 leaves",
    ]
    read = {name for topics in only["assignment"].values() for name in topics}
    assert read == {"orders", "clicks"}
    assert only["assignment"]["c3"]["clicks"] == [0, 1]
    assert only["num_partitions"] == 10


def test_what_starts_elsewhere_is_said(tmp_path, capsys):
    owned = {"c0": [5], "c1": [0, 1], "c2": [2, 3, 4]}
    members = [{**m, "owned": {"orders": owned[m["member_id"]]}} for m in MEMBERS]

    document = played(capsys, tmp_path, EAGER + JOIN, members=members)

    assert document["runs"][0]["starts_differently"] == 5
    assert any("5 partitions elsewhere than now" in n for n in document["notes"])


def test_java_order_is_taken(tmp_path, capsys):
    paths = files(
        tmp_path, '[[runs]]\nprotocol = "eager"\nassignor = "sticky"\n' + JOIN
    )

    done = run(capsys, "group", "what-if", *paths, "--java-order", "--format", "json")

    assert done.code == 0
    assert sorted(done.document["runs"][0]["assignment"]) == ["c0", "c1", "c2", "c3"]


PAGE = Path(__file__).parents[2] / "docs" / "rebalances.md"


def test_the_pages_own_example_can_be_played(tmp_path, capsys):
    example = PAGE.read_text().partition("```toml\n")[2].partition("```")[0]

    (only,) = played(capsys, tmp_path, example)["runs"]

    assert (only["static"], only["rebalances"], only["still"]["longest_s"]) == (
        True,
        0,
        20,
    )


def test_the_pages_own_screen_is_what_is_shown(tmp_path, capsys):
    shown = PAGE.read_text().partition("```\nGroup")[2].partition("```")[0]
    rates = "reads_per_s = 90\n[rates]\norders = 10\n"

    done = run(capsys, "group", "what-if", *files(tmp_path, rates + JOIN))

    assert done.out.startswith("Group" + shown)


def event(text):
    return f"[[events]]\nat_s = 1\n{text}\n"


@pytest.mark.parametrize(
    ("events", "told"),
    [
        pytest.param("x = = 1", ["must be TOML"], id="no TOML"),
        pytest.param("", ["events: the key is required"], id="no events"),
        pytest.param(
            event('event = "jion"\nmember = "c3"'),
            ["events[0].event: must be one of join", "did you mean join?"],
            id="event misspelt",
        ),
        pytest.param(
            event('event = "leave"\nmembre = "c1"'),
            [
                "events[0].member: the key is required",
                "events[0].membre: unknown key",
                "did you mean member?",
            ],
            id="key misspelt",
        ),
        pytest.param(
            JOIN + "[seting]\nx = 1",
            ["unknown key", "did you mean settings?"],
            id="table misspelt",
        ),
        pytest.param(
            JOIN + '[[runs]]\nprotocl = "eager"',
            ["runs[0].protocol: the key", "did you mean protocol?"],
            id="run misspelt",
        ),
        pytest.param(
            JOIN + "[settings]\nsession.timeout = 3",
            ["settings.session.timeout: must be one of", "session.timeout.ms?"],
            id="setting misspelt",
        ),
        pytest.param(
            JOIN + "[settings]\nmax.poll.interval.ms = 0",
            ["settings.max.poll.interval.ms: must be a number of milliseconds"],
            id="setting out of range",
        ),
        pytest.param(
            JOIN + "[settings]\nheartbeat.interval.ms = 45000",
            ["must be less than session.timeout.ms, which is 45000"],
            id="heartbeats too rare",
        ),
        pytest.param(
            JOIN + "[rates]\nordres = 1\norders = [1, 2, 3, 4, 5, 6, 7]",
            ["rates.ordres", "did you mean orders?", "rates.orders: must have no more"],
            id="rates",
        ),
        pytest.param(
            JOIN + '[[runs]]\nprotocol = "eager"\nassignor = "stiky"',
            ["with protocol eager must be one of", "did you mean sticky?"],
            id="assignor misspelt",
        ),
        pytest.param(
            JOIN + '[[runs]]\nprotocol = "consumer"\nassignor = "balanced"',
            ["with protocol consumer must be one of server-uniform, server-range ("],
            id="a broker takes no assignor of ours",
        ),
        pytest.param(
            event('event = "join"\nmember = "c1"'),
            ["must be a name that no member has", "'return' starts a member again"],
            id="joins twice",
        ),
        pytest.param(
            event('event = "join"\nmember = "c9"\nlike = "c7"\npattern = "("'),
            ["events[0].like: must be a member", "must be a regular expression"],
            id="like nobody",
        ),
        pytest.param(
            event('event = "leave"\nmember = "c11"'),
            ["must be a member of the group by then", "did you mean c1?"],
            id="nobody leaves",
        ),
        pytest.param(
            event('event = "leave"\nmember = "c1"')
            + event('event = "slow"\nmember = "c1"\npoll_ms = 5')
            + event('event = "slow"\nmember = "c2"'),
            [
                "events[1].member: must be in the group; it has left",
                "events[2].poll_ms: poll_ms or reads_per_s must be given",
            ],
            id="has left",
        ),
        pytest.param(
            event('event = "stop-polling"\nmember = "c1"\nfor_s = 9')
            + event('event = "leave"\nmember = "c1"'),
            ["events[1].member: must respond at this time; it hangs until 10 s"],
            id="hangs",
        ),
        pytest.param(
            event('event = "return"\nmember = "c1"')
            + event('event = "return"\nmember = "c8"'),
            ["must have left", "events[1].member: must be a member of the group"],
            id="returns from nowhere",
        ),
        pytest.param(
            event('event = "grow"\ntopic = "orders"\npartitions = 6')
            + event('event = "grow"\ntopic = "order"\npartitions = 6')
            + event('event = "new-topic"\ntopic = "orders"\npartitions = 1'),
            [
                "must be more than it has, that is 6",
                "must exist by then",
                "did you mean orders?",
                "must not exist; it has 6 partitions",
            ],
            id="topics",
        ),
        pytest.param(
            event('event = "rolling-restart"\nmembers = ["c1", "c5"]'),
            ["events[0].members: must be a member"],
            id="restart of nobody",
        ),
    ],
)
def test_what_cannot_happen_is_refused(tmp_path, capsys, events, told):
    done = run(capsys, "group", "what-if", *files(tmp_path, events))

    assert done.code == 2
    for words in told:
        assert words in done.err
    assert done.out == ""


def test_refusals_are_one_document(tmp_path, capsys):
    paths = files(tmp_path, event('event = "leave"\nmember = "d1"'))

    done = run(capsys, "group", "what-if", *paths, "--format", "json")

    assert done.code == 2
    assert [each["place"] for each in done.document["problems"]] == ["events[0].member"]


def test_share_groups_are_refused(tmp_path, capsys):
    done = run(capsys, "group", "what-if", *files(tmp_path, JOIN, type="share"))

    assert done.code == 2
    assert "a share group cannot be assigned" in done.err


def test_what_kafkas_tool_printed_is_taken(tmp_path, capsys):
    _, events = files(tmp_path, EAGER + '[[events]]\nat_s=1\nevent="rolling-restart"\n')
    text = SAMPLES / "consumer-groups-members-verbose.txt"

    done = run(
        capsys, "group", "what-if", text, events, "--group", "app-classic",
        "--format", "json",
    )  # fmt: skip

    assert done.code == 0, done.err
    # One of three is static, and is down for less than the session timeout.
    assert done.document["runs"][0]["rebalances"] == 4


OWN = """
class Everything:
    def assign(self, group):
        first = group.members.ids[0]
        named = zip(group.topics.names, group.topics.num_partitions.tolist())
        return {first: {name: list(range(size)) for name, size in named}}


class Twice:
    def assign(self, group):
        return {member: {"orders": [0]} for member in group.members.ids}
"""


def test_a_users_own_assignor_is_played_and_checked(tmp_path, capsys, monkeypatch):
    (tmp_path / "own_what_if.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    runs = '[[runs]]\nprotocol = "cooperative"\nassignor = "own_what_if:{}"\n'

    good = played(capsys, tmp_path, runs.format("Everything") + JOIN)
    paths = files(tmp_path, runs.format("Twice") + JOIN)
    bad = run(capsys, "group", "what-if", *paths)

    assert good["runs"][0]["idle_members"] == ["c1", "c2", "c3"]
    assert bad.code == 2
    assert "own_what_if:Twice breaks a rule: orders-0 is given to" in bad.err


@pytest.mark.parametrize("name", ["group-events", "group-what-if"])
def test_both_documents_have_a_schema(name):
    assert json_schema(name)["properties"]


@pytest.mark.parametrize(
    "owned", [{"gone": [0]}, {"t0": [0, 99]}], ids=["topic", "partition"]
)
def test_what_members_own_and_is_not_there_any_more_is_not_played(
    tmp_path, capsys, owned
):
    (tmp_path / "g.json").write_text(
        json.dumps(
            {
                "format": "kafka-planner/group",
                "version": 1,
                "group_id": "g",
                "topics": [
                    {"name": "t0", "partitions": 1},
                    {"name": "t1", "partitions": 200},
                ],
                "members": [
                    {"member_id": "a", "topics": ["t0", "t1"], "owned": owned},
                    {"member_id": "b", "topics": ["t0", "t1"]},
                ],
            }
        )
    )
    events = 'reads_per_s = 10\n[[events]]\nat_s = 5\nevent = "leave"\nmember = "b"\n'
    (tmp_path / "e.toml").write_text(events)

    done = run(capsys, "group", "what-if", tmp_path / "g.json", tmp_path / "e.toml")

    assert done.code == 0
