"""Inputs that were cut, mixed or made up: refused or whole, never a crash."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.snapshot.importers import Source, merge
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from support.samples import READERS, SAMPLES, records_of

READER_IDS = [pytest.param(reader, id=reader.__name__) for reader in READERS]
EVERY = [
    pytest.param(reader, data, id=f"{reader.__name__}-{number}")
    for reader, inputs in READERS.items()
    for number, data in enumerate(inputs)
]


def read(reader, data: bytes) -> Source | None:
    """The source, or nothing where it is refused as it should be."""
    try:
        return reader(data, file="given")
    except BadInputError as error:
        problems = error.problems
    assert problems
    for problem in problems:
        assert problem.file == "given"
        assert problem.rule
        assert problem.remedy
        assert str(problem).isprintable()
    return None


def told(source: Source) -> object:
    columns, replicas = source.partitions, source.replicas
    return (
        dict(source.header),
        [(r.key, r.values) for r in records_of(source)],
        source.default_broker and source.default_broker.values,
        columns and (list(columns.topics), list(columns.partitions), columns.values),
        replicas
        and (replicas.names, replicas.brokers, replicas.paths, replicas.size_bytes),
        source.series,
    )


@pytest.mark.parametrize(("reader", "data"), EVERY)
def test_the_beginning_of_a_file_is_never_taken_for_the_file(reader, data):
    whole = told(reader(data, file="given"))
    rng = random.Random(7)
    lengths = {*range(min(len(data), 60)), *range(max(0, len(data) - 60), len(data))}
    lengths |= {rng.randrange(len(data)) for _ in range(60)}

    for length in sorted(lengths):
        source = read(reader, data[:length])

        assert source is None or told(source) == whole or _ends_a_line(data, length)


def _ends_a_line(data: bytes, length: int) -> bool:
    """A table, or a list of topics, may end with any of its lines."""
    return data[length - 1 : length] == b"\n" and not data.lstrip().startswith(b"{")


OLD = b"""Topic:orders\tPartitionCount:3\tReplicationFactor:3\tConfigs:
\tTopic: orders\tPartition: 0\tLeader: 11\tReplicas: 11,2,3\tIsr: 11,2,3
\tTopic: orders\tPartition: 1\tLeader: 22\tReplicas: 22,3,1\tIsr: 22,3,1
\tTopic: orders\tPartition: 2\tLeader: 33\tReplicas: 33,1,2\tIsr: 33,1,2
"""


@pytest.mark.parametrize("width", range(1, 140))
@pytest.mark.parametrize("is_screen", [False, True])
@pytest.mark.parametrize(
    "data", [(SAMPLES / "topics-describe.txt").read_bytes(), OLD], ids=["4.3", "2.1"]
)
def test_lines_cut_by_a_screen_are_refused_or_said(data, is_screen, width):
    lines = (data.expandtabs() if is_screen else data).split(b"\n")
    cut = b"\n".join(line[:width] for line in lines)

    source = read(read_topics, cut)

    # Where the end of a config or of an ISR is all that is lost, nothing betrays it.
    if source is not None and not source.notes:
        whole = read_topics(data, file="given")
        assert source.partitions.values == whole.partitions.values
        assert [r.key for r in source.topics] == [r.key for r in whole.topics]


# Of each importer; together they are two thousand.
FEWER = settings(max_examples=60)


@pytest.mark.parametrize("reader", READER_IDS)
@FEWER
@given(st.data())
def test_mutated_files_do_not_crash(reader, data):
    text = bytearray(data.draw(st.sampled_from(READERS[reader])))
    for _ in range(data.draw(st.integers(1, 4))):
        _mutate(data, text)

    source = read(reader, bytes(text))

    if source is not None:
        _merge(source)


def _mutate(data: st.DataObject, text: bytearray) -> None:
    at = data.draw(st.integers(0, max(0, len(text) - 1)))
    length = data.draw(st.integers(0, 40))
    new = data.draw(
        st.one_of(
            st.binary(max_size=8),
            st.sampled_from(
                [b"", b"\t", b"\n", b"\r\n", b",", b"-1", b"99999999999999999999", b'"']
            ),
            st.sampled_from([b"null", b"[]", b"{}", b"NaN", b"1e999", b"none", b"[["]),
            st.just(bytes(text[at : at + length])),
        )
    )
    text[at : at + data.draw(st.sampled_from([0, 1, length]))] = new


@pytest.mark.parametrize("reader", READER_IDS)
@FEWER
@given(st.data())
def test_lines_shuffled_between_files_do_not_crash(reader, data):
    own = data.draw(st.sampled_from(READERS[reader])).splitlines(keepends=True)
    inputs = [text for texts in READERS.values() for text in texts]
    other = data.draw(st.sampled_from(inputs)).splitlines(keepends=True)
    lines = data.draw(st.lists(st.sampled_from(own + other), max_size=12))

    source = read(reader, b"".join(lines))

    if source is not None:
        _merge(source)


@pytest.mark.parametrize("reader", READER_IDS)
@FEWER
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_anything_else_is_refused(reader, text):
    source = read(reader, text)

    assert source is None


@pytest.mark.parametrize("reader", READER_IDS)
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b" " * 200_000, id="blanks"),
        pytest.param(b"\n" * 200_000, id="lines"),
        pytest.param(b"[" * 200_000, id="brackets"),
        pytest.param(b'{"a":' * 200_000, id="objects"),
        pytest.param(b"1," * 200_000, id="commas"),
        pytest.param(b"Topic: a" + b"\t" * 200_000 + b"\n", id="tabs"),
        pytest.param(
            b"Topic: a\tPartitionCount: 2147483647\tReplicationFactor: 1\tConfigs: \n",
            id="many-partitions",
        ),
        pytest.param(
            b"Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:"
            + b" MarkedForDeletion: " * 20_000
            + b"\n",
            id="repeated-words",
        ),
        pytest.param(
            b"ID HOST PORT RACK STATE ENDPOINT_TYPE\n1 h 1" + b" a" * 100_000 + b"\n",
            id="long-rack",
        ),
        pytest.param(b"id,rack\n" + b'1,"' * 60_000, id="quotes"),
    ],
)
def test_hostile_files_are_refused_at_once(reader, data):
    assert read(reader, data) is None


def _merge(source: Source) -> None:
    try:
        snapshot = merge([source], allow_partial=True).snapshot
    except BadInputError as error:
        problems = error.problems
    else:
        assert snapshot.equals(type(snapshot).from_document(snapshot.to_document()))
        return
    assert problems
