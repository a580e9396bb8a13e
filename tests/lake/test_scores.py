"""Scores in tables of Delta Lake and Iceberg."""

import threading
from dataclasses import replace

import pytest

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.score.make_score import ScoreRequest
from support.commands import run
from support.lake.tables import commits_of, rows_of
from support.scores import by_place, differences, in_memory
from support.spark import snapshot

pytestmark = [
    pytest.mark.lake,
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAY, NEXT_DAY = "2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z"


def score(lake, fleet, schema, **options):
    from planner.spark.command import score_folder

    chosen = {"again": False} | options
    return score_folder(lake, str(fleet), ScoreRequest(), f"table:{schema}", **chosen)


def fleet_of(folder, *snapshots):
    for each in snapshots:
        append(each, Store(str(folder)))
    return folder


def test_a_killed_job_is_completed_in_an_older_table(
    lake, schema, tmp_path, monkeypatch
):
    from planner.spark.output import destination

    whole, other = snapshot("a", DAY), snapshot("b", DAY)
    loading = replace(whole, partitions=whole.partitions.slice(1))
    less = replace(whole, log_dirs=whole.log_dirs.slice(0, 4))
    new = snapshot("b", NEXT_DAY)
    fleet = fleet_of(tmp_path / "fleet", loading, other)
    table, problems, sizes = f"{schema}.scores", f"{schema}.problems", set()
    older_scores(lake, schema)
    score(lake, fleet, schema)
    before, warned = lake.table(table).count(), rows_of(lake, problems)
    reader = threading.Thread(
        target=lambda: sizes.update(lake.table(table).count() for _ in range(3))
    )
    fleet_of(fleet, less, new)
    merge_rows, seen = destination.merge_rows, []

    def killed(rows, schema, contract, *words):
        seen.append(contract.name)
        # Snapshots are claimed first, and listed in the end.
        if seen.count("done") == 2:
            raise KeyboardInterrupt
        return merge_rows(rows, schema, contract, *words)

    with monkeypatch.context() as patched:
        patched.setattr(destination, "merge_rows", killed)
        reader.start()
        with pytest.raises(KeyboardInterrupt):
            score(lake, fleet, schema)
        reader.join()
    commits = [commits_of(lake, name) for name in (table, problems)]
    found = score(lake, fleet, schema)

    assert len(found.documents) == 3
    assert [commits_of(lake, name) for name in (table, problems)] == commits
    # Of what is replaced rows that are gone are deleted.
    assert [(each["cluster_id"], each["severity"]) for each in warned] == [
        ("a", "warning")
    ]
    assert rows_of(lake, problems) == []
    rows = lake.table(table)
    scored = rows.where("cluster_id != 'old'").drop("version", "write_number", "team")
    assert not differences(in_memory([less, other, new]), by_place(scored.toArrow()))
    # Who reads meanwhile sees the rows before the one commit, or those after it.
    assert sizes <= {before, rows.count()}
    (old,) = rows.where("cluster_id = 'old'").collect()
    assert (old["team"], old["broker"], old["version"]) == ("blue", None, None)
    assert old["violations"]["rack"] == 2


def older_scores(lake, schema):
    """Make a table of scores of which most columns are missing, and one is odd."""
    kind = "iceberg" if schema.startswith("ice") else "delta"
    lake.sql(
        f"CREATE TABLE {schema}.scores (cluster_id string, taken_at timestamp, "
        "level string, resource string, load double, "
        f"violations struct<rack: bigint>, team string) USING {kind}"
    )
    lake.sql(
        f"INSERT INTO {schema}.scores VALUES "  # noqa: S608 - a schema of these tests
        "('old', timestamp '2026-11-20T00:00:00Z', 'cluster', 'disk', 1, "
        "named_struct('rack', 2L), 'blue')"
    )


@pytest.mark.parametrize("name", ["spark_catalog.none", "nowhere.kafka"])
def test_a_schema_that_is_not_there(lake, name, tmp_path, capsys):
    fleet = fleet_of(tmp_path / "fleet", snapshot("a", DAY))

    found = run(capsys, "fleet", "score", fleet, "-o", f"table:{name}")

    assert (found.code, found.out) == (2, "")
    assert f"will not write {name}" in found.err
