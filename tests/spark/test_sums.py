"""Partitions added up chunk by chunk give the score of the whole, without Spark."""

import pickle
from collections import Counter
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.fleet.arrow_tables import EPOCH, snapshot_tables
from planner.kafka_releases import caps_min_isr
from planner.score.score_tables import LEVELS
from planner.score.score_tables import SCHEMA as SCORES
from planner.snapshot import Snapshot
from planner.snapshot.tables.snapshot_columns import PARTITIONS
from planner.spark.common.snapshot_headers import header_of
from planner.spark.scoring.broadcast.broadcast_tables import Grounds
from planner.spark.scoring.broadcast.topic_settings import min_isr_of, said_of
from planner.spark.scoring.map_side.row_sums import Adding
from planner.spark.scoring.reduce_side.balance_scores import ScoreSettings
from planner.spark.scoring.reduce_side.reduce_snapshots import (
    REFUSED,
    WARNED,
    judging,
    scoring,
    telling,
)
from planner.spark.scoring.reduce_side.snapshot_problems import twice_numbered
from planner.spark.scoring.shuffle.shuffle_rows import (
    COMPLETE,
    buckets_of,
    packed,
    seeds,
    sent,
)
from planner.spark.scoring.sums.partial_sums import FOUND, NUMBERS, READ, WRONG, sums_of
from planner.spark.scoring.sums.place_sums import PlaceSums
from support.scores import by_place, differences, in_memory
from support.snapshots import documents
from support.spark import skewed_snapshot, snapshot, tamed

KEY = {"cluster_id": "c", "taken_at": "2026-11-21T08:00:00Z"}
DEFAULTS = ScoreSettings.defaults()


def grounds_in_memory(tables):
    """What Spark would collect of the tables of one snapshot."""
    key = key_of(tables)
    least = min_isr_of(tables["clusters"].column("configs"))
    header = header_of(tables["clusters"].to_pylist()[0], *key)
    is_capped = caps_min_isr(header.get("kafka_version"), header.get("features", {}))
    parts = {
        "clusters": pa.table(
            {"min_isr": pa.array(least, pa.int32()), "caps_min_isr": [is_capped]}
        ),
        "brokers": tables["brokers"].sort_by("id"),
        "log_dirs": tables["log_dirs"],
    }
    return Grounds(parts, {name: {key: (0, len(t))} for name, t in parts.items()})


def key_of(tables):
    row = tables["clusters"].to_pylist()[0]
    micros = round((row["taken_at"] - EPOCH).total_seconds() * 10**6)
    return row["cluster_id"], micros


def parcels_of(tables, grounds, size):
    """Add the partitions up in tasks of so many."""
    rows = tables["partitions"].select(list(READ))
    pieces = [rows.slice(at, size) for at in range(0, max(len(rows), 1), size)]
    key, nothing = key_of(tables), FOUND.empty_table()
    for piece in pieces:
        adding = Adding(grounds, lambda *_: (said_of(tables["topics"]), nothing))
        yield from adding.take(key, piece)
        yield from adding.end()


def parcels_of_one_task(tables, grounds, size):
    """Add the partitions up in one task, so many at a time."""
    rows = tables["partitions"].select(list(READ))
    adding = Adding(
        grounds, lambda *_: (said_of(tables["topics"]), FOUND.empty_table())
    )
    for at in range(0, max(len(rows), 1), size):
        yield from adding.take(key_of(tables), rows.slice(at, size))
    yield from adding.end()


def scored_in_chunks(snapshot, size, parcels_of=parcels_of):
    tables = snapshot_tables(snapshot, name="c")
    grounds = grounds_in_memory(tables)
    parcels = [*parcels_of(tables, grounds, size), *other_parcels(tables, grounds)]

    judged = judging(grounds, DEFAULTS)(sent(parcels))
    batches = list(scoring(LEVELS)(in_one(judged)))
    return by_place(pa.Table.from_batches(batches, SCORES))


def in_one(batches):
    """Rows as Spark passes them on, those of a task together; none is refused."""
    table = pa.Table.from_batches(batches)
    kinds = table.column("kind").to_pylist()
    assert REFUSED not in kinds
    is_complete = pa.repeat(pa.scalar(WARNED not in kinds), len(kinds))
    table = table.append_column(COMPLETE, is_complete)
    yield from table.combine_chunks().to_batches()


def other_parcels(tables, grounds):
    """The snapshot itself, and the names of its topics."""
    key = key_of(tables)
    names = tables["topics"].select(["topic"])
    return [*seeds([key]), *packed(key, "listed", names, buckets=grounds.buckets(key))]


@pytest.mark.not_quick
@settings(max_examples=40)
@given(
    documents().map(tamed),
    st.integers(1, 7),
    st.sampled_from([1, 128]),
)
def test_chunks_of_any_size_score_as_the_whole(document, size, brokers_of_a_bucket):
    snapshot = Snapshot.from_document(document | KEY)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "planner.spark.scoring.shuffle.shuffle_rows.BUCKET_BROKERS",
            brokers_of_a_bucket,
        )
        found = scored_in_chunks(snapshot, size)

    assert differences(in_memory([snapshot]), found) == []


def handed(grounds):
    return pickle.loads(pickle.dumps(grounds))  # noqa: S301 - its own bytes


def test_what_tasks_know_of_brokers_is_taken_apart_once():
    tables = snapshot_tables(skewed_snapshot(), name="c")
    first, second = grounds_in_memory(tables), grounds_in_memory(tables)
    (key,) = first.keys

    one, again, other = map(handed, [first, first, second])

    assert one is again
    assert one.of(key) is again.of(key)
    assert one.part("brokers", key) == first.part("brokers", key)
    assert other is not one


