"""Samples with more keys than counters: SpaceSaving, distinct keys, exact shares."""

import re
from collections import Counter
from itertools import count as numbers

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import planner
from assignment.partitioners.key_column import KeyColumn
from keys.test_skew import skew_of
from planner.errors import BadInputError
from planner.keys.formats.read_sample import read_sample
from planner.keys.keys_request import SkewRequest
from planner.keys.keys_screen import skew_screen
from planner.keys.sample_options import SampleOptions
from planner.keys.skew_document import skew_document
from planner.keys.streamed import stream_skew
from planner.keys.streamed.distinct_count import DistinctCount, hashes_of
from planner.keys.streamed.space_saving import SpaceSaving
from support.commands import run

SAMPLES = numbers()
BATCHES = st.lists(
    st.dictionaries(st.sampled_from("abcdefghij"), st.integers(1, 20), max_size=6),
    max_size=30,
)
NAMES = ("default", "consistent-random", "sarama")


def sketch_of(batches, most):
    sketch = SpaceSaving(most)
    for batch in batches:
        keys = pa.array([key.encode() for key in batch], pa.large_binary())
        sketch.add(keys, np.array(list(batch.values()), np.int64))
    return sketch


@settings(max_examples=300)
@given(BATCHES, st.integers(1, 12))
def test_true_counts_are_within_the_error(batches, most):
    true = sum((Counter(batch) for batch in batches), Counter())
    total = sum(true.values())

    sketch = sketch_of(batches, most)

    held = sketch.hottest(most)
    assert len({each.key for each in held}) == len(held) <= most
    for each in held:
        assert each.count - each.error <= true[each.key.decode()] <= each.count
        assert each.error <= sketch.threshold
    # Every heavy hitter has a counter, and the rest is at most the threshold.
    assert sketch.threshold * (most + 1) <= total
    names = {each.key.decode() for each in held}
    assert all(true[key] <= sketch.threshold for key in set(true) - names)
    assert {k for k, n in true.items() if n * (most + 1) > total} <= names


@given(BATCHES)
def test_with_counters_for_all_keys_the_counts_are_exact(batches):
    true = sum((Counter(batch) for batch in batches), Counter())

    sketch = sketch_of(batches, 10)

    assert sketch.threshold == 0
    assert {e.key.decode(): e.count for e in sketch.hottest(10)} == dict(true)


@given(BATCHES, st.integers(0, 6))
def test_the_hottest_are_sorted_by_count_and_key(batches, top):
    sketch = sketch_of(batches, 8)

    every = sketch.hottest(8)

    order = sorted(every, key=lambda each: (-each.count, each.key))
    assert sketch.hottest(top) == order[:top]


@pytest.mark.parametrize("size", [0, 3, 4095, 20_000, 300_000])
def test_distinct_keys_are_estimated(size):
    found = DistinctCount()
    for first in range(0, size, 7_000):
        last = min(first + 7_000, size)
        # Each batch repeats the keys of the one before.
        keys = [b"user-%d" % n for n in range(max(first - 7_000, 0), last)]
        found.add(hashes_of(KeyColumn.of(keys)))

    assert found.is_exact == (size < 4096)
    error = 0 if found.is_exact else 5 * 0.016 * size
    assert abs(found.count() - size) <= error


def streamed(path, count, *names, most=10**6, sweep=None, **options):
    request = SkewRequest(partitions=count, partitioners=names, sweep=sweep)
    reading = SampleOptions(**options)
    return skew_document(
        stream_skew.stream_skew(path, reading, request.options(), most)
    )


def comparable(document):
    """Return a document without notes, and ties of hot keys in one order."""
    kept = {k: v for k, v in document.items() if k not in {"notes", "placed_as"}}
    for row in (kept, *kept["compared"]):
        name = "hot_keys" if "hot_keys" in row else "examples"
        row[name] = sorted(row[name], key=lambda one: (-one["records"], one["key"]))
    return kept


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    keys=st.lists(st.sampled_from(["a", "é", *"bcdefgh"]), min_size=1, max_size=60),
    count=st.integers(1, 9),
    has_sizes=st.booleans(),
    schema=st.none() | st.integers(0, 2**31 - 1),
)
def test_figures_are_those_of_the_whole_sample(
    tmp_path, keys, count, has_sizes, schema
):
    columns = {"key": keys} | ({"bytes": list(range(len(keys)))} if has_sizes else {})
    path = tmp_path / f"s{next(SAMPLES)}.parquet"
    # Several batches, which repeat keys.
    pq.write_table(pa.table(columns), path, row_group_size=7)
    options = {"schema_id": schema}

    found = streamed(path, count, *NAMES, sweep="2-4", **options)

    sample = read_sample(path, SampleOptions(**options))
    alone = skew_of(sample, count, *NAMES, sweep="2-4")
    assert comparable(found) == comparable(alone)


