"""Every check holds on every path: file, DataFrames, tables of a catalog, Connect."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.snapshot.checks.record_checks import CHECKS, findings
from planner.snapshot.formats.foreign_tables import cast_tables
from planner.snapshot.tables.table_facts import Facts
from planner.spark.common.problem_rows import ERROR, WARNING
from planner.spark.common.snapshot_headers import header_of
from planner.spark.io.fleet_opening import open_fleet
from planner.spark.io.fleet_tables import Fleet
from planner.spark.scoring.fleet_scores import score_fleet
from support.scores import by_place, differences, in_memory
from support.spark import snapshot
from support.wrong_snapshots import (
    LOADING,
    SOUND,
    TABLE_NAMES,
    TIME,
    WRONG,
    read_as_file,
    rules_of_file,
    tables_of,
    wrong_fleet,
)

pytestmark = [
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def frames(spark):
    tables = wrong_fleet()
    return scored(Fleet(**{n: spark.createDataFrame(tables[n]) for n in TABLE_NAMES}))


@pytest.fixture(scope="module")
def files(spark, tmp_path_factory):
    """A fleet folder, of which somebody else has written the files anew."""
    folder = tmp_path_factory.mktemp("fleet")
    store = Store(str(folder))
    for name, change in {**SOUND, **WRONG, **LOADING}.items():
        append(snapshot(name, TIME), store)
        tables = tables_of(name, change)
        (commit,) = (c for c in store.commits() if name in dict(c.snapshots.keys()))
        for table in TABLE_NAMES:
            (file,) = commit.files[table]
            pq.write_table(tables[table], Path(folder, file))
    return scored(open_fleet(spark, str(folder)))


@pytest.fixture(scope="module")
def catalog(spark, tmp_path_factory):
    name, folder = "checked", tmp_path_factory.mktemp("catalog")
    spark.sql(f"CREATE DATABASE {name} LOCATION '{folder.as_uri()}'")
    try:
        for table, rows in wrong_fleet().items():
            spark.createDataFrame(rows).write.saveAsTable(f"{name}.{table}")
        yield scored(open_fleet(spark, f"table:{name}"))
    finally:
        spark.sql(f"DROP DATABASE {name} CASCADE")


def scored(fleet):
    found = score_fleet(fleet)
    try:
        return found.scores.toArrow(), found.problems.toArrow().to_pylist()
    finally:
        found.release()


FOLLOWED = {
    "broker-id-below-0",
    "broker-id-beyond-32-bits",
    "broker-without-id",
    "log-dir-path-null",
    "sizes-too-much",
}
"""Cases of which Spark tells what follows, too: replicas are on a broker without id."""
PATHS = ["frames", "files", "catalog"]


@pytest.mark.spark
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", WRONG)
def test_what_a_file_is_refused_for_is_a_problem_on_spark(request, path, name):
    scores, problems = request.getfixturevalue(path)

    own = [row for row in problems if row["cluster_id"] == name]

    rules = {row["rule"] for row in own}
    of_file = rules_of_file(tables_of(name, WRONG[name]))
    assert of_file <= rules
    assert rules == of_file or name in FOLLOWED
    assert {row["severity"] for row in own} == {ERROR}
    assert {f"{row['taken_at']:%Y-%m-%dT%H:%M:%SZ}" for row in own} == {TIME}
    assert all(row["table"] in TABLE_NAMES and row["place"] for row in own)
    assert name not in set(scores.column("cluster_id").to_pylist())


@pytest.mark.parametrize("name", WRONG)
def test_a_file_is_refused_for_each_case(name):
    assert rules_of_file(tables_of(name, WRONG[name]))


def test_every_check_has_a_case():
    breaks = defaultdict(set)
    for name, change in WRONG.items():
        tables = tables_of(name, change)
        header = header_of(tables["clusters"].to_pylist()[0], name, 1)
        controllers = tuple(header.get("controllers", ()))
        cast = cast_tables(tables, file=name).tables
        facts = Facts(header.get("configs", {}), controllers, cast)
        for check in CHECKS:
            if any(findings(facts, [check])):
                breaks[check].add(name)

    assert [check.__name__ for check in CHECKS if not breaks[check]] == []


@pytest.mark.spark
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", LOADING)
def test_what_may_be_still_being_loaded_is_a_warning(request, path, name):
    scores, problems = request.getfixturevalue(path)

    own = [row for row in problems if row["cluster_id"] == name]

    assert {row["severity"] for row in own} == {WARNING}
    assert all(row["rule"] for row in own)
    told = [row for row in scores.to_pylist() if row["cluster_id"] == name]
    assert {row["complete"] for row in told} == {False}


@pytest.mark.spark
@pytest.mark.parametrize("path", PATHS)
def test_the_others_have_the_scores_of_files(request, path):
    scores, problems = request.getfixturevalue(path)
    scored_cases = {**SOUND, **LOADING}
    read = [read_as_file(tables_of(*case)) for case in scored_cases.items()]

    assert SOUND.keys().isdisjoint(row["cluster_id"] for row in problems)
    expected = [replace(each, taken_at=TIME) for each in read]
    assert differences(in_memory(expected), by_place(scores)) == []
