"""A snapshot that may be loaded in part says so: in notes, documents and tables."""

from datetime import UTC, datetime

import pytest

from planner.score.make_score import score_snapshot
from planner.score.score_document import score_document
from planner.score.score_tables import score_table
from planner.snapshot import Snapshot, write_snapshot
from support.commands import run
from support.snapshots import small_document


def document_of(**partitions):
    """Topics by name, with the numbers of their partitions."""
    topics = [
        {
            "name": name,
            "partitions": [{"partition": n, "replicas": [1, 2]} for n in numbers],
        }
        for name, numbers in partitions.items()
    ]
    return small_document(topics=topics)


CASES = [
    pytest.param({"a": [0, 1], "b": [0]}, [], id="whole"),
    pytest.param({"a": [0, 2, 3]}, ["a (1 of 4)"], id="number-missing"),
    pytest.param({"a": [1]}, ["a (1 of 2)"], id="first-missing"),
    pytest.param({"a": [0], "b": []}, ["without partitions: b."], id="topic-empty"),
    pytest.param({"a": [], "b": [1]}, ["partitions: a.", "b (1 of 2)"], id="both"),
    pytest.param({}, ["there are no partitions"], id="nothing"),
    pytest.param({"a": []}, ["there are no partitions"], id="no-partitions"),
]


@pytest.mark.parametrize(("topics", "said"), CASES)
def test_what_is_missing_is_a_note_and_complete_is_false(topics, said):
    snapshot = Snapshot.from_document(document_of(**topics))
    scored = score_snapshot(snapshot, now=datetime.now(UTC))

    document, table = score_document(scored), score_table([scored])

    notes = [n["message"] for n in document["notes"] if n["what"] == "incomplete"]
    assert len(notes) == len(said)
    assert all(part in note for part, note in zip(said, notes, strict=True))
    assert document["complete"] == (not said)
    assert set(table.column("complete").to_pylist()) == {not said}


def test_many_topics_are_counted_and_the_first_few_named():
    topics = {f"t{n}": [] for n in range(8)} | {"u": [0]}
    scored = score_snapshot(
        Snapshot.from_document(document_of(**topics)), now=datetime.now(UTC)
    )

    (note,) = (n for n in scored.score.notes if n.what == "incomplete")

    assert "t0, t1, t2, t3, t4 and 3 more topics" in note.message
    assert note.have == 8


def test_snapshot_show_says_what_is_missing(tmp_path, capsys):
    file = tmp_path / "s.json"
    write_snapshot(Snapshot.from_document(document_of(a=[0, 2])), file)

    shown = run(capsys, "snapshot", "show", file)
    told = run(capsys, "snapshot", "show", file, "--format", "json").document

    assert (shown.code, told["complete"]) == (0, False)
    assert "a (1 of 3)" in " ".join(shown.out.split())
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    assert "a (1 of 3)" in told["notes"][0]