def test_shares_stay_exact_with_few_counters(tmp_path):
    rng = np.random.default_rng(4)
    keys = rng.zipf(1.2, 300_000) % 100_000
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"key": keys}), path, row_group_size=20_000)
    sample = read_sample(path, SampleOptions(key_type="long"))
    alone = skew_of(sample, 12, "default", "fnv1a", num_hot=500)

    found = streamed(path, 12, "default", "fnv1a", most=500, key_type="long")

    assert found["partitions"] == alone["partitions"]
    assert found["max_over_mean"] == alone["max_over_mean"]
    assert abs(found["sample"]["keys"] / alone["sample"]["keys"] - 1) < 0.08
    other, whole = found["compared"][0], alone["compared"][0]
    assert other["records_apart"] == whole["records_apart"]
    assert abs(other["keys_apart"] / whole["keys_apart"] - 1) < 0.08
    true = {row["key"]: row["records"] for row in alone["hot_keys"]}
    for row in found["hot_keys"]:
        assert row["records"] - row["error"] <= true[row["key"]] <= row["records"]
    assert 1 <= found["least_max_over_mean"] <= alone["least_max_over_mean"]
    (note,) = [each for each in found["notes"] if "estimate" in each]
    assert note.startswith("more than 500 distinct keys")


def test_records_without_keys_are_spread_evenly(tmp_path):
    path = tmp_path / "k.jsonl"
    path.write_text('"a"\nnull\nnull\nnull\nnull\n')

    found = streamed(path, 2, "default")

    assert sorted(row["records"] for row in found["partitions"]) == [2, 3]
    assert found["hot_keys"][0]["key"] is None
    assert found["hot_keys"][0]["records"] == 4
    assert found["sample"]["null_keys"] == 4
    assert found["sample"]["keys"] == 1


@pytest.mark.parametrize(
    ("text", "options", "rule"),
    [
        pytest.param("", {}, "at least one record", id="empty"),
        pytest.param("7\nx\n", {"key_type": "int"}, "must be an integer", id="type"),
        pytest.param("abc\n", {"most_bytes": 2}, "must fit", id="too-long"),
        pytest.param("a\n", {"key_type": "no"}, "must be one of", id="options"),
    ],
)
def test_bad_samples_are_refused(tmp_path, text, options, rule):
    path = tmp_path / "k.txt"
    path.write_text(text)

    with pytest.raises(BadInputError) as caught:
        streamed(path, 3, "default", **options)

    assert rule in caught.value.problems[0].rule


def test_the_command_and_python_take_the_number_of_counters(tmp_path, capsys):
    path = tmp_path / "k.txt"
    path.write_text("".join(f"user-{n % 50}\n" for n in range(500)) + "hot\n" * 99)
    words = ("keys", "skew", path, "--partitions", 3, "--max-keys", 10)

    outcome = run(capsys, *words)
    document = run(capsys, *words, "--format", "json").document

    assert outcome.code == 0, outcome.err
    assert "more than 10 distinct keys" in outcome.out.replace("\n           ", " ")
    assert document["hot_keys"][0]["key"] == "hot"
    found = planner.keys_skew(path, partitions=3, max_keys=10)
    assert found.document == document
    with pytest.raises(BadInputError, match="not counted"):
        planner.keys_skew(["a"], partitions=3, max_keys=10)


def test_a_count_that_may_be_too_large_is_shown_by_its_bounds(tmp_path):
    keys = ["a", "b", "c", "d"] * 3 + ["e"] * 5
    path = tmp_path / "k.parquet"
    pq.write_table(pa.table({"key": keys}), path, row_group_size=2)

    document = streamed(path, 3, "default", most=2)

    row = next(each for each in document["hot_keys"] if each["error"])
    shown = f"{row['key']} +{row['records'] - row['error']} to {row['records']} "
    assert re.search(shown, "\n".join(skew_screen(document)))


@pytest.mark.parametrize(
    "more",
    [("k.txt", "--spark"), ("--bootstrap-server", "h:1", "--topic", "t")],
    ids=["spark", "live"],
)
def test_counters_are_for_files(capsys, more):
    outcome = run(capsys, "keys", "skew", "--partitions", 3, "--max-keys", 5, *more)

    assert outcome.code == 2
    assert "is for samples in files" in outcome.err
    assert not outcome.out
