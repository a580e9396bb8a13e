import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.kafka_files.reassignment_file import (
    ReassignmentFile,
    format_election,
    format_reassignment,
    read_plan_file,
    read_reassignment_file,
)

ONE = '{"topic":"a","partition":0,"replicas":[1,2]}'


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "reassignment.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def outcome_of(path: Path) -> ReassignmentFile | BadInputError:
    try:
        return read_reassignment_file(path)
    except BadInputError as error:
        return error


def entries(*listed: str) -> str:
    return f'{{"version":1,"partitions":[{",".join(listed)}]}}'


@pytest.mark.parametrize(
    ("text", "log_dirs"),
    [
        pytest.param(entries(ONE), None, id="without-log-dirs"),
        pytest.param(f'{{"partitions":[{ONE}]}}', None, id="version-left-out"),
        pytest.param(
            entries(
                '{"topic":"a","partition":0,"replicas":[1,2],"x":[[]],"log_dirs":["any","/d"]}'
            ),
            (None, "/d"),
            id="with-log-dirs-and-a-key-kafka-ignores",
        ),
        pytest.param(
            f'\n{{"partitions" : [ {ONE} ], "version": 1, "by": null}}\n',
            None,
            id="as-people-write",
        ),
    ],
)
def test_what_kafka_parses_is_read(tmp_path: Path, text: str, log_dirs: object):
    file = read_reassignment_file(write(tmp_path, text))

    assert file == ReassignmentFile(("a",), (0,), ((1, 2),), (log_dirs,))


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param([ONE, ONE], id="partition-twice"),
        pytest.param(
            ['{"topic":"a","partition":0,"replicas":[1,1]}'], id="broker-twice"
        ),
        pytest.param(['{"topic":"a","partition":0,"replicas":[]}'], id="no-replicas"),
        pytest.param(['{"topic":"","partition":-1,"replicas":[-4]}'], id="odd-names"),
        pytest.param([], id="no-entries"),
    ],
)
def test_what_only_execute_refuses_is_left_to_check(tmp_path: Path, listed: list[str]):
    file = read_reassignment_file(write(tmp_path, entries(*listed)))

    assert len(file) == len(listed)


REFUSED = [
    pytest.param("", "", "must be JSON", id="empty-file"),
    pytest.param("{", "line 1", "must be JSON", id="cut-off"),
    pytest.param(entries(ONE) + "x", "line 1", "must be JSON", id="text-after-it"),
    pytest.param("[" * 100_000, "", "nested", id="nested-deep"),
    pytest.param(b'{"partitions":["\xff"]}', "byte 16", "UTF-8", id="not-utf8"),
    pytest.param(entries(ONE).encode("utf-16"), "byte 0", "UTF-8", id="utf-16"),
    pytest.param(b"\xef\xbb\xbf" + entries(ONE).encode(), "byte 0", "mark", id="bom"),
    pytest.param("[]", "", "must be an object", id="list-on-top"),
    pytest.param("{}", "partitions", "must be a list", id="no-partitions"),
    pytest.param('{"partitions":null}', "partitions", "list", id="null-partitions"),
    pytest.param('{"version":2,"partitions":[]}', "version", "1", id="version-2"),
    pytest.param('{"version":"1","partitions":[]}', "version", "1", id="version-text"),
    pytest.param('{"version":true,"partitions":[]}', "version", "1", id="version-true"),
    pytest.param(entries("7"), "partitions[0]", "object", id="entry-is-no-object"),
    pytest.param(entries("[1]"), "partitions[0]", "object", id="entry-is-a-list"),
    pytest.param(
        entries('{"partition":0,"replicas":[1]}'),
        "partitions[0].topic",
        "string",
        id="no-topic",
    ),
    pytest.param(
        entries('{"topic":"\\ud800","partition":0,"replicas":[1]}'),
        "partitions[0].topic",
        "Unicode",
        id="half-a-surrogate",
    ),
    pytest.param(
        entries('{"topic":"a","partition":"0","replicas":[1]}'),
        "partitions[0].partition",
        "integer",
        id="partition-in-quotes",
    ),
    pytest.param(
        entries('{"topic":"a","partition":true,"replicas":[1]}'),
        "partitions[0].partition",
        "integer",
        id="partition-true",
    ),
    pytest.param(
        entries('{"topic":"a","partition":2147483648,"replicas":[1]}'),
        "partitions[0].partition",
        "32 bits",
        id="partition-beyond-int32",
    ),
    pytest.param(
        entries(f'{{"topic":"a","partition":0,"replicas":[1,{"9" * 400}]}}'),
        "partitions[0].replicas[1]",
        "32 bits",
        id="broker-of-400-digits",
    ),
    pytest.param(
        entries(f'{{"topic":"a","partition":0,"replicas":[{"9" * 5000}]}}'),
        "",
        "must be JSON",
        id="broker-of-5000-digits",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":[1.0]}'),
        "partitions[0].replicas[0]",
        "integer",
        id="broker-with-a-point",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":[NaN]}'),
        "",
        "NaN",
        id="broker-nan",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":{"1":2}}'),
        "partitions[0].replicas",
        "list",
        id="replicas-no-list",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":[1,2],"log_dirs":["any"]}'),
        "partitions[0].log_dirs",
        "one entry per replica",
        id="too-few-log-dirs",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":[],"log_dirs":["any"]}'),
        "partitions[0].log_dirs",
        "one entry per replica",
        id="log-dirs-without-replicas",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":[1],"log_dirs":["d1"]}'),
        "partitions[0].log_dirs[0]",
        "absolute",
        id="relative-path",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":[1],"log_dirs":[""]}'),
        "partitions[0].log_dirs[0]",
        "absolute",
        id="empty-path",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":[1],"log_dirs":[null]}'),
        "partitions[0].log_dirs[0]",
        "string",
        id="null-path",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":[1],"log_dirs":["/\\udfff"]}'),
        "partitions[0].log_dirs[0]",
        "Unicode",
        id="path-with-half-a-surrogate",
    ),
    pytest.param(
        entries('{"topic":"a","partition":0,"replicas":[1],"log_dirs":null}'),
        "partitions[0].log_dirs",
        "list",
        id="null-log-dirs",
    ),
]


