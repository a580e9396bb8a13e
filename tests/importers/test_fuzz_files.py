"""Files that commands take beside importers: mutated, they are refused or read."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.generate.topics_file import read_topics_to_move
from planner.group.files.group_files import read_group
from planner.group.offsets.offsets_file import read_offsets_file
from planner.kafka.auth.java_properties import read_properties
from planner.kafka_files.election_file import read_election_file
from planner.kafka_files.reassignment_file import read_reassignment_file
from support.samples import SAMPLES

OFFSETS = b'orders,0,10\norders,1,20\n"pay.eu",0,0\n'
PROPERTIES = b"""# how to connect
security.protocol=SASL_SSL
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  username="admin" password="hunter2";
ssl.truststore.location = /etc/kafka/\\u0074rust.jks
"""


def offsets(path):
    return read_offsets_file(path, "g")


def sample(name):
    return (SAMPLES / name).read_bytes()


PARSERS = {
    read_topics_to_move: (sample("topics-to-move.json"),),
    read_election_file: (sample("election.json"),),
    read_reassignment_file: (
        sample("reassign.json"),
        sample("reassign-logdirs.json"),
        sample("reassign-rf.json"),
    ),
    read_group: tuple(
        sample(f"consumer-groups-{name}.txt")
        for name in (
            *("describe", "describe-verbose", "members", "members-verbose"),
            *("state", "state-verbose", "848-describe", "848-members-verbose"),
        )
    ),
    offsets: (OFFSETS,),
    read_properties: (PROPERTIES,),
}
EVERY = [pytest.param(parser, id=parser.__name__) for parser in PARSERS]
QUICK = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "given"


def read(parser, path: Path, data: bytes):
    """Whether the file was taken; a refusal says what, where and what to do."""
    path.write_bytes(data)
    try:
        parser(path)
    except BadInputError as error:
        problems = error.problems
    else:
        return True
    assert problems
    for problem in problems:
        assert problem.file == str(path)
        assert problem.rule
        assert "hunter2" not in str(problem)
    return False


@pytest.mark.parametrize("parser", EVERY)
def test_the_files_themselves_are_read(parser, path):
    assert all(read(parser, path, data) for data in PARSERS[parser])


@pytest.mark.parametrize("parser", EVERY)
@QUICK
@given(st.data())
def test_mutated_files_are_refused_or_read(parser, path, data):
    text = bytearray(data.draw(st.sampled_from(PARSERS[parser])))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 20))
        text[at : at + length] = data.draw(
            st.one_of(
                st.binary(max_size=6),
                st.sampled_from([b"-1", b'"', b"{", b"]", b"\n", b"\\u12", b"1e400"]),
            )
        )

    read(parser, path, bytes(text))


@pytest.mark.parametrize("parser", EVERY)
@QUICK
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_anything_at_all_does_not_crash(parser, path, data):
    read(parser, path, data)


JSON = [read_topics_to_move, read_election_file, read_reassignment_file]


@pytest.mark.parametrize("parser", [pytest.param(p, id=p.__name__) for p in JSON])
def test_the_beginning_of_json_is_never_taken_for_the_file(parser, path):
    for data in PARSERS[parser]:
        whole = data.rstrip()
        lengths = random.Random(7).sample(range(len(whole)), min(50, len(whole)))

        assert not any(read(parser, path, whole[:length]) for length in lengths)


@pytest.mark.parametrize("parser", EVERY)
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"[" * 200_000, id="brackets"),
        pytest.param(b'{"a":' * 200_000, id="objects"),
        pytest.param(b"GROUP" + b" " * 200_000 + b"\n", id="blanks"),
        pytest.param(b"\xff\xfe" + b"\0a" * 1000, id="utf-16"),
        pytest.param(b"1" * 200_000, id="digits"),
    ],
)
def test_hostile_files_do_not_hang_or_crash(parser, path, data):
    read(parser, path, data)
