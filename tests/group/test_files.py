import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.group import NOT_SENT
from planner.errors import BadInputError
from planner.group import GroupDocument, read_group, write_group
from support.samples import SAMPLES

EXAMPLE = {
    "format": "kafka-planner/group",
    "version": 1,
    "group_id": "g",
    "topics": [
        {
            "name": "t0",
            "partitions": 3,
            "weights": [1.0, 1.0, 2.5],
            "racks": [["a", "b"], ["b", "c"], ["a", "c"]],
        }
    ],
    "members": [
        {
            "member_id": "c0",
            "group_instance_id": None,
            "rack": "a",
            "capacity": 1.0,
            "topics": ["t0"],
            "pattern": None,
            "owned": {"t0": [0, 1]},
            "generation": 4,
            "user_data": None,
        }
    ],
}
NAMES = st.from_regex(r"\A[a-zA-Z0-9._-]{1,8}\Z")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda each: st.lists(each, max_size=2) | st.dictionaries(TEXTS, each, max_size=2),
    max_leaves=4,
)


def optional(**fields):
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def documents(draw):
    names = draw(st.lists(NAMES, unique=True, max_size=3))
    topics = []
    for name in names:
        size = draw(st.integers(0, 3))
        numbers = st.lists(st.none() | st.integers(0, 9), min_size=size, max_size=size)
        weights = st.lists(st.floats(0, 9), min_size=size, max_size=size)
        racks = st.lists(st.lists(TEXTS, max_size=2), min_size=size, max_size=size)
        said = optional(
            topic_id=st.none() | TEXTS,
            weights=st.none() | weights,
            racks=st.none() | racks,
            committed_offsets=st.none() | numbers,
            log_end_offsets=st.none() | numbers,
        )
        topics.append({"name": name, "partitions": size, **draw(said)})
    owned = st.dictionaries(NAMES, st.lists(st.integers(0, 9), unique=True, max_size=3))
    said = optional(
        client_id=st.none() | TEXTS,
        host=st.none() | TEXTS,
        rack=st.none() | TEXTS,
        capacity=st.none() | st.floats(0.1, 9),
        topics=st.lists(NAMES, unique=True, max_size=3),
        pattern=st.none() | st.sampled_from([".*", "a|b"]),
        owned=st.none() | owned,
        generation=st.none() | st.integers(-1, 9),
        subscription_generation=st.none() | st.integers(-1, 9),
        user_data=JSON,
    )
    ids = draw(st.lists(TEXTS, unique=True, max_size=3))
    header = optional(
        type=st.sampled_from([None, "classic", "consumer", "share", "streams"]),
        state=st.none() | TEXTS,
        assignor=st.none() | TEXTS,
        coordinator=st.none() | st.integers(0, 9),
    )
    return {
        "format": "kafka-planner/group",
        "version": 1,
        "group_id": draw(TEXTS),
        **draw(header),
        "topics": topics,
        "members": [{"member_id": member, **draw(said)} for member in ids],
    }


@given(documents())
def test_nothing_is_lost(tmp_path_factory, document):
    path = tmp_path_factory.mktemp("group") / "g.json"

    write_group(GroupDocument.from_document(document), path)

    assert read_group(path).to_document() == document
    assert json.loads(path.read_text()) == document


def test_the_example_comes_to_columns():
    group = GroupDocument.from_document(EXAMPLE).to_group()

    assert group.partitions.weight.tolist() == [1.0, 1.0, 2.5]
    assert [[group.racks[r] for r in p] for p in group.partitions.racks] == [
        ["a", "b"],
        ["b", "c"],
        ["a", "c"],
    ]
    assert group.owned.idx.tolist() == [0, 1]
    assert group.members.generation.tolist() == [4]
    assert group.members.subscription_generation.tolist() == [4]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param({}, 4, id="as-the-generation"),
        pytest.param({"subscription_generation": None}, NOT_SENT, id="none-sent"),
        pytest.param({"subscription_generation": 3}, 3, id="another"),
    ],
)
def test_generation_of_the_subscription(said, expected):
    document = {**EXAMPLE, "members": [{**EXAMPLE["members"][0], **said}]}

    group = GroupDocument.from_document(document).to_group()

    assert group.members.subscription_generation.tolist() == [expected]


def changed(**members):
    return {**EXAMPLE, "members": [{**EXAMPLE["members"][0], **members}]}


