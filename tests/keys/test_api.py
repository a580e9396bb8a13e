"""Keys from Python: what is a sample, and what is refused."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import planner
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError

FRAME = {"key": ["a", "a", "b", None], "id": ["x", "y", "z", "z"]}


def hottest(sample, **options):
    document = planner.keys_skew(sample, partitions=3, **options).document
    return {one["key"]: one["records"] for one in document["hot_keys"]}


class Frame:
    """A frame as pandas has it: iterated, it yields the names of its columns."""

    columns = np.array(["key", "id"], object)

    def __iter__(self):
        return iter(self.columns)

    def __getitem__(self, name):
        return FRAME[name]


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(pa.table(FRAME), id="arrow"),
        pytest.param(pl.DataFrame(FRAME), id="polars"),
        pytest.param(Frame(), id="pandas"),
    ],
)
def test_of_a_frame_the_column_of_keys_is_taken(frame):
    assert hottest(frame) == {"a": 2, "b": 1, None: 1}
    assert hottest(frame, key_column="id") == {"x": 1, "y": 1, "z": 2}
    with pytest.raises(BadInputError, match="has no column code; its columns are: key"):
        hottest(frame, key_column="code")


@pytest.mark.parametrize(
    "sample",
    [
        pytest.param(["a", "a", "b", None], id="list"),
        pytest.param(iter(["a", "a", "b", None]), id="iterator"),
        pytest.param(pa.array(["a", "a", "b", None]), id="arrow"),
        pytest.param(pl.Series(["a", "a", "b", None]), id="polars"),
        pytest.param(np.array(["a", "a", "b", None], object), id="numpy"),
    ],
)
def test_of_a_column_each_value_is_a_key(sample):
    assert hottest(sample) == {"a": 2, "b": 1, None: 1}


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        pytest.param({"a": 2, "b": 1}, "a key per record", id="counts-by-key"),
        pytest.param(b"abc", "a key per record", id="bytes"),
        pytest.param(7, "a key per record", id="a-number"),
        pytest.param([1, 2], "give --key-type int, long or string", id="numbers"),
        pytest.param([1.5], "text, whole numbers or bytes", id="fractions"),
        pytest.param([True], "text, whole numbers or bytes", id="switches"),
        pytest.param([["a"]], "text, whole numbers or bytes", id="lists"),
    ],
)
def test_what_is_no_column_of_keys_is_refused(sample, words):
    with pytest.raises(BadInputError, match=words):
        hottest(sample)


def test_keys_that_none_is_moved_of_have_nothing_to_get_around():
    growth = planner.keys_grow(["a", "b"], old=3, new=6, partitioner="roundrobin")

    assert growth.document["ways_around"] == []
    assert growth.document["compacted"]["message"] == (
        "no key decides a partition, so that none moves"
    )
    assert "MOVED KEY" not in repr(growth)
    assert ": 2 records, 2 keys" in repr(growth)


def test_one_record_is_one():
    shown = repr(planner.keys_skew(["a", None], partitions=3))

    assert ": 2 records, 1 key\n" in shown
    assert " 1 record without a key\n" in shown


def test_a_table_without_rows_is_shown():
    table = planner.keys_skew(["a"], partitions=3).table("sweep")

    assert repr(table) == "no rows"
    assert "<table>" in table._repr_html_()
    assert len(table.to_polars()) == 0


def test_a_table_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(KeyError, match="only partitions, hot_keys, sweep"):
        planner.keys_skew(["a"], partitions=3).table("hot")


def test_python_has_the_options_of_reading_a_sample(tmp_path):
    path = tmp_path / "sample"
    path.write_text('"é"\tv\n"b"\tv\n')
    reading = {"sample_format": "console", "key_encoding": "iso-8859-1"}

    skew = planner.keys_skew(path, partitions=3, **reading)
    growth = planner.keys_grow(path, old=3, new=4, **reading, top=1)

    # Quotes and a letter of one byte each.
    assert skew.document["sample"]["keys"] == 2
    assert len(growth.document["examples"]) <= 1
    with pytest.raises(BadInputError, match="must fit into a record"):
        planner.keys_skew(["abc"], partitions=3, max_message_bytes=2)
    sized = planner.keys_skew(["a"], partitions=1, record_bytes=70)
    assert sized.document["sample"]["bytes"] == 70
    (tmp_path / "t.jsonl").write_text('{"key": "a", "topic": "u"}\n')
    with pytest.raises(BadInputError, match="another topic"):
        planner.keys_grow(tmp_path / "t.jsonl", old=3, new=4, topic="t")


@pytest.mark.parametrize("top", [0, 2, 30])
def test_as_many_keys_are_listed_as_asked_for(top):
    keys = [f"k{n}" for n in range(40)]

    growth = planner.keys_grow(keys, old=3, new=50, top=top)
    skew = planner.keys_skew(
        keys, partitions=9, partitioner=["default", "sarama"], top=top
    )

    assert len(growth.document["examples"]) == top
    rest = growth.document["keys_moved"] - top
    assert f"… and {rest} more; --top lists them" in repr(growth) or not top
    (compared,) = skew.document["compared"]
    assert len(compared["examples"]) == min(top, compared["keys_apart"])


@pytest.mark.parametrize(
    ("sample", "options", "words"),
    [
        pytest.param(["a"], {"bootstrap_servers": "h:1"}, "found both", id="both"),
        pytest.param(None, {"partitions": 3}, "found neither", id="neither"),
        pytest.param(
            None, {"bootstrap_servers": "h:1"}, "topic: must name", id="no-topic"
        ),
        pytest.param(["a"], {}, "partitions: must be given", id="no-count"),
        pytest.param(
            ["a"], {"partitions": 3, "max_keys": 5}, "samples in files", id="counters"
        ),
        pytest.param(
            ["a"], {"partitions": 3, "spark": object()}, "samples in files", id="spark"
        ),
        pytest.param(
            "k", {"partitions": 3, "spark": 1, "max_keys": 5}, "one process", id="two"
        ),
        pytest.param(
            "k", {"partitions": 3, "spark": 1, "away": [1]}, "spreads", id="paces"
        ),
    ],
)
def test_samples_from_two_places_or_none_are_refused(sample, options, words):
    with pytest.raises(BadInputError, match=words):
        planner.keys_skew(sample, **options)


@pytest.mark.parametrize(
    ("sample", "options", "words"),
    [
        pytest.param(["a"], {}, "arguments: old: must be given", id="no-count"),
        pytest.param(["a"], {"old": 9}, "arguments: new: must be over", id="shrinks"),
        pytest.param(None, {"old": 3}, "found neither", id="neither"),
    ],
)
def test_a_growth_names_its_arguments(sample, options, words):
    with pytest.raises(BadInputError, match=words):
        planner.keys_grow(sample, new=6, **options)


def test_the_count_before_a_growth_is_that_of_the_snapshot():
    snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    topics = snapshot.partitions["topic"].to_pylist()
    count = topics.count(topics[0])

    found = planner.keys_grow(["a"], new=9 * count, snapshot=snapshot, topic=topics[0])

    assert found.document["before"] == count
