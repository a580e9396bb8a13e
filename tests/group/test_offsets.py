"""`group offsets`: what is asked for, where it leads, and Kafka's file of it."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from planner.errors import BadInputError
from planner.group.offsets.offsets_file import format_offsets, read_offsets_file
from planner.group.offsets.offsets_offline import preview_reset
from planner.group.offsets.offsets_request import (
    OffsetsOptions,
    OffsetsRequest,
    Scope,
    parse_datetime,
    parse_duration,
    read_offsets_request,
)
from planner.group.offsets.offsets_table import OffsetsTable
from planner.group.offsets.target_offsets import (
    BY_TIME,
    UNKNOWN,
    LogColumns,
    Target,
    reset,
)
from planner.group.show_records import GroupOffsetsRecord
from support.commands import run

LARGEST = 2**63 - 1


def logs(*rows, topic="t"):
    """Make columns of (committed, earliest, latest, wanted) rows."""
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    committed, earliest, latest, wanted = columns
    return LogColumns(
        names=[(topic, number) for number in range(len(rows))],
        committed=committed,
        earliest=earliest,
        latest=latest,
        wanted=wanted,
    )


@pytest.mark.parametrize(
    ("target", "number", "row", "new", "note"),
    [
        pytest.param(Target.EARLIEST, 0, (7, 5, 9, -1), 5, "", id="earliest"),
        pytest.param(Target.LATEST, 0, (7, 5, 9, -1), 9, "", id="latest"),
        pytest.param(Target.CURRENT, 0, (7, 5, 9, -1), 7, "", id="current"),
        pytest.param(
            Target.CURRENT,
            0,
            (-1, 5, 9, -1),
            9,
            "t-0: nothing was committed; set to 9",
            id="current-of-none",
        ),
        pytest.param(Target.OFFSET, 6, (7, 5, 9, -1), 6, "", id="offset"),
        pytest.param(Target.OFFSET, 9, (7, 5, 9, -1), 9, "", id="offset-at-the-end"),
        pytest.param(
            Target.OFFSET,
            10,
            (7, 5, 9, -1),
            9,
            "t-0: 10 is higher than the latest offset; set to 9",
            id="offset-too-high",
        ),
        pytest.param(
            Target.OFFSET,
            -4,
            (7, 5, 9, -1),
            5,
            "t-0: -4 is lower than the earliest offset; set to 5",
            id="offset-too-low",
        ),
        pytest.param(Target.SHIFT, -2, (7, 5, 9, -1), 5, "", id="back"),
        pytest.param(
            Target.SHIFT,
            -3,
            (7, 5, 9, -1),
            5,
            "t-0: 4 is lower than the earliest offset; set to 5",
            id="back-too-far",
        ),
        pytest.param(
            Target.SHIFT,
            LARGEST,
            (7, 5, 9, -1),
            9,
            f"t-0: {LARGEST} is higher than the latest offset; set to 9",
            id="on-without-overflow",
        ),
        pytest.param(Target.DATETIME, 0, (7, 5, 9, 8), 8, "", id="time"),
        pytest.param(
            Target.DURATION,
            0,
            (7, 5, 9, -1),
            9,
            "t-0: no message of then or later; set to 9",
            id="time-without-a-message",
        ),
        pytest.param(Target.FILE, 0, (-1, 5, 9, 6), 6, "", id="file"),
        pytest.param(Target.LATEST, 0, (-1, 0, 0, -1), 0, "", id="empty-log"),
    ],
)
def test_where_a_group_reads_on(target, number, row, new, note):
    found = reset(logs(row), target, number)

    assert found.new.tolist() == [new]
    assert list(found.notes) == ([note] if note else [])


def test_what_was_never_committed_is_not_shifted():
    with pytest.raises(BadInputError) as raised:
        reset(logs((-1, 0, 9, -1), (3, 0, 9, -1), (-1, 0, 9, -1)), Target.SHIFT, 1)

    assert [problem.place for problem in raised.value.problems] == ["t-0", "t-2"]
    assert "there is no current committed offset" in str(raised.value)


def naive(row, target, number):
    """Return the new offset as Kafka's code decides it, partition by partition."""
    committed, earliest, latest, wanted = row
    asked = {
        Target.EARLIEST: earliest,
        Target.LATEST: latest,
        Target.CURRENT: committed if committed != UNKNOWN else latest,
        Target.OFFSET: number,
        Target.SHIFT: committed + number,
        Target.FILE: wanted,
    }.get(target, wanted if wanted != UNKNOWN else latest)
    if asked > latest:
        return latest
    return max(asked, earliest)


