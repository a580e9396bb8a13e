"""`explain` as a shell sees it."""

import csv
import io
import json

import pytest

from planner.explain.choose_moves import Sort
from planner.explain.explain_document import ExplainRecord
from planner.plan.folder.moves_file import _cell_text, format_moves, read_moves
from support.commands import run
from support.plans import moves_in, skewed_document, write_document


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("explain")


@pytest.fixture
def plan(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    if not (folder / "p").exists():
        write_document(skewed_document(), folder / "s.json")
        run(capsys, "plan", "remove-brokers", "s.json", "--broker-list", 1,
            "--rebalance", "-o", "p")  # fmt: skip
    return folder / "p"


def explained(capsys, *arguments):
    found = run(capsys, "explain", *arguments, "--format", "json")
    assert found.code == 0, found.out
    ExplainRecord.model_validate(found.document)
    return found.document


def test_every_move_is_there_with_its_reason(plan, capsys):
    document = explained(capsys, "p")

    rows = moves_in(plan / "moves.csv")
    made = json.loads((plan / "plan.json").read_text())["moves"]
    assert document["goal"] == "remove-brokers"
    assert document["num_moves"] == len(rows) == len(document["moves"])
    assert sum(one["replicas"] for one in document["by_reason"]) == made["replicas"]
    assert sum(one["leaders"] for one in document["by_reason"]) == made["leaders"]
    assert sum(one["bytes"] for one in document["by_reason"]) == made["bytes"]
    from_1 = [m for m in document["moves"] if m["kind"] == "replica" and
              m["from_broker"] == 1]  # fmt: skip
    assert from_1
    assert {m["reason"] for m in from_1} == {"broker-leaves"}
    assert {m["undone"]["what"] for m in from_1} == {"not-empty"}
    assert {m["message"] for m in from_1} == {"broker 1 is to be emptied"}


def test_moves_are_read_as_they_were_written(plan):
    assert format_moves(read_moves(plan / "moves.csv")) == (
        (plan / "moves.csv").read_text()
    )


@pytest.mark.parametrize("text", ["a,b", 'a"b', "a\nb", "a\rb", "a b", "é", ""])
def test_a_cell_is_read_as_it_was(text):
    cells = [_cell_text(value) for value in (text, 0, 1.5e-7, None)]

    written = io.StringIO(",".join(cells) + "\n", newline="")
    assert [*csv.reader(written)] == [[text, "0", "1.5e-07", ""]]


@pytest.mark.parametrize(
    ("options", "is_meant"),
    [
        pytest.param(["--topic", "a"], lambda m: m["topic"] == "a", id="topic"),
        pytest.param(
            ["--topic", "a", "--topic", "b", "--partition", 3],
            lambda m: m["partition"] == 3,
            id="partition",
        ),
        pytest.param(
            ["--broker-list", "2-3"],
            lambda m: {m["from_broker"], m["to_broker"]} & {2, 3},
            id="brokers",
        ),
        pytest.param(
            ["--reason", "broker-leaves", "--reason", "over-band"],
            lambda m: m["reason"] in {"broker-leaves", "over-band"},
            id="reasons",
        ),
    ],
)
def test_filters(options, is_meant, plan, capsys):
    every = explained(capsys, "p")["moves"]

    chosen = explained(capsys, "p", *options)["moves"]

    assert chosen == [move for move in every if is_meant(move)]
    assert 0 < len(chosen) < len(every)


KEYS = {
    "bytes": lambda m: -m["bytes"],
    "from": lambda m: m["from_broker"],
    "to": lambda m: m["to_broker"],
    "undone": lambda m: -(m["undone"]["outside"] or 0),
}


@pytest.mark.parametrize("order", KEYS)
def test_sorting(order, plan, capsys):
    every = explained(capsys, "p")["moves"]

    assert explained(capsys, "p", "--sort", order)["moves"] == sorted(
        every, key=KEYS[order]
    )


def test_every_order_can_be_asked_for(plan, capsys):
    for order in Sort:
        assert explained(capsys, "p", "--sort", order)["num_moves"]


def test_a_table_fits_the_screen(plan, capsys):
    found = run(capsys, "explain", "p", "--limit", 5)

    lines = found.out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("PARTITION"))
    assert (found.code, found.err) == (0, "")
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("remove-brokers: ")
    assert len(lines) == at + 7
    assert lines[-1].startswith("… and ")


