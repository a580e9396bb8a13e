"""The facts about the bundled cluster that the first screen is read for."""

import gzip
import json
from collections import Counter

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.demo.make_snapshot import make_bytes

OLD = range(1, 10)
NEW = range(10, 13)


@pytest.fixture(scope="module")
def document():
    return json.loads(gzip.decompress(SNAPSHOT_FILE.read_bytes()))


@pytest.fixture(scope="module")
def partitions(document):
    return [
        {**partition, "topic": topic["name"]}
        for topic in document["topics"]
        for partition in topic["partitions"]
    ]


def carried(partitions, weigh):
    """Return what each broker carries: `weigh` gives a partition's share by broker."""
    total = Counter()
    for partition in partitions:
        total.update(weigh(partition))
    return total


def disk(partition):
    return dict.fromkeys(partition["replicas"], partition["size_bytes"])


def bytes_in(partition):
    return dict.fromkeys(partition["replicas"], partition["in_bytes_per_s"])


def bytes_out(partition):
    sent_to_followers = 2 * partition["in_bytes_per_s"]
    return {partition["leader"]: partition["out_bytes_per_s"] + sent_to_followers}


@pytest.mark.slow
def test_generator_still_makes_the_bundled_document():
    made = make_bytes()

    assert gzip.decompress(made) == gzip.decompress(SNAPSHOT_FILE.read_bytes())
    assert made == make_bytes()
    # Bytes 4 to 8 of a gzip header are its time.
    assert SNAPSHOT_FILE.read_bytes()[4:8] == bytes(4)


def test_header(document):
    header = {key: document[key] for key in ("format", "version", "cluster_id")}

    assert header == {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "orders-eu",
    }
    assert document["taken_at"] == "2026-11-21T08:00:00Z"
    assert document["configs"]["min.insync.replicas"] == "2"


def test_twelve_brokers_in_three_racks_three_just_added(document):
    brokers = document["brokers"]

    assert [b["id"] for b in brokers] == [*OLD, *NEW]
    assert Counter(b["rack"] for b in brokers) == {"a": 4, "b": 4, "c": 4}
    assert [b["id"] for b in brokers if b["state"] == "alive"] == list(OLD)
    assert [b["id"] for b in brokers if b["state"] == "new"] == list(NEW)
    assert {b["rack"] for b in brokers if b["state"] == "new"} == {"a", "b", "c"}


def test_topics_and_partitions(document, partitions):
    names = [topic["name"] for topic in document["topics"]]

    assert len(names) == 40
    assert len({topic["topic_id"] for topic in document["topics"]}) == 40
    assert names == sorted(names)
    assert "__consumer_offsets" in names
    assert len(partitions) == 312
    compacted = [t for t in document["topics"] if "cleanup.policy" in t["configs"]]
    assert 2 <= len(compacted) <= 12


def test_three_copies_in_three_racks_all_in_sync(document, partitions):
    rack_of = {broker["id"]: broker["rack"] for broker in document["brokers"]}

    for partition in partitions:
        assert {rack_of[b] for b in partition["replicas"]} == {"a", "b", "c"}
        assert len(partition["replicas"]) == 3
        assert partition["isr"] == sorted(partition["replicas"])
        assert partition["leader"] == partition["replicas"][0]


def test_counts_are_even_over_the_old_brokers(partitions):
    replicas = carried(partitions, lambda p: dict.fromkeys(p["replicas"], 1))
    leaders = carried(partitions, lambda p: {p["leader"]: 1})

    assert replicas == dict.fromkeys(OLD, 104)
    assert set(leaders) == set(OLD)
    assert set(leaders.values()) == {34, 35}


def test_only_broker_4_is_over_the_disk_threshold(document, partitions):
    capacity = {broker["id"]: broker["disk_bytes"] for broker in document["brokers"]}

    use = {b: load / capacity[b] for b, load in carried(partitions, disk).items()}

    assert set(capacity.values()) == {10**12}
    assert 0.81 <= use.pop(4) <= 0.82
    assert min(use.values()) == pytest.approx(0.473, abs=0.001)
    assert max(use.values()) == pytest.approx(0.745, abs=0.001)
    assert sum(carried(partitions, disk).values()) == pytest.approx(5.4e12, rel=1e-6)


@pytest.mark.parametrize(
    ("weigh", "capacity_name", "low", "high"),
    [
        pytest.param(bytes_in, "in_bytes_per_s", 0.41, 0.66, id="in"),
        pytest.param(bytes_out, "out_bytes_per_s", 0.38, 0.70, id="out"),
    ],
)
def test_network_use_differs_but_stays_below_its_threshold(
    document, partitions, weigh, capacity_name, low, high
):
    capacity = {broker["id"]: broker[capacity_name] for broker in document["brokers"]}

    use = [load / capacity[b] for b, load in carried(partitions, weigh).items()]

    assert min(use) == pytest.approx(low, abs=0.015)
    assert max(use) == pytest.approx(high, abs=0.015)


def test_no_replica_is_too_heavy_for_a_band_of_five_percent(partitions):
    for weigh, most in ((disk, 0.05), (bytes_in, 0.05), (bytes_out, 0.15)):
        share = sum(carried(partitions, weigh).values()) / 12
        heaviest = max(max(weigh(p).values()) for p in partitions)
        assert heaviest <= most * share


def test_two_or_three_topics_are_hot(partitions):
    by_topic = Counter()
    for partition in partitions:
        by_topic[partition["topic"]] += partition["in_bytes_per_s"]

    shares = [rate / by_topic.total() for _, rate in by_topic.most_common(4)]

    assert by_topic.most_common(1)[0][0] == "clickstream.raw"
    assert shares[0] > 0.15
    assert sum(shares[:3]) > 0.3


def test_log_dirs_hold_what_their_replicas_and_their_free_space_say(
    document, partitions
):
    used = Counter()
    for partition in partitions:
        for broker, path in zip(
            partition["replicas"], partition["log_dirs"], strict=True
        ):
            used[broker, path] += partition["size_bytes"]

    for broker in document["brokers"]:
        assert len(broker["log_dirs"]) == 2
        total = sum(log_dir["size_bytes"] for log_dir in broker["log_dirs"])
        assert total == broker["disk_bytes"]
        for log_dir in broker["log_dirs"]:
            held = used[broker["id"], log_dir["path"]]
            assert log_dir["usable_bytes"] == log_dir["size_bytes"] - held


def test_every_rate_is_known(partitions):
    for partition in partitions:
        assert partition["in_bytes_per_s"] > 0
        assert partition["out_bytes_per_s"] >= 0
