"""Keys of a live topic: partitions that cannot be read are no empty ones."""

from types import SimpleNamespace

import pytest

from planner.errors import ClusterUnavailableError
from planner.kafka.samples import topic_keys
from planner.keys.sample_options import SampleOptions


def test_a_partition_without_a_leader_is_named_before_anything_is_read(monkeypatch):
    partitions = [
        {"partition_index": number, "leader_id": -1 if number == 2 else 1}
        for number in range(3)
    ]
    topics = {"t": {"name": "t", "partitions": partitions}}
    monkeypatch.setattr(topic_keys, "read_topics", lambda *_: topics)
    monkeypatch.setattr(topic_keys, "refuse_hidden", lambda *_: None)
    client = SimpleNamespace(servers="h:9092")

    with pytest.raises(ClusterUnavailableError, match=r"t-2 \(1 of 3 partitions\)"):
        topic_keys.read_topic_keys(client, SampleOptions(topic="t"), 10)


def test_records_are_in_one_order_however_brokers_answer():
    records = topic_keys._Records(
        keys=[b"c", b"a", b"d", b"b"], sizes=[3, 1, 4, 2], partitions=[1, 0, 1, 0]
    )

    ordered = records.ordered()

    assert ordered.keys == [b"a", b"b", b"c", b"d"]
    assert ordered.sizes == [1, 2, 3, 4]
    assert ordered.partitions == [0, 0, 1, 1]