@st.composite
def rows(draw):
    earliest = draw(st.integers(0, 20))
    latest = earliest + draw(st.integers(0, 20))
    anywhere = st.integers(-1, 50)
    return draw(anywhere), earliest, latest, draw(anywhere)


@settings(max_examples=60)
@given(
    st.lists(rows(), min_size=1, max_size=6),
    st.sampled_from(list(Target)),
    st.integers(-60, 60),
)
def test_new_offsets_are_kafkas_and_lie_in_the_logs(table, target, number):
    columns = logs(*table)
    if target is Target.SHIFT and UNKNOWN in columns.committed:
        with pytest.raises(BadInputError):
            reset(columns, target, number)
        return

    found = reset(columns, target, number)

    assert found.new.tolist() == [naive(row, target, number) for row in table]
    assert (found.new >= columns.earliest).all()
    assert (found.new <= columns.latest).all()
    changed = {note.split(":")[0] for note in found.notes}
    if target not in BY_TIME | {Target.CURRENT}:
        asked = {Target.OFFSET: number}.get(target)
        if asked is not None:
            assert changed == {
                f"t-{at}" for at, new in enumerate(found.new) if new != asked
            }


# -- what is asked for -------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "2026-11-21T08:00:00.250",
            datetime(2026, 11, 21, 8, 0, 0, 250_000, tzinfo=UTC),
            id="utc-unless-said",
        ),
        pytest.param(
            "2026-11-21T08:00:00.000Z", datetime(2026, 11, 21, 8, tzinfo=UTC), id="z"
        ),
        pytest.param(
            "2026-11-21T08:00:00.000+02:00",
            datetime(2026, 11, 21, 6, tzinfo=UTC),
            id="zone",
        ),
        pytest.param(
            "2026-11-21T08:00:00", datetime(2026, 11, 21, 8, tzinfo=UTC), id="seconds"
        ),
    ],
)
def test_times_are_read_as_kafka_reads_them(text, expected):
    assert parse_datetime(text) == expected.timestamp() * 1000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT15S", 15),
        ("PT1M", 60),
        ("PT1H30M", 5400),
        ("P1D", 86_400),
        ("P2DT3H4M5.5S", 2 * 86_400 + 3 * 3600 + 4 * 60 + 5.5),
        ("pt5m", 300),
        ("-PT1M", -60),
        ("PT-1M", -60),
        ("-PT-1M", 60),
        ("PT0,25S", 0.25),
        ("P0D", 0),
    ],
)
def test_durations_are_read_as_java_reads_them(text, seconds):
    assert parse_duration(text) == seconds * 1000


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        pytest.param(
            {"to_earliest": True}, ["partitions must be selected"], id="no-scope"
        ),
        pytest.param(
            {"to_earliest": True, "to_latest": True, "all_topics": True},
            ["only one target may be given"],
            id="two-targets",
        ),
        pytest.param(
            {"to_latest": True, "all_topics": True, "topics": ["t"]},
            ["only one selection of partitions may be given"],
            id="two-scopes",
        ),
        pytest.param(
            {"to_datetime": "2026-11-21", "topics": ["t"]},
            ["must be a time: "],
            id="a-day",
        ),
        pytest.param(
            {"to_datetime": "noon", "by_duration": "1h", "topics": ["t:x", "u", "u:1"]},
            [
                "only one target may be given",
                "must be a time: ",
                "must be a topic, or a topic and partitions",
                "must name a partition once",
            ],
            id="everything-at-once",
        ),
        pytest.param(
            {"by_duration": "P", "topics": ["t"]}, ["must be a duration"], id="no-time"
        ),
        pytest.param(
            {"by_duration": "PT", "topics": ["t"]}, ["must be a duration"], id="only-t"
        ),
        pytest.param(
            {"to_offset": 2**63, "topics": ["t"]}, ["64 bits"], id="large-offset"
        ),
        pytest.param(
            {"shift_by": -(2**63), "topics": ["t"]}, ["64 bits"], id="large-shift"
        ),
        pytest.param(
            {"to_latest": True, "topics": ["t:1,1"]},
            ["must name a partition once"],
            id="twice-in-one",
        ),
        pytest.param(
            {"to_latest": True, "topics": ["t:1", "t:1"]},
            ["must name a partition once"],
            id="twice-in-two",
        ),
        pytest.param(
            {"to_latest": True, "topics": [f"t:{2**31}"]},
            ["must be a topic, or"],
            id="no-partition-number",
        ),
    ],
)
def test_what_cannot_be_asked_for(options, rules):
    with pytest.raises(BadInputError) as raised:
        read_offsets_request(OffsetsOptions(**options))

    found = [problem.rule for problem in raised.value.problems]
    assert len(found) == len(rules)
    assert all(rule in text for rule, text in zip(rules, found, strict=True))