@pytest.mark.parametrize(("text", "place", "rule"), REFUSED)
def test_what_kafka_cannot_parse_is_refused(
    tmp_path: Path, text: str | bytes, place: str, rule: str
):
    path = write(tmp_path, text)

    with pytest.raises(BadInputError) as caught:
        read_reassignment_file(path)

    [problem] = caught.value.problems
    assert problem.file == str(path)
    assert problem.place.startswith(place)
    assert rule in problem.rule
    assert problem.remedy


def test_every_problem_is_named_at_once(tmp_path: Path):
    bad = '{"topic":7,"partition":"x","replicas":[true,1,99999999999],"log_dirs":[1]}'
    path = write(tmp_path, f'{{"version":3,"partitions":[{ONE},{bad},null]}}')

    with pytest.raises(BadInputError) as caught:
        read_reassignment_file(path)

    assert [problem.place for problem in caught.value.problems] == [
        "version",
        "partitions[1].topic",
        "partitions[1].partition",
        "partitions[1].replicas[0]",
        "partitions[1].replicas[2]",
        "partitions[1].log_dirs",
        "partitions[1].log_dirs[0]",
        "partitions[2]",
    ]
    assert caught.value.problems[0].value == "3"


def test_what_the_tool_prints_is_refused_with_the_way_out(tmp_path: Path):
    printed = f"Current partition replica assignment\n{entries(ONE)}\n"
    path = write(tmp_path, printed)

    with pytest.raises(BadInputError, match="cannot be read") as caught:
        read_reassignment_file(path)

    assert "keep only the one line of JSON" in caught.value.problems[0].remedy


@pytest.mark.parametrize("name", ["nowhere.json", "sub", "zero\0byte"])
def test_an_unreadable_path_is_bad_input(tmp_path: Path, name: str):
    (tmp_path / "sub").mkdir()

    with pytest.raises(BadInputError) as caught:
        read_reassignment_file(tmp_path / name)

    assert "must be readable" in caught.value.problems[0].rule


def test_a_plan_folder_is_read_by_its_reassignment(tmp_path: Path):
    path = write(tmp_path, entries(ONE))

    assert read_plan_file(tmp_path) == read_plan_file(path)


def test_a_folder_without_a_reassignment_is_bad_input(tmp_path: Path):
    with pytest.raises(BadInputError) as caught:
        read_plan_file(tmp_path)

    assert caught.value.problems[0].file.endswith("reassignment.json")


def test_the_line_is_kafkas_own():
    file = ReassignmentFile(
        ("payments.eu-west_1", "big", "big"),
        (0, 10, 9),
        ((4, 5), (5, 6), (4, 5)),
        (None, ("/tmp/kp/b5/d1", None), (None, None)),  # noqa: S108 - no file
    )

    assert format_reassignment(file) == (
        '{"version":1,"partitions":['
        '{"topic":"big","partition":9,"replicas":[4,5],"log_dirs":["any","any"]},'
        '{"topic":"big","partition":10,"replicas":[5,6],'
        '"log_dirs":["/tmp/kp/b5/d1","any"]},'
        '{"topic":"payments.eu-west_1","partition":0,"replicas":[4,5],'
        '"log_dirs":["any","any"]}]}'
    )


def test_the_election_line_is_kafkas_own():
    assert format_election([("foo", 1), ("bar", 0)]) == (
        '{"partitions":[{"topic":"bar","partition":0},{"topic":"foo","partition":1}]}'
    )


NAMES = st.text(st.characters(codec="utf-8"), max_size=5)
INT32 = st.integers(-(2**31), 2**31 - 1)


@st.composite
def files(draw) -> ReassignmentFile:
    keys = sorted(draw(st.sets(st.tuples(NAMES, INT32), max_size=4)))
    replicas = [tuple(draw(st.lists(INT32, max_size=3))) for _ in keys]
    path = st.none() | NAMES.map(lambda name: f"/{name}")
    return ReassignmentFile(
        tuple(topic for topic, _ in keys),
        tuple(number for _, number in keys),
        tuple(replicas),
        tuple(tuple(draw(path) for _ in row) for row in replicas),
    )


@given(files())
def test_what_is_written_reads_back(tmp_path_factory, file: ReassignmentFile):
    path = write(tmp_path_factory.getbasetemp(), format_reassignment(file))

    assert read_reassignment_file(path) == file


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["any", "/d", "", "\ud800", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["topic", "partition", "replicas", "log_dirs"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON | st.lists(JSON).map(lambda rows: {"partitions": rows}))
def test_any_json_is_a_reassignment_or_bad_input(tmp_path_factory, document: object):
    path = write(tmp_path_factory.getbasetemp(), json.dumps(document))

    outcome = outcome_of(path)

    if isinstance(outcome, BadInputError):
        assert [str(problem).encode() for problem in outcome.problems]
    else:
        assert len(outcome) == len(document["partitions"])


@given(st.binary(max_size=40))
def test_any_bytes_are_a_reassignment_or_bad_input(tmp_path_factory, data: bytes):
    path = write(tmp_path_factory.getbasetemp(), data)

    with pytest.raises(BadInputError):
        read_reassignment_file(path)
