"""Offsets of groups set on a real cluster, beside Kafka's own tool."""

import time
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from pydantic import TypeAdapter

from integration.kafka.cluster import Cluster, wait_until
from integration.planner import Outcome, run_here
from integration.readers import commit, create, produce
from planner.group.show_records import GroupOffsetsRecord

pytestmark = pytest.mark.kafka

LONG = "offsets-of-a-topic-with-a-long-name"


def offsets(cluster: Cluster, group: str, *words: object) -> Outcome:
    where = ("--bootstrap-server", cluster.bootstrap)
    return run_here("group", "offsets", group, *where, *words)


def _name(line: str) -> tuple[str, int]:
    topic, number, _ = line.split(",")
    return topic.strip('"'), int(number)


def committed(cluster: Cluster, group: str) -> dict[tuple[str, int], int]:
    """Return what is committed, as the brokers say."""
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        found = admin.list_group_offsets({group: None})[group]
    return {(at.topic, at.partition): one.offset for at, one in found.items()}


@pytest.fixture(scope="module")
def since(shared_cluster: Cluster) -> str:
    """
    Two topics of 20 messages a partition, and a time between the tenth and the next.

    The first four messages of one are deleted, and one partition is empty.
    """
    create(shared_cluster, "offsets-a", 3)
    create(shared_cluster, LONG, 1)
    produce(shared_cluster, "offsets-a", range(2), 10)
    produce(shared_cluster, LONG, range(1), 10)
    wait_until(lambda: time.time() % 1 > 0.5, "a moment after the messages")
    between_ms = int(time.time() * 1000)
    producer = KafkaProducer(bootstrap_servers=shared_cluster.bootstrap.split(","))
    for at in (("offsets-a", 0), ("offsets-a", 1), (LONG, 0)):
        for _ in range(10):
            producer.send(
                at[0], b"x", partition=at[1], timestamp_ms=between_ms + 60_000
            )
    producer.flush()
    producer.close()
    with KafkaAdminClient(bootstrap_servers=shared_cluster.bootstrap) as admin:
        admin.delete_records({TopicPartition("offsets-a", 0): 4})
    seconds, ms = divmod(between_ms + 1000, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{ms:03}"


def test_plans_are_those_of_kafkas_tool(
    shared_cluster: Cluster, since: str, tmp_path: Path
) -> None:
    group = "offsets-planned"
    commit(shared_cluster, group, "offsets-a", [7, 7, 0])
    commit(shared_cluster, group, LONG, [7])
    one = tmp_path / "one.csv"
    one.write_text(f"offsets-a,1,8\n{LONG},0,99\noffsets-a,0,1\n")
    everything = ("--all-topics",)
    asked = [
        (*everything, "--shift-by", "-5"),
        (*everything, "--to-datetime", since),
        ("--topic", "offsets-a:0,1", "--topic", LONG, "--to-offset", "2"),
        ("--from-file", str(one)),
    ]
    tools = ("--reset-offsets", "--group", group, "--dry-run", "--export")

    for words in asked:
        expected = shared_cluster.groups(*tools, *words)
        ours = offsets(shared_cluster, group, *words, "--export")

        assert ours.code == 0, ours.err
        lines = [line for line in expected.splitlines() if line.count(",") == 2]
        assert lines
        # The tool's lines stand in no order.
        assert ours.out.splitlines() == sorted(ours.out.splitlines(), key=_name)
        assert sorted(ours.out.splitlines()) == sorted(lines), words
    by_time = offsets(shared_cluster, group, *everything, "--to-datetime", since)
    assert "offsets-a                        1          7         10" in by_time.out
    shifted = offsets(shared_cluster, group, *everything, "--shift-by", "-5")
    assert "offsets-a-0: 2 is lower than the earliest offset; set to 4" in shifted.err


def test_nothing_is_set_without_yes_and_what_is_set_is_read_back(
    shared_cluster: Cluster, since: str, tmp_path: Path
) -> None:
    group = "offsets-set"
    commit(shared_cluster, group, "offsets-a", [7, 7, 0])
    commit(shared_cluster, group, LONG, [7])
    before = committed(shared_cluster, group)
    words = ("--topic", "offsets-a:0,1", "--to-offset", "3")

    previews = [
        offsets(shared_cluster, group, *words),
        offsets(shared_cluster, group, *words, "--execute"),
        offsets(shared_cluster, group, *words, "--yes"),
    ]
    untouched = committed(shared_cluster, group)
    outcome = offsets(
        shared_cluster, group, *words, "--execute", "--yes", "--format", "json"
    )

    assert [one.code for one in previews] == [0] * 3
    assert "preview" in previews[0].out
    assert "nothing was changed" in previews[1].err
    assert untouched == before
    assert outcome.code == 0, outcome.err
    TypeAdapter(GroupOffsetsRecord).validate_json(outcome.out)
    assert (outcome.document["done"], outcome.document["state"]) == (True, "Empty")
    wanted = {("offsets-a", 0): 4, ("offsets-a", 1): 3}
    assert committed(shared_cluster, group) == before | wanted
    # What is exported is taken back.
    exported = tmp_path / "o.csv"
    exported.write_text(offsets(shared_cluster, group, "--export").out)
    commit(shared_cluster, group, "offsets-a", [20, 20])
    again = offsets(
        shared_cluster, group, "--from-file", exported, "--execute", "--yes", "--quiet"
    )
    assert again.code == 0, again.err
    assert committed(shared_cluster, group) == before | wanted


def test_a_group_that_does_not_exist_is_made(
    shared_cluster: Cluster, since: str
) -> None:
    group = "offsets-new"
    words = ("--topic", LONG, "--to-earliest", "--execute", "--yes")

    outcome = offsets(shared_cluster, group, *words)

    assert outcome.code == 0, outcome.err
    assert committed(shared_cluster, group) == {(LONG, 0): 0}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        pytest.param(
            ("--topic", "offsets-a:77", "--to-latest"),
            'The partitions "offsets-a-77" do not exist',
            id="no-partition",
        ),
        pytest.param(
            ("--topic", "no-such-topic", "--to-latest"),
            'The topics "no-such-topic" do not exist',
            id="no-topic",
        ),
        pytest.param(
            ("--topic", "offsets-a:1", "--shift-by", "1"),
            "offsets that were never committed cannot be shifted",
            id="nothing-to-shift",
        ),
    ],
)
def test_what_cannot_be_set_is_refused_whole(
    shared_cluster: Cluster, since: str, words: tuple[str, ...], error: str
) -> None:
    outcome = offsets(
        shared_cluster, "offsets-none", *words, "--execute", "--yes", "--format", "json"
    )

    assert outcome.code == 2
    assert outcome.document["error"].startswith(error)
    assert committed(shared_cluster, "offsets-none") == {}