def test_a_scope_names_topics_and_partitions():
    options = OffsetsOptions(to_latest=True, topics=["a.b-c:1", "a.b-c:0", "d"])

    request = read_offsets_request(options)

    assert request.scope == Scope(topics={"a.b-c": [1, 0], "d": []})


def test_durations_count_back_from_now():
    now = datetime(2026, 11, 21, 8, tzinfo=UTC)

    request = read_offsets_request(
        OffsetsOptions(by_duration="PT1H", topics=["t"]), now=now
    )

    assert request.target is Target.DURATION
    assert request.number == parse_datetime("2026-11-21T07:00:00.000")


# -- Kafka's file ------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.tuples(
            st.from_regex(r"[a-zA-Z0-9._-]{1,40}", fullmatch=True),
            st.integers(0, 2**31 - 1),
        ),
        st.integers(0, LARGEST),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_exported_is_read_back(tmp_path_factory, offsets):
    path = tmp_path_factory.mktemp("offsets") / "o.csv"
    path.write_text(format_offsets(offsets.items()))

    assert read_offsets_file(path, "g") == offsets


def test_long_names_are_quoted_as_kafkas_tool_does():
    names = ["abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwxy"]

    lines = format_offsets(((name, 0), 5) for name in names).splitlines()

    assert lines == [f"{names[0]},0,5", f'"{names[1]}",0,5']


def test_of_several_groups_one_is_read(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text("g,t,0,5\nh,t,0,9\n\ng,t,1,6\n")

    assert read_offsets_file(path, "g") == {("t", 0): 5, ("t", 1): 6}


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param("", [("", "must have a line for group g")], id="empty"),
        pytest.param("h,t,0,5\n", [("", "must have a line for group g")], id="others"),
        pytest.param(
            "t,0\nt,x,1\nt,0,y\n,0,1\nt,1,2\nt,1,2\n",
            [
                ("line 1", "must have three cells"),
                ("line 2", "must have a partition's number"),
                ("line 3", "must have an offset"),
                ("line 4", "must name a topic"),
                ("line 6", "must name a partition once"),
            ],
            id="every-line",
        ),
    ],
)
def test_files_that_are_refused(tmp_path, text, problems):
    path = tmp_path / "o.csv"
    path.write_text(text)

    with pytest.raises(BadInputError) as raised:
        read_offsets_file(path, "g")

    found = [(each.place, each.rule) for each in raised.value.problems]
    assert [place for place, _ in found] == [place for place, _ in problems]
    for (_, rule), (_, expected) in zip(found, problems, strict=True):
        assert expected in rule


# -- the command, on files ---------------------------------------------------


@pytest.fixture
def group_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.json").write_text(
        json.dumps(
            {
                "format": "kafka-planner/group",
                "version": 1,
                "group_id": "billing",
                "state": "Empty",
                "topics": [
                    {
                        "name": "orders",
                        "partitions": 3,
                        "committed_offsets": [5, None, 7],
                        "log_end_offsets": [9, 4, None],
                    },
                    {"name": "audit", "partitions": 1},
                ],
                "members": [],
            }
        )
    )
    return "g.json"