@settings(max_examples=40)
@given(documents().map(tamed), st.integers(1, 5), st.sampled_from([2, 6, 1 << 22]))
def test_one_task_scores_chunks_of_any_size_as_the_whole(document, size, most_places):
    # Log dirs are met one after the other, and places get their rows as they are.
    snapshot = Snapshot.from_document(document | KEY)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("planner.spark.scoring.map_side.row_sums.CHUNK_ROWS", size)
        patch.setattr(
            "planner.spark.scoring.sums.replica_lists.MOST_PLACES", most_places
        )
        found = scored_in_chunks(snapshot, size, parcels_of_one_task)

    assert differences(in_memory([snapshot]), found) == []


@pytest.mark.parametrize("size", [3, 17, 1000])
def test_skewed_topics_and_brokers_that_are_off(size):
    snapshot = skewed_snapshot()

    assert differences(in_memory([snapshot]), scored_in_chunks(snapshot, size)) == []


def test_many_places_have_rows_of_those_in_use_alone(monkeypatch):
    monkeypatch.setattr("planner.spark.scoring.sums.replica_lists.MOST_PLACES", 3)
    snapshot = skewed_snapshot()

    assert differences(in_memory([snapshot]), scored_in_chunks(snapshot, 50)) == []


@pytest.mark.slow
def test_compiled_sums_are_those_of_plain_python():
    tables = snapshot_tables(skewed_snapshot(), name="c")
    ground = grounds_in_memory(tables).of((key_of(tables),))
    rows = tables["partitions"].select(list(READ))

    said, first_row = [said_of(tables["topics"])], np.array([0, len(rows)])

    of_compiled, of_plain = PlaceSums(ground), PlaceSums(ground)

    (compiled,) = sums_of(rows, first_row, ground, said, of_compiled, is_compiled=True)

    (plain,) = sums_of(rows, first_row, ground, said, of_plain)
    assert of_compiled.tables()[0].equals(of_plain.tables()[0])
    for field in fields(plain):
        assert getattr(compiled, field.name).equals(getattr(plain, field.name))


def column(name, values):
    kind = next(c.type for c in PARTITIONS.columns if c.name == name)
    return pa.array(values, kind)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param({"replicas": [[], [2]]}, "at least one replica", id="no-replicas"),
        pytest.param({"replicas": [None, [2]]}, "must not be null", id="null"),
        pytest.param({"replicas": [[1, 1], [2]]}, "lists 1 twice", id="twice"),
        pytest.param({"replicas": [[1, None], [2]]}, "not be null", id="null-broker"),
        pytest.param({"replicas": [[1, 2**31 - 1], [2]]}, "lacks", id="stranger"),
        pytest.param({"partition": [None, 1]}, "must not be null", id="unnumbered"),
        pytest.param({"topic": ["t", None]}, "must not be null", id="no-topic"),
        pytest.param({"partition": [1, 1]}, "a partition once", id="row-twice"),
        pytest.param(
            {"log_dirs": [["/a", "/b"], None]}, "of the 1 replicas", id="dirs"
        ),
        pytest.param({"replica_bytes": [[1, 2], [1]]}, "of the 1 replicas", id="sizes"),
        pytest.param({"in_bytes_per_s": [1e18, 1e18]}, "too much", id="too-much"),
    ],
)
@pytest.mark.parametrize("size", [1, 2])
def test_rows_that_are_wrong_are_named(changed, said, size):
    plain = {"topic": ["t", "t"], "partition": [0, 1], "replicas": [[1], [2]]}
    columns = {
        name: column(name, (plain | changed).get(name, [None, None])) for name in READ
    }
    tables = snapshot_tables(snapshot(topics=[]), name="c")
    tables["partitions"] = pa.table(columns)
    grounds = grounds_in_memory(tables)

    parcels = [*parcels_of(tables, grounds, size), *other_parcels(tables, grounds)]
    judged = [*judging(grounds, DEFAULTS)(sent(parcels))]

    assert {row["kind"] for batch in judged for row in batch.to_pylist()} == {REFUSED}
    rules = {row["rule"] for batch in telling(judged) for row in batch.to_pylist()}
    assert len(rules) == 1
    assert said in rules.pop()


def numbers_of(*pieces):
    """Pieces of topics, each a list of numbers, as chunks would tell them."""
    rows = [
        {
            "topic": topic,
            "first": numbers[0],
            "last": numbers[-1],
            "numbers": None
            if numbers == list(range(numbers[0], numbers[-1] + 1))
            else numbers,
        }
        | dict.fromkeys(WRONG, 0)
        for topic, numbers in pieces
    ]
    return pa.Table.from_pylist(rows, schema=NUMBERS)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.lists(st.integers(0, 9), min_size=1, max_size=4)
            | st.tuples(st.integers(0, 9), st.integers(0, 3)).map(
                lambda ends: list(range(ends[0], ends[0] + ends[1] + 1))
            ),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_partitions_that_stand_twice_are_found_wherever_they_stand(pieces):
    counts = Counter((topic, n) for topic, numbers in pieces for n in numbers)

    found = twice_numbered(numbers_of(*pieces))

    assert found == {place: times for place, times in counts.items() if times > 1}


def test_topics_are_dealt_by_a_hash_of_their_names():
    names = pa.chunked_array([["not this one", "", "a"], ["foobar", "été"]]).slice(1)

    # The first three are test vectors of the algorithm's authors.
    expected = [0x811C9DC5, 0xE40C292C, 0xBF9CF968]
    found = buckets_of(names, 2**32).tolist()

    assert found[:3] == expected
    assert buckets_of(names, 7).tolist() == [each % 7 for each in found]
    assert buckets_of(names.take([3, 1]), 2**32).tolist() == [found[3], found[1]]
    assert buckets_of(pa.array([], pa.string()), 5).tolist() == []
