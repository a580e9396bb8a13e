import json
from typing import Any

from hypothesis import given, settings

from planner.snapshot import Snapshot
from planner.snapshot.actions.anonymize import anonymize, anonymous_names
from support.snapshots import documents, small_document

OWNER = "acme"


def _secret_document() -> dict[str, Any]:
    document = small_document(
        cluster_id=f"{OWNER}-prod",
        kafka_version="4.3.1",
        configs={"log.dirs": f"/{OWNER}", "min.insync.replicas": "2"},
        rates={"source": f"{OWNER}-metrics", "window_s": 60, "split": "equal"},
        controllers=[{"id": 9, "rack": "a"}],
    )
    for broker in document["brokers"]:
        broker |= {
            "host": f"{OWNER}-{broker['id']}",
            "broker_set": OWNER,
            "tags": {OWNER: f"{OWNER}2"},
            "configs": {"x": OWNER},
        }
    document["topics"][0] |= {
        "name": f"{OWNER}-orders",
        "topic_id": OWNER,
        "tags": {"owner": OWNER},
        "configs": {"cleanup.policy": "compact", "y": OWNER, "retention.ms": "-1"},
    }
    document["topics"].append({"name": "__consumer_offsets"})
    return document


def test_no_name_is_left():
    found = anonymize(Snapshot.from_document(_secret_document())).to_document()

    assert OWNER not in json.dumps(found)
    names = {topic["name"] for topic in found["topics"]}
    assert "__consumer_offsets" in names
    (orders,) = (t for t in found["topics"] if t["name"] != "__consumer_offsets")
    assert orders["configs"]["cleanup.policy"] == "compact"
    assert orders["configs"]["retention.ms"] == "-1"
    assert found["configs"]["min.insync.replicas"] == "2"
    assert found["kafka_version"] == "4.3.1"
    assert found["rates"]["split"] == "equal"
    assert found["controllers"][0]["rack"] == found["brokers"][0]["rack"]
    dirs = {d["path"] for d in found["brokers"][0]["log_dirs"]}
    assert set(orders["partitions"][0]["log_dirs"]) == dirs


@settings(max_examples=40)
@given(documents())
def test_shape_and_numbers_stay(document: dict[str, Any]):
    snapshot = Snapshot.from_document(document)

    found = anonymize(snapshot)

    before, after = snapshot.to_state(), found.to_state()
    assert after.num_racks == before.num_racks
    assert len(after.log_dirs) == len(before.log_dirs)
    assert len(set(after.topics.names)) == len(before.topics)
    assert _shapes(found) == _shapes(snapshot)
    assert anonymize(snapshot).equals(found)


def _shapes(snapshot: Snapshot) -> list[str]:
    """Return the partitions without names, in an order that names do not decide."""
    columns = [
        name
        for name in snapshot.partitions.column_names
        if name not in {"topic", "log_dirs", "future_log_dirs"}
    ]
    return sorted(map(repr, snapshot.partitions.select(columns).to_pylist()))


def test_names_never_collide():
    names = [f"n{i}" for i in range(200)]

    new = anonymous_names("x-", names, digits=1)

    assert len(set(new.values())) == len(names) + 1
    assert new[None] is None


def test_a_name_does_not_depend_on_the_others():
    assert anonymous_names("x-", ["a", "b"])["a"] == anonymous_names("x-", ["a"])["a"]
    assert anonymous_names("y-", ["a"])["a"] != anonymous_names("x-", ["a"])["a"]