def test_offsets_of_a_file_are_shown(group_file, capsys):
    done = run(capsys, "group", "offsets", group_file, "--format", "json")
    text = run(capsys, "group", "offsets", group_file)

    assert done.code == text.code == 0
    TypeAdapter(GroupOffsetsRecord).validate_json(done.out)
    found = {
        (row["topic"], row["partition"]): (row["current"], row["log_end"], row["lag"])
        for row in done.document["offsets"]
    }
    assert found == {
        ("audit", 0): (None, None, None),
        ("orders", 0): (5, 9, 4),
        ("orders", 1): (None, 4, None),
        ("orders", 2): (7, None, None),
    }
    assert text.out.splitlines()[0] == "group billing (Empty)"
    assert "orders                           0          5          -" in text.out
    assert all(len(line) <= 80 for line in text.out.splitlines())


@pytest.mark.parametrize(
    ("scope", "exported"),
    [
        pytest.param((), "orders,0,5\norders,2,7\n", id="all"),
        pytest.param(("--all-topics",), "orders,0,5\norders,2,7\n", id="committed"),
        pytest.param(("--topic", "orders:2,1"), "orders,2,7\n", id="partitions"),
        pytest.param(("--topic", "audit"), "", id="nothing"),
    ],
)
def test_offsets_of_a_file_are_exported(group_file, capsys, scope, exported):
    done = run(capsys, "group", "offsets", group_file, *scope, "--export")

    assert (done.code, done.out) == (0, exported)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        pytest.param(
            ("--to-latest", "--topic", "orders", "--execute", "--yes"),
            "--execute",
            id="set-in-a-file",
        ),
        pytest.param(("--dry-run",), "--execute, --dry-run", id="nowhere-to"),
        pytest.param(
            (
                *("--dry-run", "--execute", "--to-latest", "--all-topics"),
                *("--bootstrap-server", "127.0.0.1:1"),
            ),
            "--dry-run, --execute",
            id="both",
        ),
    ],
)
def test_options_must_go_together(group_file, capsys, options, place):
    done = run(capsys, "group", "offsets", group_file, *options, "--format", "json")

    assert done.code == 2
    assert [one["place"] for one in done.document["problems"]] == [place]


def test_many_rows_are_cut_and_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    topics = [{"name": "t", "partitions": 60, "committed_offsets": [1] * 60}]
    document = {"format": "kafka-planner/group", "version": 1, "group_id": "g"}
    (tmp_path / "g.json").write_text(
        json.dumps({**document, "topics": topics, "members": []})
    )

    short = run(capsys, "group", "offsets", "g.json").out.splitlines()
    whole = run(capsys, "group", "offsets", "g.json", "--verbose").out.splitlines()

    assert len(short) == 2 + 50 + 1
    assert "and 10 more" in short[-1]
    assert len(whole) == 2 + 60


# -- foreseen without a cluster ----------------------------------------------


@pytest.mark.parametrize(
    ("options", "exported", "words"),
    [
        pytest.param(
            ("--to-latest", "--topic", "orders:0,1"),
            "orders,0,9\norders,1,4\n",
            "",
            id="latest",
        ),
        pytest.param(
            ("--to-current", "--topic", "orders:0,1"),
            "orders,0,5\norders,1,4\n",
            "orders-1: nothing was committed; set to 4",
            id="current",
        ),
        pytest.param(
            ("--shift-by", "3", "--topic", "orders:0"),
            "orders,0,8\n",
            "are not known here",
            id="shift",
        ),
        pytest.param(
            ("--to-offset", "7", "--topic", "orders:0,1"),
            "orders,0,7\norders,1,4\n",
            "orders-1: 7 is higher than the latest offset; set to 4",
            id="offset",
        ),
        pytest.param(
            ("--from-file", "o.csv"),
            "orders,0,2\norders,1,1\n",
            "are not known here",
            id="file",
        ),
    ],
)
def test_what_a_file_can_tell_is_foreseen(
    group_file, tmp_path, capsys, options, exported, words
):
    (tmp_path / "o.csv").write_text("orders,1,1\norders,0,2\n")

    done = run(capsys, "group", "offsets", group_file, *options, "--export")

    assert (done.code, done.out) == (0, exported), done.err
    assert words in done.err


