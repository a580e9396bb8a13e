"""Fleets in tables of Delta Lake and Iceberg: dumps taken in, and all that follows."""

import pytest

from planner.fleet.contracts.all_contracts import CONTRACTS
from support.commands import run
from support.dumps import put, small_json
from support.lake.tables import comments_of, commits_of, layout_of, rows_of, scores_of
from support.scores import by_place, differences, in_memory
from support.snapshots import small_document
from support.spark import snapshot

pytestmark = [
    pytest.mark.lake,
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAY, NEXT_DAY = "2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z"
LAYOUTS = {"taken_at, cluster_id", "days(taken_at), cluster_id"}
"""Columns of clustering, and the partition and order of files."""
OF_SNAPSHOTS = ("brokers", "log_dirs", "topics", "partitions", "clusters", "commits")


def dumped(folder, name, cluster_id, taken_at, **changes):
    document = small_json(cluster_id=cluster_id, taken_at=taken_at, **changes)
    put(folder, f"{name}/s.json", document)


def lost_in(rows, contract):
    """Return the columns that are null, and never may be."""
    never = [name for name in contract.columns.names if not contract.meaning(name)[2]]
    return {name for name in never for row in rows if row[name] is None}


def days_in(lake, table):
    return sorted(row["taken_at"].day for row in rows_of(lake, table))


@pytest.fixture(scope="module")
def dumps(shared_schema, tmp_path_factory):
    """Two dumps of a cluster, and one of another that cannot be read."""
    folder = tmp_path_factory.mktemp("dumps")
    dumped(folder, "a/1", "a", DAY)
    dumped(folder, "a/2", "a", NEXT_DAY)
    put(folder, "b/1/s.json", small_json()[:-40])
    return folder


def test_from_dumps_to_an_overview(lake, shared_schema, dumps, capsys):
    schema, place = shared_schema, f"table:{shared_schema}"

    def fleet(command, *words):
        outcome = run(capsys, "fleet", command, *words, "-o", place, "--format", "json")
        assert outcome.code in {0, 3}, outcome.err
        return outcome.document

    first, second = fleet("ingest", dumps), fleet("ingest", dumps)
    scored = fleet("score", place)
    again = run(capsys, "fleet", "score", place, "-o", place)
    fleet("trends", place)
    planned = fleet("plan", place, "--since", DAY, "--until", "2026-11-22T00:00:00Z")
    changed = fleet("changes", place, "--plans", place)
    (row,) = fleet("overview", place, "--trends", place, "--changes", place)["clusters"]

    assert (first["snapshots"], first["refused"], first["rejects"]) == (2, 1, 1)
    assert (first["read"], second["read"]) == (3, 0)
    assert (len(scored["snapshots"]), again.code) == (2, 0)
    assert again.err.startswith(f"nothing new: {place}")
    found = by_place(scores_of(lake, schema))
    assert not differences(
        in_memory([snapshot("a", DAY), snapshot("a", NEXT_DAY)]), found
    )
    assert (
        len(planned["plans"]) == len(changed["drift"]) == len(changed["changes"]) == 1
    )
    assert (row["cluster_id"], row["growth_bytes_per_day"]) == ("a", 0)
    assert row["moved_bytes_since"] == 0
    written = ("plans", "changes", "drift", "trends", "balance", "overview")
    for name in (*OF_SNAPSHOTS, *written):
        rows = rows_of(lake, f"{schema}.{name}")
        assert rows
        assert {each["version"] for each in rows} == {1}
        assert lost_in(rows, CONTRACTS[name]) == set()
        assert comments_of(lake, f"{schema}.{name}") >= {"Cluster of the snapshot."}
        # Snapshots are claimed, and listed in the end.
        commits = 2 if name == "commits" else 1
        assert len(commits_of(lake, f"{schema}.{name}")) == commits
    assert layout_of(lake, f"{schema}.scores") in LAYOUTS
    (reject,) = rows_of(lake, f"{schema}.rejects")
    assert (reject["dump"], reject["scope"]) == ("b/1", "snapshot")


def test_a_snapshot_is_replaced_whole(lake, shared_schema, dumps, monkeypatch):
    from planner.spark import open_fleet
    from planner.spark.ingest.dump_ingest import ingest_dumps
    from planner.spark.output import destination

    def ingest():
        return ingest_dumps(lake, str(dumps), f"table:{shared_schema}")

    def opened():
        return open_fleet(lake, f"table:{shared_schema}")

    def hosts(fleet):
        rows = fleet.brokers.select("taken_at", "host").collect()
        return {(row["taken_at"].day, row["host"]) for row in rows}

    # What the test before it has taken in is there; run alone, this does.
    ingest()
    before = opened()
    brokers = [each | {"host": "new"} for each in small_document()["brokers"]]
    dumped(dumps, "a/1", "a", DAY, brokers=brokers)
    whole = destination.merge_rows

    def killed(rows, schema, contract, *words):
        if contract.name == "log_dirs":
            raise KeyboardInterrupt
        return whole(rows, schema, contract, *words)

    with monkeypatch.context() as patched:
        patched.setattr(destination, "merge_rows", killed)
        with pytest.raises(KeyboardInterrupt):
            ingest()
    meanwhile = opened()
    ingest()

    # Who opened it before reads on what was there; who does now sees one or none.
    assert hosts(before) == {(21, None), (22, None)}
    assert hosts(meanwhile) == {(22, None)}
    there = meanwhile.partitions.select("taken_at").distinct().collect()
    assert [row["taken_at"].day for row in there] == [22]
    assert hosts(opened()) == {(21, "new"), (22, None)}
    assert days_in(lake, f"{shared_schema}.commits") == [21, 22]


def test_a_fleet_of_others_without_newer_columns(lake, schema):
    from planner.spark import scores
    from planner.spark.io.fleet_opening import fleet_of_snapshots

    kind = "iceberg" if schema.startswith("ice") else "delta"
    given = fleet_of_snapshots(lake, [snapshot("a", DAY)])
    for name, rows in given.tables().items():
        older = rows.drop("tags", "broker_set", "remote_bytes", "elr", "controllers")
        older.writeTo(f"{schema}.{name}").using(kind).create()

    found = by_place(scores(lake, f"table:{schema}").toArrow())

    assert not differences(in_memory([snapshot("a", DAY)]), found)


def test_a_schema_without_a_fleet(lake, schema, tmp_path, capsys):
    found = run(capsys, "fleet", "score", f"table:{schema}", "-o", tmp_path / "out")

    assert (found.code, found.out) == (2, "")
    assert f"table:{schema} is not a fleet" in found.err