def test_one_partition_is_reported_in_sentences(plan, capsys):
    row = moves_in(plan / "moves.csv")[0]

    found = run(
        capsys, "explain", "p", "--topic", row["topic"], "--partition", row["partition"]
    )

    text = " ".join(found.out.split())
    name = f"{row['topic']}-{row['partition']}"
    assert f"{name} is copied from broker {row['from']} to {row['to']}: " in text
    assert "Without this move, " in text


def test_no_move_is_meant(plan, capsys):
    found = run(capsys, "explain", "p", "--topic", "nope")

    assert (found.code, found.err) == (0, "the options select no move of this plan\n")


def test_a_file_is_explained_on_its_cluster(plan, capsys):
    document = explained(capsys, "p/reassignment.json", "--snapshot", "s.json")

    rows = moves_in(plan / "moves.csv")
    assert document["goal"] is None
    copies = [move for move in document["moves"] if move["kind"] == "replica"]
    wanted = [row for row in rows if row["kind"] == "replica"]
    # Which of two copies of a partition takes which place, a file does not say.
    for end in ("from", "to"):
        assert sorted(
            (m["topic"], m["partition"], m[f"{end}_broker"]) for m in copies
        ) == sorted((r["topic"], int(r["partition"]), int(r[end])) for r in wanted)


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        pytest.param(["p/reassignment.json"], [""], id="file-without-a-snapshot"),
        pytest.param(
            ["p", "--broker-list", "x", "--reason", "because"],
            ["--broker-list", "--reason"],
            id="options",
        ),
        pytest.param(["none"], [""], id="no-plan"),
    ],
)
def test_what_is_refused(arguments, places, plan, capsys):
    found = run(capsys, "explain", *arguments, "--format", "json")

    assert found.code == 2
    named = [problem["place"] for problem in found.document["problems"]]
    assert named[: len(places)] == places or places == [""]


def spoilt(plan, tmp_path, change):
    for name in ("plan.json", "reassignment.json", "rollback.json"):
        (tmp_path / name).write_bytes((plan / name).read_bytes())
    with (plan / "moves.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    with (tmp_path / "moves.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(change(rows))
    return tmp_path


@pytest.mark.parametrize(
    ("change", "places"),
    [
        pytest.param(lambda rows: [row[:8] for row in rows], ["line 1"], id="columns"),
        pytest.param(lambda rows: [], ["line 1"], id="empty"),
        pytest.param(
            lambda rows: [rows[0], ["x"], rows[1], [*rows[2][:8], "no", *rows[2][9:]]],
            ["line 2", "line 4"],
            id="rows",
        ),
    ],
)
def test_every_row_that_is_no_move_is_named(change, places, plan, tmp_path, capsys):
    found = run(capsys, "explain", spoilt(plan, tmp_path, change), "--format", "json")

    assert found.code == 2
    assert [one["place"] for one in found.document["problems"]] == places


def test_a_plan_that_only_moves_between_log_dirs_says_so(capsys, tmp_path):
    dirs = [{"path": path, "size_bytes": 1000} for path in ("/a", "/b")]
    rows = [
        {"partition": n, "replicas": [0], "size_bytes": 100, "log_dirs": ["/a"]}
        for n in range(4)
    ]
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": 0, "log_dirs": dirs}],
        "topics": [{"name": "t", "partitions": rows}],
    }
    snap = write_document(document, tmp_path / "s.json")
    made = run(capsys, "plan", "log-dirs", snap, "-o", tmp_path / "plan")
    assert made.code == 0, made.err

    told = " ".join(run(capsys, "explain", tmp_path / "plan").out.split())
    document = run(capsys, "explain", tmp_path / "plan", "--format", "json").document

    assert "2 replicas of 200 B go to another log dir of the same broker" in told
    assert "Nothing else happens. log-dirs.csv lists them." in told
    assert (document["log_dir_moves"], document["log_dir_bytes"]) == (2, 200)
