"""`group offsets` on files: shown, exported, a reset foreseen."""

import json

import pytest
from pydantic import TypeAdapter

from planner.errors import BadInputError
from planner.group.offsets.offsets_offline import preview_reset
from planner.group.offsets.offsets_request import (
    OffsetsOptions,
    OffsetsRequest,
    read_offsets_request,
)
from planner.group.offsets.offsets_table import OffsetsTable
from planner.group.show_records import GroupOffsetsRecord
from support.commands import run
from support.samples import SAMPLES


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


def test_a_group_of_a_text_exists_whose_state_the_text_lacks(capsys):
    text = SAMPLES / "consumer-groups-empty.txt"

    done = run(capsys, "group", "offsets", text, "--all-topics", "--to-latest")

    assert done.out.startswith("group app-848 (state unknown), --to-latest: preview")
