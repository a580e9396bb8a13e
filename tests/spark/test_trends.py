"""Trends on Spark are those of the rows in memory; screens and changes of balance."""

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pyarrow as pa
import pytest

from placement.score import score_cluster
from planner.cli.fleet.fleet_trends import days_text, print_soonest
from planner.fleet.cluster_trends import NEEDED, trend_table
from planner.score.make_score import Scored
from planner.score.score_tables import score_table
from planner.snapshot import Snapshot
from planner.spark.reports.fleet_overview import forecasts
from planner.spark.reports.fleet_trends import balance_changes, soonest, trends
from support.commands import run
from support.plans import skewed_document

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
START = datetime(2026, 11, 1, tzinfo=UTC)


def grown(day, cluster_id="a", num_brokers=6):
    """A cluster whose partitions grow by a tenth of themselves a day, some by more."""
    document = skewed_document(num_brokers=num_brokers)
    for number, topic in enumerate(document["topics"]):
        for partition in topic["partitions"]:
            partition["size_bytes"] *= 10 + (number + 1) * day
    for broker in document["brokers"]:
        for log_dir in broker["log_dirs"]:
            log_dir["size_bytes"] *= 10
    taken_at = f"{START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"
    return document | {"cluster_id": cluster_id, "taken_at": taken_at}


def scores_of(documents):
    scored = [
        Scored(
            score=score_cluster(Snapshot.from_document(document).to_state()),
            cluster_id=document["cluster_id"],
            taken_at=document["taken_at"],
            data_age_s=None,
        )
        for document in documents
    ]
    return score_table(scored)


def places(table):
    names = ("cluster_id", "level", "rack", "broker", "log_dir", "topic", "resource")
    return {tuple(row[name] for name in names): row for row in table.to_pylist()}


def test_each_place_grows_as_its_partitions_do():
    days = [0, 1, 2, 4, 7, 8]
    scores = scores_of([grown(day) for day in days])

    found = places(trend_table(scores))

    size = {
        topic["name"]: sum(
            p["size_bytes"] * len(p["replicas"]) for p in topic["partitions"]
        )
        for topic in skewed_document()["topics"]
    }
    for name, factor in (("a", 1), ("b", 2)):
        row = found["a", "topic", None, None, None, name, "disk"]
        assert row["growth_per_day"] == pytest.approx(size[name] * factor)
        assert row["growth_low"] == pytest.approx(row["growth_high"])
        assert row["points"] == len(days)
        assert (row["taken_at"] - row["since"]).days == 8
    rows = [
        row for key, row in found.items() if key[1] == "broker" and key[-1] == "disk"
    ]
    assert len(rows) == 6
    for row in rows:
        left = row["capacity"] - row["value"]
        if row["growth_per_day"] > 0:
            assert row["days_until_full"] == pytest.approx(left / row["growth_per_day"])
            soon = row["days_until_threshold"]
            assert soon < row["days_until_full"]
            assert row["days_until_threshold_low"] == pytest.approx(soon)
        else:
            assert row["days_until_full"] is None
    replicas = found["a", "cluster", None, None, None, None, "replicas"]
    assert (replicas["growth_per_day"], replicas["capacity"]) == (0, None)


def test_what_is_gone_has_no_trend_and_what_is_new_few_points():
    scores = scores_of([grown(0, num_brokers=8), *(grown(day) for day in (1, 2))])

    found = [r for r in trend_table(scores).to_pylist() if r["level"] == "broker"]

    assert {row["broker"] for row in found} == set(range(1, 7))
    assert {row["days_until_full_low"] for row in found} <= {None, 0.0}


def test_growth_without_an_interval_bounds_no_days():
    # Of five points the interval of 95 % has no ends.
    found = places(trend_table(scores_of([grown(day) for day in range(5)])))

    rows = [
        row
        for key, row in found.items()
        if key[1] == "broker" and key[-1] == "disk" and row["days_until_full"]
    ]
    assert rows
    for row in rows:
        assert (row["growth_low"], row["growth_high"]) == (None, None)
        assert row["days_until_full_low"] is row["days_until_full_high"] is None


def test_one_snapshot_has_values_alone():
    (row,) = [
        row
        for row in trend_table(scores_of([grown(0)])).to_pylist()
        if row["level"] == "cluster" and row["resource"] == "disk"
    ]

    assert row["value"] > 0
    assert (row["points"], row["growth_per_day"]) == (1, None)
    assert len(trend_table(scores_of([]))) == 0


def test_trends_on_spark_are_the_same(spark, tmp_path, capsys):
    documents = [grown(day) for day in (0, 1, 2, 3, 5)]
    documents += [grown(day, "b", 7) for day in (0, 2)]
    scores = scores_of(documents)
    table = spark.createDataFrame(scores.combine_chunks())

    found = places(trends(table).toArrow())

    alone = [scores.filter(pa.compute.equal(scores["cluster_id"], c)) for c in "ab"]
    expected = places(pa.concat_tables([trend_table(each) for each in alone]))
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        for name, value in row.items():
            if isinstance(value, float):
                assert found[key][name] == pytest.approx(value, rel=1e-9), (key, name)
            else:
                assert found[key][name] == value, (key, name)
    assert set(NEEDED) <= set(scores.column_names)
    check_changes(table, scores)
    check_command(table, tmp_path, capsys)