@pytest.mark.parametrize(
    ("document", "places"),
    [
        pytest.param(
            {}, ["format", "version", "group_id", "topics", "members"], id="all"
        ),
        pytest.param({**EXAMPLE, "format": "x"}, ["format"], id="another-format"),
        pytest.param({**EXAMPLE, "version": 2}, ["version"], id="another-version"),
        pytest.param({**EXAMPLE, "mebers": []}, ["mebers"], id="unknown-key"),
        pytest.param({**EXAMPLE, "type": "queue"}, ["type"], id="unknown-type"),
        pytest.param(
            {**EXAMPLE, "topics": [{"name": "t", "partitions": 2, "weights": [1.0]}]},
            ["topics[0].weights"],
            id="too-few-weights",
        ),
        pytest.param(
            {**EXAMPLE, "topics": [{"name": "t", "partitions": -1}]},
            ["topics[0].partitions"],
            id="negative-size",
        ),
        pytest.param(
            {**EXAMPLE, "topics": [EXAMPLE["topics"][0]] * 2},
            ["topics[1].name"],
            id="topic-twice",
        ),
        pytest.param(
            {**EXAMPLE, "members": [{"member_id": "a", "group_instance_id": "i"}] * 2},
            ["members[1].member_id", "members[1].group_instance_id"],
            id="member-twice",
        ),
        pytest.param(changed(capacity=0.0), ["members[0].capacity"], id="no-capacity"),
        pytest.param(
            changed(owned={"t0": [1, 1]}), ["members[0].owned.t0"], id="owned-twice"
        ),
        pytest.param(
            changed(topics=["t0", "t0"]), ["members[0].topics"], id="topic-named-twice"
        ),
        pytest.param(changed(pattern="("), ["members[0].pattern"], id="no-pattern"),
        pytest.param(
            changed(capacity="x", rack=7, generation=-2),
            ["members[0].rack", "members[0].capacity", "members[0].generation"],
            id="several",
        ),
    ],
)
def test_every_problem_is_named(document, places):
    with pytest.raises(BadInputError) as raised:
        GroupDocument.from_document(document, file="g.json")

    assert [problem.place for problem in raised.value.problems] == places
    assert all(problem.rule for problem in raised.value.problems)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        pytest.param(b"{", "must be JSON", id="not-json"),
        pytest.param(b'{"a": 1, "a": 2}', "found twice: a", id="key-twice"),
        pytest.param(b'{"a": NaN}', "NaN is no number", id="nan"),
        pytest.param(b"\xff{", "must be UTF-8", id="not-utf-8"),
        pytest.param(b"\x1f\x8bjunk", "must be whole gzip", id="broken-gzip"),
        pytest.param(b"hello", "must be a group file, or an output", id="another-text"),
        pytest.param(b"", "must be a group file, or an output", id="empty"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, data, rule):
    path = tmp_path / "g.json"
    path.write_bytes(data)

    with pytest.raises(BadInputError) as raised:
        read_group(path)

    assert rule in raised.value.problems[0].rule


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(BadInputError, match="is not a group"):
        read_group(tmp_path / "none.json")


def test_gzipped_files_are_read_and_written_the_same_each_time(tmp_path):
    group = GroupDocument.from_document(EXAMPLE)
    first, second = tmp_path / "a.json.gz", tmp_path / "b.json.gz"

    write_group(group, first)
    write_group(group, second)

    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()).startswith(b'{"format"')
    assert read_group(first).to_document() == EXAMPLE


@pytest.mark.parametrize(
    "content", [pytest.param("[]", id="json"), pytest.param("text", id="text")]
)
def test_what_is_no_group_file_is_not_replaced(tmp_path, content):
    path = tmp_path / "g.json"
    path.write_text(content)

    with pytest.raises(BadInputError, match="will not write"):
        write_group(GroupDocument.from_document(EXAMPLE), path)

    assert path.read_text() == content


def test_a_group_file_is_replaced(tmp_path):
    path = tmp_path / "g.json"
    write_group(GroupDocument.from_document(EXAMPLE), path)

    write_group(GroupDocument.from_document({**EXAMPLE, "group_id": "h"}), path)

    assert read_group(path).record.group_id == "h"
    assert [each.name for each in tmp_path.iterdir()] == ["g.json"]


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(BadInputError, match="cannot write"):
        write_group(GroupDocument.from_document(EXAMPLE), tmp_path / "no" / "g.json")


@pytest.mark.parametrize("command", [["show", "-"], ["import", "-", "-o", "g.json"]])
def test_what_the_tool_prints_may_come_from_a_pipe(tmp_path, command):
    done = subprocess.run(
        [Path(sys.executable).with_name("kafka-planner"), "group", *command],
        input=(SAMPLES / "consumer-groups-describe.txt").read_bytes(),
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stderr
    assert b"app-classic" in done.stdout or (tmp_path / "g.json").exists()


@pytest.mark.parametrize("number", ["many", -1, 1.5])
def test_a_wrong_number_of_members_is_one_problem(number):
    with pytest.raises(BadInputError) as raised:
        GroupDocument.from_document({**EXAMPLE, "num_members": number})

    (problem,) = raised.value.problems
    assert problem.place == "num_members"
