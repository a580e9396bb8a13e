"""Keys from Python: what is a sample, and what is refused."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import planner
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
