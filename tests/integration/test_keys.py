"""Records of real producers are on the partitions that `keys` foretells."""

import json
from collections import Counter
from itertools import groupby, pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pytest
from kafka import KafkaAdminClient, KafkaProducer

import planner
from assignment.partitioners import find_partitioner, place_records
from assignment.partitioners.balls_into_bins import moved_share
from assignment.partitioners.key_column import KeyColumn
from assignment.partitioners.key_hashes import murmur2
from assignment.partitioners.partitioner import KEYLESS
from integration.kafka.cluster import Cluster
from integration.planner import run_here
from integration.readers import create
from planner.keys.key_types import key_column, serialize

pytestmark = pytest.mark.kafka

KEYS = [
    *(f"customer-{n}".encode() for n in range(300)),
    *(n.to_bytes(8, "big") for n in range(100)),
    *("é€😀"[: n % 4].encode() + b"x" * n for n in range(1, 40)),
    b"",
]
FORMS: list[bytes | None] = [*KEYS, None, b"", None]
LIBRDKAFKA = [
    *("random", "consistent", "consistent_random", "murmur2", "murmur2_random"),
    *("fnv1a", "fnv1a_random"),
]
ADAPTIVE = "partitioner.adaptive.partitioning.enable"
NOT_IDEMPOTENT = "enable.idempotence=false"
"""
Else a producer that comes before a leader has heard of its new topic may send for ever:
the leader refuses the first batch, takes the second, and the first is out of order.
"""
ROUND_ROBIN = "org.apache.kafka.clients.producer.RoundRobinPartitioner"


def java_places(
    cluster: Cluster, topic: str, keys: list[bytes | None], *settings: str
) -> list[int]:
    """Send a record per key with Java's producer; return the partition of each."""
    words = ["-" if key is None else key.hex() for key in keys]
    settings = (NOT_IDEMPOTENT, *settings)
    said = cluster.run("Records", cluster.bootstrap, topic, *settings, "--", *words)
    return [int(line) for line in said.splitlines()[1:]]


def foretold(name: str, keys: list[bytes | None], count: int) -> list[int]:
    return place_records(find_partitioner(name), KeyColumn.of(keys), count).tolist()


def skew(cluster: Cluster, topic: str, *words: object) -> dict:
    where = ("--bootstrap-server", cluster.bootstrap, "--topic", topic)
    outcome = run_here("keys", "skew", *where, *words, "--format", "json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_javas_producer_places_keys_as_foretold(shared_cluster: Cluster) -> None:
    create(shared_cluster, "keys-java", 7)

    placed = java_places(shared_cluster, "keys-java", KEYS)

    assert placed == foretold("default", KEYS, 7)
    found = skew(shared_cluster, "keys-java")
    counts = Counter(placed)
    assert [row["records"] for row in found["partitions"]] == [
        counts[number] for number in range(7)
    ]
    assert found["placed_as"][0]["share"] == 1
    assert not found["sample"]["estimated"]


@pytest.mark.parametrize(
    ("key_type", "encoding", "texts"),
    [
        ("string", "UTF-8", ["", "é€😀", "x" * 5000, "\x00\x7f", "a b"]),
        ("string", "UTF-16", ["", "é€😀", "abc"]),
        ("string", "UTF-16LE", ["é€😀"]),
        ("string", "UTF-32", ["é€😀", "a"]),
        ("string", "ISO-8859-1", ["é", "€😀x"]),
        ("string", "US-ASCII", ["é€😀"]),
        ("string", "windows-1252", ["é€😀"]),
        ("int", "UTF-8", ["0", "-1", "-2147483648", "2147483647", "258"]),
        ("long", "UTF-8", ["0", "-1", str(-(2**63)), str(2**63 - 1), "-258"]),
        ("uuid", "UTF-8", ["6B29FC40-CA47-1067-B31D-00DD010662DA"]),
        ("uuid", "UTF-16", ["6b29fc40-ca47-1067-b31d-00dd010662da"]),
    ],
)
def test_javas_serializers_give_the_same_bytes_and_hashes(
    shared_cluster: Cluster, key_type: str, encoding: str, texts: list[str]
) -> None:
    words = ["=" + text.encode().hex() for text in texts]

    said = shared_cluster.run("Serialized", key_type, encoding, *words)

    keys = serialize(pa.array(texts), key_type, encoding)
    hashes = murmur2(key_column(keys)).astype(np.uint32).view(np.int32)
    assert said.splitlines() == [
        f"={key.hex()} {value} {value & 0x7FFFFFFF}"
        for key, value in zip(keys.to_pylist(), hashes.tolist(), strict=True)
    ]


def test_kafka_pythons_producer_places_keys_as_foretold(
    shared_cluster: Cluster,
) -> None:
    create(shared_cluster, "keys-python", 5)
    producer = KafkaProducer(bootstrap_servers=shared_cluster.bootstrap.split(","))

    sent = [producer.send("keys-python", b"v", key=key) for key in KEYS]
    placed = [each.get(30).partition for each in sent]
    producer.close()

    assert placed == foretold("kafka-python", KEYS, 5)


@pytest.mark.parametrize("name", LIBRDKAFKA)
def test_librdkafkas_producer_places_keys_as_foretold(
    shared_cluster: Cluster, name: str
) -> None:
    topic = f"keys-{name}"
    create(shared_cluster, topic, 7)
    expected = foretold(name, FORMS, 7)
    decided = find_partitioner(name).partitions_for(KeyColumn.of(FORMS))(7)

    placed = librdkafka_places(shared_cluster, topic, name, FORMS)

    rows = [row for row, partition in enumerate(decided) if partition != KEYLESS]
    assert [placed[row] for row in rows] == [expected[row] for row in rows]
    drawn = set(map(bool, FORMS)) if name == "random" else {False}
    assert {bool(FORMS[row]) for row in set(range(len(FORMS))) - set(rows)} <= drawn


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("random", b"k"),
        ("consistent_random", None),
        ("consistent_random", b""),
        ("murmur2_random", None),
        ("fnv1a_random", None),
    ],
)
def test_librdkafka_draws_where_no_key_decides(
    shared_cluster: Cluster, name: str, key: bytes | None
) -> None:
    topic = f"drawn-{name}-{key is None}"
    create(shared_cluster, topic, 4)

    placed = librdkafka_places(shared_cluster, topic, name, [key] * 4000)

    assert_evenly_drawn(placed)
    assert_evenly_drawn(foretold(name, [key] * 4000, 4))


