"""Scores as a table: every figure of the document, and where it may be written."""

import json

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from placement.model.load import RESOURCES
from placement.score import score_cluster
from planner.errors import BadInputError
from planner.score.make_score import Scored
from planner.score.score_document import score_document
from planner.score.score_folder import write_tables
from planner.score.score_tables import LOADS, SCHEMA, score_table
from support.clusters import Dir, clusters, make_state


def scored_of(state, taken_at="2026-11-21T08:00:00+02:00"):
    return Scored(
        score=score_cluster(state), cluster_id="007", taken_at=taken_at, data_age_s=1.0
    )


@settings(max_examples=25)
@given(clusters(reassigning=True))
def test_the_table_says_what_the_document_says(state):
    scored = scored_of(state)
    document = score_document(scored)

    rows = score_table([scored]).to_pylist()

    of = {
        level: [row for row in rows if row["level"] == level]
        for level in ("cluster", "rack", "broker", "log_dir", "topic")
    }
    for row in of["cluster"]:
        figures = document["resources"][row["resource"]]
        assert {name: row[name] for name in figures} == pytest.approx(figures)
        assert row["violations"] == document["violations"]
    keys = {
        "rack": ("by_rack", ("rack", "broker")),
        "broker": ("by_broker", ("broker",)),
        "log_dir": ("by_log_dir", ("broker", "log_dir")),
    }
    for level, (name, key) in keys.items():
        expected = {
            (*(place[k] for k in key), str(resource)): place[resource]
            for place in document[name]
            for resource in RESOURCES
        }
        found = {
            (*(row[k] for k in key), row["resource"]): {c: row[c] for c in LOADS}
            for row in of[level]
        }
        assert set(found) == set(expected)
        for place, loads in expected.items():
            assert found[place] == pytest.approx(loads)
    for row in of["topic"]:
        topic = next(t for t in document["by_topic"] if t["topic"] == row["topic"])
        figures = topic["resources"][row["resource"]]
        assert {name: row[name] for name in figures} == pytest.approx(figures)
        assert row["violations"] == topic["violations"] | {"over_capacity": None}


def test_ids_stay_text_and_times_are_utc():
    table = score_table([scored_of(make_state([[0]], racks="a"))])

    assert set(table["cluster_id"].to_pylist()) == {"007"}
    assert {t.isoformat() for t in table["taken_at"].to_pylist()} == {
        "2026-11-21T06:00:00+00:00"
    }
    assert table.schema.equals(SCHEMA)


def test_no_scores_are_an_empty_table():
    assert score_table([]).num_rows == 0


def test_a_folder_is_written_and_replaced_as_a_whole(tmp_path):
    state = make_state([[0, 1]], racks="ab", size_bytes=5)
    path = tmp_path / "made" / "scores"

    write_tables([scored_of(state), scored_of(state, None)], path)
    write_tables([scored_of(state)], path)

    table = pq.read_table(path / "scores")
    assert table.num_rows == 6 * (1 + 2 + 2 + 1)
    documents = json.loads((path / "scores.json").read_text())
    assert [each["cluster_id"] for each in documents] == ["007"]
    assert {p.name for p in path.parent.iterdir()} == {"scores"}


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_nothing_else_is_overwritten(kind, tmp_path):
    path = tmp_path / "there"
    if kind == "file":
        path.write_text("mine")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path)

    with pytest.raises(BadInputError):
        write_tables([scored_of(make_state([[0]], racks="a"))], path)

    assert path.is_symlink() == (kind == "link")


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(BadInputError, match="will not write"):
        write_tables([], tmp_path / "file" / "scores")


def test_log_dirs_over_the_disk_threshold_are_marked():
    state = make_state(
        [[0], [1]],
        size_bytes=[90, 10],
        disk_bytes=1000,
        log_dirs={0: [Dir("/d1", 100), Dir("/d2", 900)]},
        dirs=[["/d1"], [None]],
    )

    rows = score_table([scored_of(state)]).to_pylist()

    found = {
        (row["log_dir"], row["is_over_threshold"])
        for row in rows
        if (row["level"], row["resource"], row["broker"]) == ("log_dir", "disk", 0)
    }
    assert found == {("/d1", True), ("/d2", False)}
    others = [
        row["is_over_threshold"]
        for row in rows
        if row["level"] == "log_dir" and row["resource"] != "disk"
    ]
    assert set(others) == {None}
