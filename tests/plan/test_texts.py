"""Texts put together column by column, against the same in a loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.text.document_numbers import rounded, rounded_all
from planner.text.text_columns import (
    lists_joined,
    numerals,
    picked,
    side_by_side,
    texts_of,
    whole,
)

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@given(st.lists(WORDS, min_size=1), st.data())
def test_texts_are_picked_by_row_and_minus_one_is_the_last(names: list[str], data):
    rows = data.draw(st.lists(st.integers(-1, len(names) - 1)))

    found = picked(names, np.array(rows, dtype=np.int32))

    assert found.to_pylist() == [names[row] for row in rows]


@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1))), WORDS)
def test_lists_are_joined_one_by_one(lists: list[list[int]], separator: str):
    start = np.cumsum([0, *map(len, lists)])
    flat = np.array([number for row in lists for number in row], dtype=np.int32)

    found = lists_joined(start, numerals(flat), separator)

    assert found.to_pylist() == [separator.join(map(str, row)) for row in lists]


@given(st.lists(st.tuples(WORDS, WORDS)), WORDS, WORDS)
def test_columns_stand_side_by_side(rows: list[tuple[str, str]], between, separator):
    first, second = (texts_of([row[at] for row in rows]) for at in (0, 1))

    found = side_by_side(first, between, second, separator=separator)

    assert found.to_pylist() == [separator.join([a, between, b]) for a, b in rows]


@given(st.lists(WORDS), WORDS)
def test_all_of_them_make_one_text(texts: list[str], separator: str):
    assert whole(texts_of(texts), separator) == separator.join(texts)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
# Halves of the last digit that stays, and decimals as people write them.
DECIMALS = st.builds(
    lambda digits, places: digits / 10.0**places,
    st.integers(-(10**13), 10**13),
    st.integers(0, 25),
)


@given(st.lists(FLOATS | DECIMALS), st.integers(1, 3))
def test_many_floats_are_rounded_as_one_by_one(values: list[float], columns: int):
    many = np.array(values * columns).reshape(columns, -1)

    found = rounded_all(many)

    assert list(map(repr, found.ravel().tolist())) == [
        repr(rounded(value)) for value in many.ravel().tolist()
    ]
