"""Skew of keys on Spark: the figures are those without Spark."""

import json
from itertools import count as numbers

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import planner
import planner.spark
from keys.test_skew import skew_of
from planner.errors import BadInputError
from planner.keys.formats.read_sample import read_sample
from planner.keys.keys_request import SkewRequest
from planner.keys.sample_options import SampleOptions
from planner.keys.skew_document import skew_document
from support.commands import run

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("default")]

NAMES = ("default", "consistent-random", "sarama")
SAMPLES = numbers()


def on_spark(spark, path, count, *names, sweep=None, num_hot=10, **options):
    from planner.spark.keys.key_skew import skew_on_spark

    request = SkewRequest(
        partitions=count, partitioners=names, sweep=sweep, num_hot=num_hot
    )
    return skew_document(
        skew_on_spark(spark, str(path), SampleOptions(**options), request)
    )


def comparable(document, *, with_keys=True):
    """Return a document without what may differ: notes, and ties of hot keys."""
    kept = {k: v for k, v in document.items() if k not in {"notes", "placed_as"}}
    for each in (kept, *kept["compared"]):
        name = "hot_keys" if "hot_keys" in each else "examples"
        listed = each[name]
        each[name] = (
            sorted(listed, key=lambda one: (-one["records"], str(one["key"])))
            if with_keys
            else [one["records"] for one in listed]
        )
    return kept


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    keys=st.lists(st.sampled_from(["", "a", "é", *"bcdefgh"]), min_size=1, max_size=60),
    count=st.integers(1, 9),
    has_sizes=st.booleans(),
    schema=st.none() | st.integers(0, 2**31 - 1),
)
def test_figures_are_those_without_spark(
    spark, tmp_path, keys, count, has_sizes, schema
):
    columns = {"key": keys} | ({"bytes": list(range(len(keys)))} if has_sizes else {})
    path = tmp_path / f"s{next(SAMPLES)}.parquet"
    pq.write_table(pa.table(columns), path)
    options = {"schema_id": schema}

    found = on_spark(spark, path, count, *NAMES, sweep="2-4", num_hot=20, **options)

    sample = read_sample(path, SampleOptions(**options))
    alone = skew_of(sample, count, *NAMES, sweep="2-4", num_hot=20)
    empty = keys.count("") if schema is None else 0
    # Empty keys of `consistent-random` are drawn without Spark, spread evenly with it.
    for document in (found, alone):
        if empty:
            document["compared"][0].pop("max_over_mean")
    assert comparable(found) == comparable(alone)


@pytest.mark.parametrize(
    ("key_type", "column"),
    [
        ("int", ["7", "07", "-1", "7"]),
        ("long", pa.array([7, 8, 7, -(2**40)], pa.int64())),
        (
            "uuid",
            [
                "6b29fc40-ca47-1067-b31d-00dd010662da".upper(),
                "6B29FC40CA471067B31D00DD010662DA",
            ],
        ),
        ("bytes", [b"\xff\0", b"", b"\xff\0"]),
        ("base64", ["AAEC", "AAEC", "AA=="]),
        ("hex", ["00ff", "00FF", "", None]),
        ("avro-string", ["a", "", "é" * 70, None, "a"]),
        ("avro-long", ["-1", "-01", "300", None]),
        ("string", pa.array([7, 8, 7], pa.int32())),
        ("bytes", pa.array([b"ab", b"cd", b"ab"], pa.binary(2))),
    ],
)
def test_types_of_keys_are_those_without_spark(spark, tmp_path, key_type, column):
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": column}), path)

    # It takes no key for an empty one, and so places every record.
    found = on_spark(spark, path, 5, "murmur2", key_type=key_type)

    sample = read_sample(path, SampleOptions(key_type=key_type))
    assert comparable(found) == comparable(skew_of(sample, 5, "murmur2"))


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    keys=st.lists(st.sampled_from(["", "a", "b", "c", None]), min_size=1, max_size=40),
    count=st.integers(1, 9),
)
def test_records_without_keys_that_share_a_partition_are_as_without_spark(
    spark, tmp_path, keys, count
):
    """These clients take no key for an empty one."""
    path = tmp_path / f"n{next(SAMPLES)}.parquet"
    column = pa.array(keys, pa.string())
    pq.write_table(pa.table({"key": column, "bytes": [5] * len(keys)}), path)
    names = ("consistent", "murmur2", "fnv1a")

    found = on_spark(spark, path, count, *names, sweep="2-4", num_hot=20)

    alone = skew_of(
        read_sample(path, SampleOptions()), count, *names, sweep="2-4", num_hot=20
    )
    assert comparable(found) == comparable(alone)


