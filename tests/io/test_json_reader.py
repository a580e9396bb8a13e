"""The one reader of JSON: what it refuses, and with which words."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.group import read_group
from planner.io.json_reader import (
    JsonTextError,
    may_repeat_keys,
    parse_json,
    repeated_keys,
)
from planner.kafka_files.reassignment_file import read_reassignment_file

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
REFUSED = {
    "NaN": ('{"a": NaN}', "NaN is no number"),
    "infinity": ('{"a": -Infinity}', "-Infinity is no number"),
    "a key twice": ('{"a": 1, "a": 1}', "a key once, found twice: a"),
    "a huge integer": (f'{{"a": {"9" * 5000}}}', "integer string conversion"),
    "no JSON": ("{", "must be JSON: "),
}


@given(VALUES)
def test_what_python_writes_is_read(value):
    assert parse_json(json.dumps(value)) == value
    assert parse_json(b"\xef\xbb\xbf" + json.dumps(value).encode()) == value


@pytest.mark.parametrize("name", REFUSED)
def test_what_readers_understand_in_different_ways_is_refused(name):
    text, rule = REFUSED[name]

    with pytest.raises(JsonTextError, match="must be JSON") as raised:
        parse_json(text)

    assert rule in raised.value.rule


def test_a_syntax_error_has_its_place():
    with pytest.raises(JsonTextError) as raised:
        parse_json('{\n "a": x}')

    assert raised.value.place == "line 2, column 7"


@pytest.mark.parametrize("form", [str, str.encode])
def test_json_nested_too_deep_is_refused(form):
    with pytest.raises(JsonTextError, match="nested this deep"):
        parse_json(form("[" * 200_000))


@given(VALUES, VALUES)
def test_a_repeated_key_is_always_suspected(one, other):
    text = f'{{"k": {json.dumps(one)}, "k": {json.dumps(other)}}}'

    assert may_repeat_keys(text.encode(), json.loads(text))
    assert [keys for _, keys in repeated_keys(text)][-1] == ["k"]


@pytest.mark.parametrize("read", [read_group, read_reassignment_file])
@pytest.mark.parametrize("name", REFUSED)
def test_files_of_people_are_read_by_the_same_rules(read, name, tmp_path: Path):
    path = tmp_path / "f.json"
    path.write_text(REFUSED[name][0])

    with pytest.raises(BadInputError) as raised:
        read(path)

    assert "must be JSON" in raised.value.problems[0].rule