def check_changes(table, scores):
    clusters = [
        r
        for r in scores.to_pylist()
        if (r["level"], r["resource"], r["cluster_id"]) == ("cluster", "disk", "a")
    ]
    rows = balance_changes(table).where("resource = 'disk' and cluster_id = 'a'")
    found = {row["taken_at"].timestamp(): row for row in rows.collect()}
    assert len(found) == len(clusters) - 1
    for before, after in pairwise(clusters):
        row = found[after["taken_at"].timestamp()]
        assert row["cv_change"] == pytest.approx(after["cv"] - before["cv"])
        assert row["before"].timestamp() == before["taken_at"].timestamp()


def check_command(table, tmp_path, capsys):
    folder, out = tmp_path / "scores-of-fleet", tmp_path / "out"
    table.write.parquet(str(folder / "scores"))

    found = run(capsys, "fleet", "trends", folder, "-o", out, "--format", "json")
    text = run(capsys, "fleet", "trends", folder, "-o", out)
    none = run(capsys, "fleet", "trends", tmp_path, "-o", out)

    days = [row["days_until_threshold"] for row in found.document["soonest"]]
    assert days == sorted(days)
    assert days
    assert max(map(len, text.out.splitlines())) <= 80
    assert (none.code, "fleet score" in none.err) == (2, True)
    json.dumps(found.document)


def test_screens(capsys):
    print_soonest([])
    row = {
        f"d{end}": value for end, value in (("", 12.4), ("_low", 9.0), ("_high", None))
    }

    assert "No broker" in capsys.readouterr().out
    assert days_text(row, "d") == "12 d (9-…)"
    assert days_text(row | {"d_high": 20.0}, "d") == "12 d (9-20)"
    assert days_text(row | {"d_low": None}, "d") == "12 d"
    assert days_text(row | {"d": None}, "d") == "-"


def test_a_broker_over_its_threshold_is_shown_before_anything_grows(capsys):
    days = {
        f"{name}{end}": None
        for name in ("days_until_threshold", "days_until_full")
        for end in ("", "_low", "_high")
    }
    row = {"cluster_id": "c", "broker": 7, "resource": "disk", "points": 1}

    growth = {"growth_per_day": None, "days_until_threshold": 0.0}
    print_soonest([row | days | growth])

    (line,) = capsys.readouterr().out.splitlines()[1:]
    assert line.split() == ["c", "7", "disk", "-", "0", "d", "-", "1"]


def filling(day):
    """A cluster of which one of the log dirs fills, of a broker with much room."""
    document = grown(0)
    for broker in document["brokers"]:
        for log_dir in broker["log_dirs"]:
            log_dir["size_bytes"] *= 10
    document["topics"] = [
        {
            "name": "a",
            "partitions": [
                {
                    "partition": p,
                    "replicas": [p + 1],
                    "log_dirs": ["/d1"],
                    "size_bytes": 1000 + (p == 0) * 10_000 * day,
                }
                for p in range(6)
            ],
        }
    ]
    taken_at = f"{START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"
    return document | {"taken_at": taken_at}


def test_log_dirs_that_are_full_before_their_broker_come_first(spark):
    documents = [filling(day) for day in range(6)]
    table = spark.createDataFrame(scores_of(documents).combine_chunks())
    found = trends(table).cache()
    size = documents[0]["brokers"][0]["log_dirs"][0]["size_bytes"]
    left = (size - 51_000) / 10_000

    first, second = soonest(found)
    (row,) = forecasts(found).collect()

    assert (first["level"], first["broker"], first["log_dir"]) == ("log_dir", 1, "/d1")
    assert first["days_until_full"] == pytest.approx(left)
    assert (second["level"], second["broker"]) == ("broker", 1)
    assert second["days_until_full"] == pytest.approx(left + size / 10_000)
    assert row["days_until_full"] == pytest.approx(left)


def test_log_dirs_that_are_full_with_their_broker_are_not_listed_again(spark):
    table = spark.createDataFrame(
        scores_of([grown(day) for day in range(4)]).combine_chunks()
    )
    alone = [
        row
        for row in trends(table).toArrow().to_pylist()
        if row["level"] == "broker" and row["days_until_threshold"] is not None
    ]

    found = soonest(trends(table))

    assert len([row for row in found if row["level"] == "broker"]) == len(alone)
    days = {row["broker"]: row for row in alone if row["resource"] == "disk"}
    for row in found:
        if row["level"] == "log_dir":
            whole = days.get(row["broker"], {"days_until_full": None})
            assert row["days_until_full"] < (whole["days_until_full"] or float("inf"))


def test_the_line_of_a_log_dir_names_it(capsys):
    days = {
        f"{name}{end}": 1.0
        for name in ("days_until_threshold", "days_until_full")
        for end in ("", "_low", "_high")
    }
    row = {"cluster_id": "c", "broker": 7, "resource": "disk", "points": 4}

    print_soonest([row | days | {"growth_per_day": 5.0, "log_dir": "/data/d1"}])
    print_soonest([row | days | {"growth_per_day": 5.0, "log_dir": "/mnt/" + "x" * 90}])

    short, _, long = capsys.readouterr().out.splitlines()[1:]
    assert short.split()[1] == "7:/data/d1"
    assert len(long) <= 80