@pytest.mark.parametrize("is_table", [False, True], ids=["orc", "table"])
def test_other_formats_of_spark_give_the_figures_of_parquet(spark, tmp_path, is_table):
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": [*"abca", None], "bytes": [1, 2, 3, 4, 5]}), path)
    rows = spark.read.parquet(str(path))
    kind = None
    if is_table:
        rows.write.saveAsTable("sampled_keys", path=str(tmp_path / "table"))
        other = "table:sampled_keys"
    else:
        kind, other = "orc", tmp_path / "orc"
        rows.write.orc(str(other))

    found = on_spark(spark, other, 3, "consistent", sample_format=kind)

    if is_table:
        spark.sql("drop table sampled_keys")
    expected = on_spark(spark, path, 3, "consistent")
    for document in (found, expected):
        document["sample"].pop("source")
    assert comparable(found) == comparable(expected)
    alone = skew_of(read_sample(path, SampleOptions()), 3, "consistent")
    alone["sample"].pop("source")
    assert comparable(expected) == comparable(alone)


OWN = """
def by_length(key, count):
    return len(key or b"") % count

def fails(key, count):
    return 1 // 0
"""


@pytest.fixture(scope="module")
def own_module(spark, tmp_path_factory):
    """A module of the user, which tasks have too."""
    folder = tmp_path_factory.mktemp("own")
    path = folder / "own_partitioners.py"
    path.write_text(OWN)
    spark.sparkContext.addPyFile(str(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield "own_partitioners"


def test_a_partitioner_of_the_user_runs_in_tasks(spark, tmp_path, own_module):
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": ["a", "bb", "cc", "ddd", None]}), path)
    name = f"{own_module}:by_length"

    found = on_spark(spark, path, 3, name, "default")

    alone = skew_of(read_sample(path, SampleOptions()), 3, name, "default")
    alone["compared"][0].pop("max_over_mean")
    found["compared"][0].pop("max_over_mean")
    assert comparable(found) == comparable(alone)


def test_a_partitioner_of_the_user_that_fails_is_one_line(spark, tmp_path, own_module):
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": [f"k{n}" for n in range(100)]}), path)

    with pytest.raises(BadInputError) as caught:
        on_spark(spark, path, 3, f"{own_module}:fails")

    (problem,) = caught.value.problems
    assert (problem.file, problem.place) == ("command line", "--partitioner")
    assert problem.rule.startswith(f"{own_module}:fails raised ZeroDivisionError for b")
    with pytest.raises(BadInputError) as alone:
        skew_of(read_sample(path, SampleOptions()), 3, f"{own_module}:fails")
    assert caught.value.message == alone.value.message


def test_a_partitioner_that_tasks_do_not_have_is_one_line(spark, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": ["a", "b"]}), path)

    with pytest.raises(BadInputError) as caught:
        on_spark(spark, path, 3, "only_here:by_length")

    (problem,) = caught.value.problems
    assert "a task of Spark cannot load a partitioner" in problem.rule
    assert "No module named 'only_here'" in problem.rule


@pytest.mark.parametrize("encoding", ["us-ascii", "iso-8859-1", "utf-16", "UTF8"])
def test_texts_that_an_encoding_makes_alike_are_one_key(spark, tmp_path, encoding):
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": ["é", "ü", "é", "€", "a", "", None]}), path)

    found = on_spark(spark, path, 5, "fnv1a", encoding=encoding)

    sample = read_sample(path, SampleOptions(encoding=encoding))
    assert comparable(found) == comparable(skew_of(sample, 5, "fnv1a"))


def test_records_without_keys_are_spread_evenly(spark, tmp_path):
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": ["a", None, None, None, None]}), path)

    found = on_spark(spark, path, 2, "default")

    assert found["sample"]["null_keys"] == 4
    assert sorted(row["records"] for row in found["partitions"]) == [2, 3]
    assert found["hot_keys"][0] | {"share": 0} == {
        "key": None,
        "records": 4,
        "share": 0,
        "partition": None,
        "error": 0,
        "low": None,
        "high": None,
    }
    assert any("spread evenly" in note for note in found["notes"])


def test_many_keys_in_many_tasks_are_counted_exactly(spark, tmp_path):
    rng = np.random.default_rng(2)
    keys = rng.zipf(1.3, 200_000) % 50_000
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": keys}), path)

    found = on_spark(spark, path, 12, "default", "fnv1a", num_hot=50, key_type="long")

    sample = read_sample(path, SampleOptions(key_type="long"))
    alone = skew_of(sample, 12, "default", "fnv1a", num_hot=50)
    assert comparable(found, with_keys=False) == comparable(alone, with_keys=False)


@pytest.mark.parametrize(
    ("key_type", "most"), [("string", 2 * (2 + 3 + 10 + 1 + 10)), ("int", 2 * 10)]
)
def test_the_driver_receives_no_more_rows_with_more_keys(spark, key_type, most):
    """A task sends sums and hottest keys, or its first wrong keys; there are two."""
    counts = [collected_rows(spark, n, key_type) for n in (1000, 30_000)]

    assert counts[0] == counts[1] <= most


def collected_rows(spark, num_keys, key_type):
    """Return the rows of all tasks for as many distinct keys, which are no integers."""
    from planner.spark.keys.distinct_sums import SumTask
    from planner.spark.keys.key_skew import sum_distinct
    from planner.spark.keys.read_keys import distinct_rows

    rows = spark.range(num_keys).selectExpr("concat('k', id) as key")
    options = SampleOptions(key_type=key_type)
    task = SumTask(names=["default", "fnv1a"], num_partitions=6, has_sizes=False)
    found = sum_distinct(distinct_rows(rows, options), task, options)
    return sum(map(len, found.values()))


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("k.csv", 'key,bytes\na,1\n"",2\nb,3\na,4\n', None),
        ("k.jsonl", '{"key":"a","bytes":1}\n{"key":"b","bytes":2}\n', None),
        ("k.txt", "a\nb\n\na\n", None),
        ("k", "a\nb\na\n", "text"),
    ],
)
def test_formats_are_read_as_without_spark(spark, tmp_path, name, text, kind):
    path = tmp_path / name
    path.write_text(text)

    found = on_spark(spark, path, 3, "default", sample_format=kind)

    sample = read_sample(path, SampleOptions(sample_format=kind))
    assert comparable(found) == comparable(skew_of(sample, 3, "default"))


@pytest.mark.parametrize(
    ("column", "options", "rule"),
    [
        pytest.param(["7", "x"], {"key_type": "int"}, "must be an integer", id="type"),
        pytest.param(["abc"], {"most_bytes": 2}, "must fit", id="too-long"),
        pytest.param([1], {}, "depend on the producer", id="numbers"),
        pytest.param([1.5], {}, "must be text", id="fractions"),
        pytest.param(pa.array([], pa.string()), {}, "at least one", id="empty"),
        pytest.param(["a"], {"key_column": "id"}, "no column id", id="no-column"),
        pytest.param(["a"], {"topic": "u"}, "another topic", id="topic"),
        pytest.param(
            ["a"], {"sample_format": "no-such"}, "cannot read it", id="format"
        ),
    ],
)
def test_bad_samples_are_refused(spark, tmp_path, column, options, rule):
    path = tmp_path / "keys.parquet"
    topics = pa.array(["t"] * len(column), pa.string())
    pq.write_table(pa.table({"key": column, "topic": topics}), path)

    with pytest.raises(BadInputError) as caught:
        on_spark(spark, path, 3, "default", **options)

    assert rule in caught.value.problems[0].rule


@pytest.mark.parametrize(
    ("name", "data", "rule"),
    [
        pytest.param(
            "k.jsonl", b'{"key":1}\n{"key":"a"}\n', "mixes types", id="mixed-types"
        ),
        pytest.param(
            "k.jsonl", b'{"key":"a"}\n{"key":{"id":1}}\n', "no text", id="objects"
        ),
        pytest.param(
            "k.jsonl", b'{"key":"a"}\n{"key"\n', "cannot read it", id="broken-json"
        ),
        pytest.param(
            "k.csv", b"key,bytes\na,1\nb,2,3\n", "cannot read it", id="ragged-csv"
        ),
        pytest.param("k.parquet", b"PAR1 no", "cannot read it", id="no-parquet"),
        pytest.param("k.txt", b"a\n\xff\n", "is not UTF-8 at byte 0", id="no-text"),
        pytest.param("k.txt", b"", "at least one record", id="empty"),
    ],
)
def test_files_that_hold_no_keys_are_refused_by_the_command(
    spark, tmp_path, capsys, name, data, rule
):
    (tmp_path / name).write_bytes(data)
    words = ("keys", "skew", tmp_path / name, "--partitions", 3, "--spark")

    outcome = run(capsys, *words)

    assert (outcome.code, outcome.out) == (2, ""), outcome.err
    assert rule in " ".join(outcome.err.split())


@pytest.mark.parametrize("size", [None, -1, 1.5])
def test_records_without_a_size_that_can_be_are_refused(spark, tmp_path, size):
    path = tmp_path / "keys.parquet"
    sizes = pa.array([1, size], pa.float64() if size == 1.5 else pa.int64())
    pq.write_table(pa.table({"key": ["a", "b"], "bytes": sizes}), path)

    with pytest.raises(BadInputError) as caught:
        on_spark(spark, path, 3, "default")

    assert "every record" in caught.value.problems[0].rule


def test_the_command_prints_the_same_document(spark, tmp_path, capsys):
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": list("abca")}), path)
    words = ("keys", "skew", path, "--partitions", 3, "--format", "json")

    with_spark = run(capsys, *words, "--spark")
    without = run(capsys, *words)

    assert with_spark.code == 0, with_spark.err
    assert comparable(json.loads(with_spark.out)) == comparable(without.document)
    refused = run(capsys, "keys", "skew", "--partitions", 3, "--spark")
    assert refused.code == 2


def test_python_gives_the_same_document_with_a_session(spark, tmp_path):
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": list("abca")}), path)

    with_spark = planner.keys_skew(path, partitions=3, sweep=[2, 4], spark=spark)
    without = planner.keys_skew(path, partitions=3, sweep=[2, 4])

    assert comparable(dict(with_spark.document)) == comparable(dict(without.document))
    assert planner.spark.skew_on_spark.__name__ == "skew_on_spark"
    with pytest.raises(BadInputError, match="cannot read it"):
        planner.keys_skew(tmp_path / "no-such", partitions=3, spark=spark)
