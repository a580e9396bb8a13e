"""Documents as JSON text: what the json module reads back, whatever is in them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.io.json_text import json_text

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(VALUES)
def test_the_json_module_reads_back_what_was_written(value: Any) -> None:
    text = json_text(value, indent=1)
    plain = json.dumps(value, ensure_ascii=False)
    assert repr(json.loads(text)) == repr(json.loads(plain))


def test_names_of_files_that_are_no_unicode_are_written():
    assert json.loads(json_text({"file": "a\udc80"}, indent=2)) == {"file": "a\udc80"}


def test_names_may_look_like_no_number():
    assert json.loads(json_text(["NaN", "Infinity"], indent=1)) == ["NaN", "Infinity"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_has_not_is_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        json_text({"value": [value]}, indent=1)
