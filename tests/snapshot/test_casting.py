"""Columns of any spelling become those of snapshots, or each wrong cell is named."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.snapshot.formats.canonical_columns import is_within
from planner.snapshot.formats.column_casting import cast_column
from planner.snapshot.tables.snapshot_columns import PARTITIONS

COLUMNS = {column.name: column for column in PARTITIONS.columns}
NUMBERS = {
    "partition": st.integers(-3, 2**31 - 1),
    "leader": st.integers(-3, 2**31 - 1),
    "size_bytes": st.integers(-3, 2**63 - 1),
    "in_bytes_per_s": st.floats() | st.floats(0, 2e18),
}
LISTS = {
    "replicas": st.integers(-2, 2**31 - 1),
    "isr": st.integers(-2, 2**31 - 1),
    "replica_bytes": st.integers(-2, 2**63 - 1),
}


def cells(values):
    return st.lists(st.none() | values, max_size=5)


COLUMN_CELLS = st.one_of(
    *(st.tuples(st.just(name), cells(each)) for name, each in NUMBERS.items()),
    *(
        st.tuples(st.just(name), cells(st.lists(st.none() | each, max_size=3)))
        for name, each in LISTS.items()
    ),
)


@given(COLUMN_CELLS)
def test_a_column_found_fine_has_no_wrong_cell(case):
    name, values = case
    column = COLUMNS[name]
    array = pa.array(values, column.type)

    told = is_within(array, column)
    # Judged cell by cell.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "planner.snapshot.formats.column_casting.is_within", lambda *_: False
        )
        slow = cast_column(array, column)

    assert told == (not slow.problems)
    assert slow.problems or slow.values.equals(array)


TEXTS = [
    pytest.param("size_bytes", "9007199254740993", 9007199254740993, id="exact"),
    pytest.param("size_bytes", "1.2e3", 1200, id="exponent"),
    pytest.param("size_bytes", " 7 ", 7, id="blanks"),
    pytest.param("leader", "-1", -1, id="none"),
    pytest.param("in_bytes_per_s", "1.5E-5", 1.5e-5, id="rate"),
]


@pytest.mark.parametrize(("name", "text", "value"), TEXTS)
def test_text_is_read_as_the_number_it_spells(name, text, value):
    column = COLUMNS[name]

    cast = cast_column(pa.array([text, None]), column)

    assert cast.problems == ()
    assert cast.values.to_pylist() == [value, None]


@pytest.mark.parametrize("text", ["5GB", "", "NaN", "1.5", str(2**63), "-1", "1e400"])
def test_text_that_spells_none_is_a_wrong_cell(text):
    column = COLUMNS["size_bytes"]

    cast = cast_column(pa.array(["1", text]), column)

    assert [(cell.row, cell.value) for cell in cast.problems] == [(1, text)]
    assert cast.values.to_pylist() == [1, None]


def test_lists_of_texts_are_lists_of_numbers():
    column = COLUMNS["replicas"]
    lists = pa.array([["1", "2"], ["3", "x"]])

    cast = cast_column(lists, column)

    assert cast.values.to_pylist() == [[1, 2], None]
    assert [(cell.row, cell.value) for cell in cast.problems] == [(1, "x")]


def test_slices_of_columns_are_judged_by_their_own_cells():
    column = COLUMNS["partition"]
    array = pa.array(np.array([-1, 0, 1, -1], dtype=np.int32))

    assert is_within(array[1:3], column)
    assert not is_within(array, column)