def test_kafka_python_draws_for_records_without_keys(shared_cluster: Cluster) -> None:
    create(shared_cluster, "drawn-python", 4)
    producer = KafkaProducer(bootstrap_servers=shared_cluster.bootstrap.split(","))

    sent = [producer.send("drawn-python", b"v") for _ in range(4000)]
    placed = [each.get(30).partition for each in sent]
    producer.close()

    assert_evenly_drawn(placed)
    assert_evenly_drawn(foretold("kafka-python", [None] * 4000, 4))


def assert_evenly_drawn(placed: list[int]) -> None:
    """Check 4,000 draws of 4 partitions: six standard deviations, and no runs."""
    counts = Counter(placed)
    assert all(abs(counts[number] - 1000) < 165 for number in range(4)), counts
    same = sum(a == b for a, b in pairwise(placed))
    assert abs(same - 1000) < 165


def librdkafka_places(
    cluster: Cluster, topic: str, name: str, keys: list[bytes | None]
) -> list[int]:
    """Send a record per key with librdkafka; return the partition of each."""
    client = pytest.importorskip("confluent_kafka")
    settings = {
        "bootstrap.servers": cluster.bootstrap,
        "partitioner": name,
        # Otherwise a drawn partition is kept for as long.
        "sticky.partitioning.linger.ms": 0,
    }
    producer = client.Producer(settings)
    # It draws only of partitions whose leaders it knows.
    for number in producer.list_topics(topic, 30).topics[topic].partitions:
        producer.produce(topic, b"v", partition=number)
    assert producer.flush(60) == 0
    placed: dict[int, int] = {}

    def noted(row: int):
        def note(error, message) -> None:
            assert error is None
            placed[row] = message.partition()

        return note

    for row, key in enumerate(keys):
        producer.produce(topic, b"v", key=key, on_delivery=noted(row))
    assert producer.flush(60) == 0
    return [placed[row] for row in range(len(keys))]


@pytest.mark.parametrize("key", [None, b"k"], ids=["no-key", "ignored-keys"])
def test_records_whose_keys_do_not_count_go_on_in_batches(
    shared_cluster: Cluster, key: bytes | None
) -> None:
    """As KIP-794 says: the partition changes after `batch.size` bytes."""
    topic = f"keys-in-batches-{key is None}"
    create(shared_cluster, topic, 4)
    keys = [key] * 16_000
    sizes = np.full(len(keys), 100, np.int64)
    # Otherwise a broker that is slow for a moment gets fewer of them.
    settings = [f"{ADAPTIVE}=false", "batch.size=2000", "linger.ms=500"]
    if key is not None:
        settings.append("partitioner.ignore.keys=true")

    # A batch may end before it is full, so only the long run can be foretold. Where all
    # have two batches' worth, a share of 1.5 is six standard deviations away.
    placed = java_places(shared_cluster, topic, keys, *settings)
    ours = place_records(
        find_partitioner("builtin", batch_bytes=2000),
        KeyColumn.of(keys),
        4,
        sizes=sizes,
    ).tolist()

    for each in (placed, ours):
        assert set(each) == {0, 1, 2, 3}
        assert max(Counter(each).values()) / 4000 < 1.5
    # A producer faster than its brokers stays for one to two batches.
    lengths = [len(list(run)) for _, run in groupby(placed)]
    assert 2000 / 120 < median(lengths) < 2 * 2000 / 100


