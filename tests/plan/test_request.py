"""Options of a plan, as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.options.declared.broker_lists import parse_broker_list
from planner.text.format import ids_text


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("4", (4,)),
        ("1,2,5-7", (1, 2, 5, 6, 7)),
        (" 3 , 1 ", (3, 1)),
        ("5-5", (5,)),
        ("2147483647", (2**31 - 1,)),
    ],
)
def test_broker_lists(text, ids):
    assert parse_broker_list(text) == ids


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "must be broker ids"),
        ("1,,2", "must be broker ids"),
        ("a", "must be broker ids"),
        ("-1", "must be broker ids"),
        ("1-2-3", "must be broker ids"),
        ("3-1", "ranges must ascend"),
        ("0-100001", "ranges must ascend"),
        ("2147483648", "ids must fit 32 bits"),
        ("1,1", "must name each broker once"),
        ("1-3,2", "must name each broker once"),
    ],
)
def test_what_is_no_broker_list(text, rule):
    with pytest.raises(ValueError, match=rule):
        parse_broker_list(text)


@given(st.sets(st.integers(0, 50), min_size=1))
def test_ids_are_read_as_they_are_written(ids):
    assert parse_broker_list(ids_text(sorted(ids))) == tuple(sorted(ids))
