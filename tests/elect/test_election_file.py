import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.kafka_files.election_file import read_election_file
from planner.kafka_files.reassignment_file import format_election
from support.snapshots import NAMES


def read(folder: Path, text: str | bytes) -> list[tuple[str, int]]:
    path = folder / "election.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_election_file(path)


def outcome_of(folder: Path, text: str | bytes) -> list[tuple[str, int]] | str:
    """Return the partitions, or the problems as text."""
    try:
        return read(folder, text)
    except BadInputError as error:
        return " ".join(map(str, error.problems))


ONE = '{"topic":"a","partition":0}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f'{{"partitions":[{ONE}]}}', [("a", 0)], id="as-kafka-documents"),
        pytest.param(
            f'{{"version":1,"partitions":[{{"x":1,{ONE[1:]}]}}',
            [("a", 0)],
            id="keys-that-kafka-ignores",
        ),
        pytest.param('{"partitions":[]}', [], id="a-plan-without-elections"),
    ],
)
def test_what_kafka_takes_is_read(tmp_path: Path, text: str, expected: list):
    assert read(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "places"),
    [
        pytest.param("", ["line 1, column 1"], id="empty"),
        pytest.param(b'{"partitions":["\xff"]}', ["byte 16"], id="not-utf8"),
        pytest.param("[]", [""], id="a-list"),
        pytest.param("{}", ["partitions"], id="no-partitions"),
        pytest.param('{"partitions":{}}', ["partitions"], id="partitions-no-list"),
        pytest.param('{"partitions":["a-0"]}', ["partitions[0]"], id="a-word"),
        pytest.param(
            '{"partitions":[{},{"topic":"","partition":true}]}',
            [
                "partitions[0].topic",
                "partitions[0].partition",
                "partitions[1].topic",
                "partitions[1].partition",
            ],
            id="every-problem-at-once",
        ),
        pytest.param(
            '{"partitions":[{"topic":"a","partition":-1}]}',
            ["partitions[0].partition"],
            id="negative",
        ),
        pytest.param(
            '{"partitions":[{"topic":"a","partition":2147483648}]}',
            ["partitions[0].partition"],
            id="over-32-bits",
        ),
        pytest.param(
            f'{{"partitions":[{ONE},{ONE}]}}', ["partitions[1]"], id="named-twice"
        ),
    ],
)
def test_what_kafka_refuses_is_refused_with_every_place(
    tmp_path: Path, text: str, places: list[str]
):
    with pytest.raises(BadInputError) as refused:
        read(tmp_path, text)

    assert [problem.place for problem in refused.value.problems] == places
    assert all(problem.rule and problem.remedy for problem in refused.value.problems)


def test_a_plan_folder_stands_for_its_elections(tmp_path: Path):
    (tmp_path / "preferred-election.json").write_text(format_election([("a", 3)]))

    assert read_election_file(tmp_path) == [("a", 3)]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(BadInputError, match="cannot be read"):
        read_election_file(tmp_path / "none.json")


@given(pairs=st.sets(st.tuples(NAMES, st.integers(0, 2**31 - 1)), max_size=8))
def test_what_a_plan_writes_is_read_back(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("election")

    assert read(folder, format_election(pairs)) == sorted(pairs)


KEYS = st.sampled_from(["partitions", "topic", "partition", "version"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**40)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a", "ä", "\ud800", "a-0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@given(document=st.fixed_dictionaries({"partitions": VALUES}) | VALUES)
def test_any_json_is_read_or_refused_with_a_reason(tmp_path_factory, document):
    folder = tmp_path_factory.mktemp("election")

    found = outcome_of(folder, json.dumps(document))

    if isinstance(found, str):
        assert found.isprintable()
        known = ("partitions", "must be an object", "is no number")
        assert any(words in found for words in known)
    else:
        assert len(set(found)) == len(found) == len(document["partitions"])
        assert all(topic and number >= 0 for topic, number in found)


@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data: bytes):
    folder = tmp_path_factory.mktemp("election")

    assert outcome_of(folder, data)