def test_round_robin_deals_in_turn_or_with_skips(shared_cluster: Cluster) -> None:
    create(shared_cluster, "keys-turn", 3)
    settings = (f"partitioner.class={ROUND_ROBIN}", "linger.ms=5000")

    placed = java_places(shared_cluster, "keys-turn", [b"k"] * 300, *settings)

    # One batch of each partition takes all of them: a skip at most for each.
    steps = Counter((b - a) % 3 for a, b in pairwise(placed))
    assert steps[1] >= 290
    assert max(Counter(placed).values()) <= 105


def grown_places(
    cluster: Cluster, topic: str, words: list[bytes | None], old: int
) -> list[int]:
    """Return the places once every broker that the producer asks knows the growth."""
    for _ in range(10):
        first, second = (java_places(cluster, topic, words) for _ in range(2))
        if first == second and max(first) >= old:
            break
    return second


@pytest.mark.parametrize("counts", [(6, 8, 12), (6, 12)], ids=str)
def test_a_topic_that_grows_moves_the_foretold_share(
    shared_cluster: Cluster, tmp_path: Path, counts: tuple[int, ...]
) -> None:
    keys = [f"order-{n}" for n in range(2000)]
    sample = tmp_path / "keys.txt"
    sample.write_text("\n".join(keys))
    topic = f"keys-grow-{len(counts)}"
    create(shared_cluster, topic, counts[0])
    words: list[bytes | None] = [key.encode() for key in keys]
    before = java_places(shared_cluster, topic, words)

    for old, new in pairwise(counts):
        live = ("--bootstrap-server", shared_cluster.bootstrap, "--topic", topic)
        answers = [
            growth(sample, "--from", old, "--to", new),
            growth(*live, "--to", new),
        ]
        with KafkaAdminClient(bootstrap_servers=shared_cluster.bootstrap) as admin:
            admin.create_partitions({topic: new})
        after = grown_places(shared_cluster, topic, words, old)
        moved = sum(a != b for a, b in zip(before, after, strict=True))

        for found in answers:
            assert (found["before"], found["after"]) == (old, new)
            assert found["keys_moved"] == moved
        assert moved / 2000 == pytest.approx(moved_share(old, new), abs=0.04)
        before = after


@pytest.mark.parametrize(
    ("policy", "is_compacted"), [("delete", False), ("compact,delete", True)]
)
def test_a_live_growth_reads_the_policy_and_the_other_topics(
    shared_cluster: Cluster, policy: str, is_compacted: bool
) -> None:
    topic = f"keys-policy-{is_compacted}"
    changelog, joined = f"{topic}-store-changelog", f"{topic}-joined"
    create(shared_cluster, changelog, 5)
    create(shared_cluster, joined, 4)
    shared_cluster.topics(
        *("--create", "--topic", topic, "--partitions", "5"),
        *("--config", f"cleanup.policy={policy}"),
    )
    java_places(shared_cluster, topic, KEYS)
    live = {"bootstrap_servers": shared_cluster.bootstrap, "topic": topic}
    words = ("--bootstrap-server", shared_cluster.bootstrap, "--topic", topic)

    found = growth(*words, "--to", 10, "--joined-with", joined)
    from_python = planner.keys_grow(new=10, joined_with=[joined], **live).document
    skewed = planner.keys_skew(max_messages=10, **live).document

    assert found == from_python
    assert found["compacted"]["topic"] is is_compacted
    assert changelog in found["streams_topics"]
    assert any(f"{joined} has 4, and this topic 5" in note for note in found["notes"])
    assert len(skewed["partitions"]) == 5
    assert skewed["sample"]["records"] == 50


def growth(*words: object) -> dict:
    outcome = run_here("keys", "grow", *words, "--format", "json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_a_sample_of_the_last_records_is_weighed_by_the_logs(
    shared_cluster: Cluster,
) -> None:
    create(shared_cluster, "keys-part", 3)
    rng = np.random.default_rng(3)
    keys = [f"k{n}".encode() for n in rng.integers(0, 30, 3000)]
    placed = Counter(java_places(shared_cluster, "keys-part", keys))

    found = skew(shared_cluster, "keys-part", "--max-messages", 200)

    assert found["sample"]["estimated"]
    assert found["sample"]["records"] == 600
    for row in found["partitions"]:
        assert row["records"] == placed[row["partition"]]
    assert any("estimates" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("topic", "code", "words"),
    [("no-such", 2, "no such topic"), ("keys-empty", 2, "at least one record")],
)
def test_a_topic_without_records_is_refused(
    shared_cluster: Cluster, topic: str, code: int, words: str
) -> None:
    if topic == "keys-empty":
        create(shared_cluster, topic, 1)
    where = ("--bootstrap-server", shared_cluster.bootstrap, "--topic", topic)

    outcome = run_here("keys", "skew", *where)

    assert outcome.code == code
    assert words in outcome.err