@pytest.mark.parametrize(
    ("options", "places"),
    [
        pytest.param(("--to-earliest", "--all-topics"), ["--to-earliest"], id="start"),
        pytest.param(
            ("--by-duration", "PT1H", "--all-topics"), ["--by-duration"], id="time"
        ),
        pytest.param(
            ("--to-latest", "--topic", "orders"), ["orders-2"], id="end-unknown"
        ),
        pytest.param(
            ("--to-latest", "--topic", "nope", "--topic", "orders:0,9"),
            ["nope-0", "orders-9"],
            id="not-there",
        ),
        pytest.param(("--from-file", "o.csv"), ["orders-7"], id="not-there-by-file"),
    ],
)
def test_what_a_file_cannot_tell_is_refused(
    group_file, tmp_path, capsys, options, places
):
    (tmp_path / "o.csv").write_text("orders,7,1\norders,0,2\n")

    done = run(capsys, "group", "offsets", group_file, *options, "--format", "json")

    assert done.code == 2
    assert [one["place"] for one in done.document["problems"]] == places


@pytest.mark.parametrize(
    ("change", "state"),
    [
        pytest.param({"state": "Stable"}, "Stable.", id="state"),
        pytest.param(
            {"state": None, "members": [{"member_id": "m"}]},
            "with members.",
            id="members",
        ),
    ],
)
def test_an_active_group_is_refused_in_files_too(
    group_file, tmp_path, capsys, change, state
):
    document = json.loads((tmp_path / "g.json").read_text())
    (tmp_path / "g.json").write_text(json.dumps({**document, **change}))

    done = run(capsys, "group", "offsets", group_file, "--to-latest", "--all-topics")

    assert done.code == 2
    assert (
        "Assignments can only be reset if the group 'billing' is inactive" in done.err
    )
    assert state in done.err


def test_where_to_must_be_said_in_files_too():
    table = OffsetsTable(group_id="g", state="Empty")

    with pytest.raises(ValueError, match="needs a target"):
        preview_reset(table, OffsetsRequest(target=None), num_members=0, file="g.json")


@pytest.mark.parametrize("kind", ["share", "streams"])
def test_other_kinds_have_tools_of_their_own(group_file, tmp_path, capsys, kind):
    document = json.loads((tmp_path / "g.json").read_text())
    (tmp_path / "g.json").write_text(json.dumps({**document, "type": kind}))
    words = ("--to-latest", "--topic", "orders:0", "--format", "json")

    done = run(capsys, "group", "offsets", group_file, *words)

    assert done.code == 2
    (problem,) = done.document["problems"]
    assert problem["remedy"] == f"use kafka-{kind}-groups"


def test_a_file_says_which_partitions_and_all_that_is_wrong_is_said(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text("t,0\n")
    options = OffsetsOptions(from_file=path, topics=["t", "t:x"], group_id="g")

    with pytest.raises(BadInputError) as raised:
        read_offsets_request(options)

    assert [problem.place for problem in raised.value.problems] == [
        "--from-file",
        "--topic",
        "line 1",
    ]


@pytest.mark.parametrize("end", [10**9, 10**12, 10**13 - 1])
def test_large_offsets_are_whole_in_80_columns(tmp_path, monkeypatch, capsys, end):
    monkeypatch.chdir(tmp_path)
    topic = {"name": "a-topic-of-a-very-long-name", "partitions": 1}
    offsets = {"committed_offsets": [0], "log_end_offsets": [end]}
    document = {"format": "kafka-planner/group", "version": 1, "group_id": "g"}
    (tmp_path / "g.json").write_text(
        json.dumps({**document, "topics": [{**topic, **offsets}], "members": []})
    )

    lines = run(capsys, "group", "offsets", "g.json").out.splitlines()

    assert lines[-1].split()[-2:] == [str(end)] * 2
    assert lines[-1].startswith("a-topic-of-")
    assert all(len(line) <= 80 for line in lines)
