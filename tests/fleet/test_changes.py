"""What moved between two snapshots, told by hand and by a naive look."""

import json
from copy import deepcopy

import pytest
from hypothesis import assume, given, settings

from planner.fleet.cluster_plans import NamedRequest, plan_row
from planner.fleet.snapshot_changes import COUNTS, change_table, drift_rows
from planner.kafka_files.reassignment_file import parse_reassignment
from planner.options.plan_request import PlanRequest
from planner.snapshot import Snapshot
from planner.snapshot.actions.apply_plan import apply_plan
from support.plans import skewed_document
from support.snapshots import documents, small_document


def changed(before, after):
    tables = [Snapshot.from_document(each).tables() for each in (before, after)]
    total, *rows = change_table(*tables, taken_before=7).to_pylist()
    assert total["topic"] is None
    return {name: total[name] for name in COUNTS if total[name]}, rows


def first(document):
    return document["topics"][0]["partitions"][0]


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param(
            {"replicas": [1, 3], "isr": [1, 3], "log_dirs": None},
            {"copies": 1, "bytes": 100, "dropped_replicas": 1, "changed_partitions": 1},
            id="copy",
        ),
        pytest.param(
            {"leader": 2},
            {"leader_changes": 1, "changed_partitions": 1},
            id="leader",
        ),
        pytest.param(
            {"replicas": [2, 1], "leader": None, "log_dirs": None},
            {"leader_changes": 1, "first_replica_changes": 1, "changed_partitions": 1},
            id="order",
        ),
        pytest.param(
            {"replicas": [1, 2, 3], "isr": [1, 2], "log_dirs": None, "size_bytes": 900},
            {"copies": 1, "bytes": 100, "changed_partitions": 1},
            id="factor",
        ),
        pytest.param(
            {"log_dirs": ["/d2", "/d2"]},
            {"log_dir_moves": 1, "log_dir_bytes": 100, "changed_partitions": 1},
            id="log-dir",
        ),
        pytest.param({"log_dirs": [None, "/d2"]}, {}, id="log-dir-not-said"),
        pytest.param(
            {"partition": 7}, {"new_partitions": 1, "gone_partitions": 1}, id="number"
        ),
    ],
)
def test_small_changes(change, counts):
    before, after = small_document(), small_document()
    first(after).update(change)

    found, rows = changed(before, after)

    assert found == counts
    assert len(rows) == counts.get("changed_partitions", 0)


def test_where_replicas_came_from_and_went():
    after = small_document()
    first(after).update(replicas=[3, 1], isr=[3, 1], leader=3, log_dirs=None)

    _, (row,) = changed(small_document(), after)

    assert (row["topic"], row["partition"]) == ("orders", 0)
    assert (row["from_brokers"], row["to_brokers"]) == ([2], [3])


def test_a_topic_made_anew_is_gone_and_new():
    before, after = small_document(), small_document()
    before["topics"][0]["topic_id"], after["topics"][0]["topic_id"] = "x", "y"

    found, _ = changed(before, after)

    assert found == {"new_partitions": 2, "gone_partitions": 2}


def test_shared_storage_moves_no_bytes_and_brokers_come_and_go():
    before, after = small_document(), small_document()
    after["topics"][0]["storage"] = "shared"
    first(after).update(replicas=[1, 4], isr=[1], log_dirs=None)
    after["brokers"].append({"id": 4, "rack": "a"})

    found, _ = changed(before, after)

    assert found == {
        "copies": 1,
        "dropped_replicas": 1,
        "changed_partitions": 1,
        "new_brokers": 1,
    }


def naive(before, after):
    """Count copies, drops and their bytes, one partition after the other."""
    old, new = (
        {
            (topic["name"], each["partition"]): each
            for topic in document["topics"]
            for each in topic.get("partitions") or ()
        }
        for document in (before, after)
    )
    both = old.keys() & new.keys()
    added = {k: set(new[k]["replicas"]) - set(old[k]["replicas"]) for k in both}
    dropped = {k: set(old[k]["replicas"]) - set(new[k]["replicas"]) for k in both}
    shared = {t["name"] for t in after["topics"] if t.get("storage") == "shared"}

    def size(key):
        known = [each[key].get("size_bytes") for each in (old, new)]
        sizes = [each for each in known if each is not None]
        return sizes[0] if sizes and key[0] not in shared else 0

    return {
        "copies": sum(map(len, added.values())),
        "bytes": sum(len(added[key]) * size(key) for key in both),
        "dropped_replicas": sum(map(len, dropped.values())),
        "new_partitions": len(new.keys() - old.keys()),
        "gone_partitions": len(old.keys() - new.keys()),
    }


@pytest.mark.not_quick
@settings(max_examples=40)
@given(documents(), documents())
def test_any_two_snapshots_are_compared_as_a_naive_look_does(before, other):
    assume(before["topics"] and before["brokers"])
    # The same topics with the replicas of others, so that there is something in common.
    after = deepcopy(before)
    ids = sorted(broker["id"] for broker in after["brokers"])
    sizes = [len(str(other)) + n for n in range(50)]
    for topic in [*after["topics"], *before["topics"]]:
        topic.pop("topic_id", None)
    for n, partition in enumerate(
        p for t in after["topics"] for p in t.get("partitions") or ()
    ):
        kept = {k: partition[k] for k in ("partition", "size_bytes") if k in partition}
        partition.clear()
        partition.update(kept, replicas=[ids[sizes[n % 50] % len(ids)]])
    after["topics"] = after["topics"][: 1 + len(other["topics"])]

    found, rows = changed(before, after)

    expected = naive(before, after)
    assert {name: found.get(name, 0) for name in expected} == expected
    assert sum(row["copies"] for row in rows) == expected["copies"]
    assert sum(len(row["to_brokers"]) for row in rows) == expected["copies"]
    assert sum(len(row["from_brokers"]) for row in rows) == expected["dropped_replicas"]


def test_what_became_of_a_plan():
    import pyarrow as pa

    snapshot = Snapshot.from_document(skewed_document())
    request = NamedRequest(
        name="r", request=PlanRequest(goal="rebalance", effort="quick")
    )
    row = plan_row(snapshot.tables(), snapshot.header(), request)
    broken = row | {"plan": None}
    plans = pa.Table.from_pylist([row, broken])
    text = dict(row["files"])["reassignment.json"]
    asked = parse_reassignment(json.loads(text), file="r")
    moved = apply_plan(snapshot, asked)

    (done,) = drift_rows(plans, moved.tables(), {}, planned_at=7)
    (undone,) = drift_rows(plans, snapshot.tables(), {}, planned_at=7)
    (unknown,) = drift_rows(plans, moved.tables(), {"taken_at": "x"}, planned_at=7)

    assert (done["status"], done["completed"]) == ("completed", len(asked))
    assert (undone["status"], undone["not_started"]) == ("not-started", len(asked))
    assert (unknown["status"], "taken_at" in unknown["reason"]) == ("unknown", True)
    for load in json.loads(done["loads"]):
        assert load["measured"] == pytest.approx(load["predicted"])
    total, *_ = change_table(
        snapshot.tables(), moved.tables(), taken_before=0
    ).to_pylist()
    assert total["copies"] == row["moved_replicas"]
    assert total["bytes"] == row["moved_bytes"]
