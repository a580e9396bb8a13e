"""`to_state` against the words of the format, read record by record."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    BrokerState,
    ClusterState,
    LogDirState,
    Storage,
)
from planner.snapshot import Snapshot
from support.snapshots import documents, small_document

LIVE = {None, "alive", "new", "demoted"}


def _state(**changes: Any) -> ClusterState:
    return Snapshot.from_document(small_document(**changes)).to_state()


def _one_topic(*partitions: dict[str, Any], **topic: Any) -> list[dict[str, Any]]:
    numbered = [{"partition": i, **each} for i, each in enumerate(partitions)]
    return [{"name": "t", "partitions": numbered, **topic}]


def _expected_partition(
    record: dict[str, Any], live: set[int]
) -> tuple[list[int], int | None, set[int]]:
    """Return replicas, leader and ISR as the format defines them."""
    replicas = record["replicas"]
    isr = record.get("isr")
    listed = set(record.get("offline_replicas") or [])
    serving = {b for b in replicas if b in live and b not in listed}
    in_sync = serving if isr is None else set(isr)
    if "leader" in record:
        leader = record["leader"]
    else:
        leader = next((b for b in replicas if b in serving & in_sync), None)
    return replicas, leader, in_sync


def _lost_dirs(document: dict[str, Any]) -> dict[int, list[str]]:
    return {
        broker["id"]: [
            each["path"]
            for each in broker.get("log_dirs") or []
            if each.get("state") == "offline"
        ]
        for broker in document["brokers"]
    }


def _expected_dirs(
    record: dict[str, Any], document: dict[str, Any], live: set[int]
) -> tuple[list[str | None], set[int]]:
    """Return the log dirs of the replicas, and the brokers where one has failed."""
    lost = _lost_dirs(document)
    is_described = any(path is not None for path in record.get("log_dirs") or [])
    in_sync = _expected_partition(record, live)[2]
    is_leaderless = "leader" in record and record["leader"] is None
    found, failed = [], set()
    paths = record.get("log_dirs") or [None] * len(record["replicas"])
    for broker, named in zip(record["replicas"], paths, strict=True):
        is_listed = broker in (record.get("offline_replicas") or [])
        is_unseen = (
            named is None
            and bool(lost[broker])
            and (is_leaderless or (is_described and broker not in in_sync))
            and broker not in (record.get("adding_replicas") or [])
        )
        is_offline = broker in live and (is_listed or is_unseen)
        is_located = is_offline and named is None and len(lost[broker]) == 1
        path = lost[broker][0] if is_located else named
        if is_offline and path not in lost[broker]:
            failed.add(broker)
        found.append(path)
    return found, failed


def test_former_replicas_stay_in_the_elr_and_are_no_replicas():
    # The controller adds the ISR to the ELR without a look at the replicas that a
    # reassignment has removed.
    former = {"elr": [3, 2], "last_known_elr": [9]}
    topics = _one_topic({"replicas": [1, 2], "leader": 1, "isr": [1], **former})
    snapshot = Snapshot.from_document(small_document(topics=topics))

    replicas = snapshot.to_state().replicas

    assert replicas.is_eligible.tolist() == [False, True]
    assert not replicas.is_last_known_eligible.any()
    assert snapshot.to_document()["topics"][0]["partitions"][0]["elr"] == [3, 2]


@settings(max_examples=60)
@given(documents())
def test_partitions_agree_with_the_records(document: dict[str, Any]):
    state = Snapshot.from_document(document).to_state()
    live = {b["id"] for b in document["brokers"] if b.get("state") in LIVE}
    records = [
        (topic["name"], record)
        for topic in sorted(document["topics"], key=lambda t: t["name"])
        for record in sorted(
            topic.get("partitions") or [], key=lambda p: p["partition"]
        )
    ]

    ids = state.brokers.ids
    assert state.num_partitions == len(records)
    for p, (topic, record) in enumerate(records):
        replicas, leader, in_sync = _expected_partition(record, live)
        rows = slice(*state.replicas.start[p : p + 2])
        found = state.brokers_of(p)
        row = state.partitions.leader_idx[p]
        assert state.name_of(p) == f"{topic}-{record['partition']}"
        assert found == replicas
        assert (None if row == ABSENT else ids[row]) == leader
        assert _named(found, state.replicas.is_in_sync[rows]) == in_sync
        for flags, key in [
            (state.replicas.is_adding, "adding_replicas"),
            (state.replicas.is_removing, "removing_replicas"),
            (state.replicas.is_eligible, "elr"),
            (state.replicas.is_last_known_eligible, "last_known_elr"),
        ]:
            assert _named(found, flags[rows]) == set(record.get(key) or [])
        own = record.get("replica_bytes") or [None] * len(replicas)
        assert state.replicas.own_bytes[rows].tolist() == [
            UNKNOWN if size is None else size for size in own
        ]
        for idx, key in [
            (state.replicas.log_dir_idx, "log_dirs"),
            (state.replicas.future_log_dir_idx, "future_log_dirs"),
        ]:
            expected = record.get(key) or [None] * len(replicas)
            if key == "log_dirs":
                expected, failed = _expected_dirs(record, document, live)
                assert _named(found, state.replicas.is_failed[rows]) == failed
            assert [
                _path(state, d, b) for d, b in zip(idx[rows], found, strict=True)
            ] == (expected)


def _named(brokers: list[int], flags: np.ndarray) -> set[int]:
    return {b for b, is_member in zip(brokers, flags, strict=True) if is_member}


def _path(state: ClusterState, log_dir: int, broker: int) -> str | None:
    if log_dir == ABSENT:
        return None
    assert state.brokers.ids[state.log_dirs.broker_idx[log_dir]] == broker
    return state.log_dirs.paths[log_dir]


@settings(max_examples=60)
@given(documents())
def test_brokers_topics_and_numbers_agree_with_the_records(document: dict[str, Any]):
    state = Snapshot.from_document(document).to_state()
    records = sorted(document["brokers"], key=lambda b: b["id"])

    assert state.brokers.ids.tolist() == [b["id"] for b in records]
    for row, record in enumerate(records):
        brokers = state.brokers
        assert brokers.racks[brokers.rack_idx[row]] == record.get("rack")
        assert brokers.hosts[brokers.host_idx[row]] == record.get("host")
        name = record.get("broker_set")
        at = brokers.broker_set_idx[row]
        assert (None if at == ABSENT else brokers.broker_sets[at]) == name
        assert brokers.disk_bytes[row] == _expected_disk(record)
        code = (record.get("state") or "alive").upper().replace("-", "_")
        assert brokers.state[row] == BrokerState[code]
        for key in ("in_bytes_per_s", "out_bytes_per_s", "cpu_cores"):
            assert _same(getattr(brokers, key)[row], record.get(key))
    topics = sorted(document["topics"], key=lambda t: t["name"])
    default = (document.get("configs") or {}).get("min.insync.replicas", 1)
    assert list(state.topics.names) == [t["name"] for t in topics]
    for row, topic in enumerate(topics):
        configs = topic.get("configs") or {}
        min_isr = int(configs.get("min.insync.replicas", default))
        assert state.topics.min_insync_replicas[row] == min_isr
        assert dict(state.topics.configs[row]) == configs
        assert state.topics.topic_ids[row] == topic.get("topic_id")
        storage = Storage[(topic.get("storage") or "local").upper()]
        assert state.topics.storage[row] == storage
    unnamed = [b for b in records if b.get("rack") is None]
    assert state.num_racks == len(unnamed) + len(
        {b["rack"] for b in records if b.get("rack") is not None}
    )


def _same(found: float, given: float | None) -> bool:
    return bool(np.isnan(found)) if given is None else found == given


def _expected_disk(record: dict[str, Any]) -> int:
    if record.get("disk_bytes") is not None:
        return int(record["disk_bytes"])
    dirs = record.get("log_dirs") or []
    sizes = [d.get("size_bytes") for d in dirs if d.get("state") != "offline"]
    return UNKNOWN if not dirs or None in sizes else sum(sizes)


@settings(max_examples=40)
@given(documents())
def test_log_dirs_are_those_listed_and_those_named(document: dict[str, Any]):
    state = Snapshot.from_document(document).to_state()
    sizes: dict[tuple[int, str], tuple[int, int, int]] = {}
    for topic in document["topics"]:
        for record in topic.get("partitions") or []:
            for key in ("log_dirs", "future_log_dirs"):
                named = record.get(key) or [None] * len(record["replicas"])
                for broker, path in zip(record["replicas"], named, strict=True):
                    if path is not None:
                        sizes[broker, path] = (UNKNOWN, UNKNOWN, LogDirState.ONLINE)
    for broker in document["brokers"]:
        for each in broker.get("log_dirs") or []:
            sizes[broker["id"], each["path"]] = (
                each.get("size_bytes", UNKNOWN),
                each.get("usable_bytes", UNKNOWN),
                LogDirState[(each["state"] or "online").upper()],
            )

    dirs = state.log_dirs
    found = [
        (
            (int(state.brokers.ids[b]), path),
            tuple(
                int(column[d])
                for column in (dirs.size_bytes, dirs.usable_bytes, dirs.state)
            ),
        )
        for d, (b, path) in enumerate(zip(dirs.broker_idx, dirs.paths, strict=True))
    ]
    assert found == sorted(sizes.items())


@pytest.mark.parametrize(
    ("states", "record", "leader", "in_sync"),
    [
        pytest.param({}, {}, 1, [1, 2, 3], id="all-live"),
        pytest.param({1: "dead"}, {}, 2, [2, 3], id="first-is-dead"),
        pytest.param({1: "fenced", 2: "shutting-down"}, {}, 3, [3], id="two-not-live"),
        pytest.param({1: "demoted"}, {}, 1, [1, 2, 3], id="demoted-still-leads"),
        pytest.param({}, {"isr": [3]}, 3, [3], id="first-in-sync"),
        pytest.param({3: "dead"}, {"isr": [3]}, None, [3], id="in-sync-is-dead"),
        pytest.param({}, {"isr": []}, None, [], id="nobody-in-sync"),
        pytest.param({}, {"leader": None}, None, [1, 2, 3], id="none-said"),
        pytest.param({1: "dead"}, {"leader": 1}, 1, [2, 3], id="said-though-dead"),
    ],
)
def test_leader_and_isr_that_are_left_out(
    states: dict[int, str],
    record: dict[str, Any],
    leader: int | None,
    in_sync: list[int],
):
    brokers = [{"id": b, "state": states.get(b)} for b in (1, 2, 3)]
    topics = _one_topic({"replicas": [1, 2, 3], **record})

    state = _state(brokers=brokers, topics=topics)

    row = int(state.partitions.leader_idx[0])
    assert (None if row == ABSENT else int(state.brokers.ids[row])) == leader
    assert sorted(_named([1, 2, 3], state.replicas.is_in_sync)) == in_sync


@pytest.mark.parametrize(
    ("dirs", "given", "expected"),
    [
        pytest.param([], None, UNKNOWN, id="nothing-known"),
        pytest.param([], 7, 7, id="given"),
        pytest.param([(5, None), (3, "online")], None, 8, id="sum"),
        pytest.param([(5, None), (3, "offline")], None, 5, id="offline-is-out"),
        pytest.param([(5, None), (3, "cordoned")], 8, 8, id="cordoned-is-in"),
        pytest.param([(5, None), (None, None)], None, UNKNOWN, id="one-unknown"),
        pytest.param([(5, None), (None, None)], 9, 9, id="one-unknown-but-given"),
        pytest.param([(5, None), (None, "offline")], None, 5, id="unknown-is-offline"),
    ],
)
def test_disk_of_a_broker(
    dirs: list[tuple[int | None, str | None]], given: int | None, expected: int
):
    listed = [
        {"path": f"/d{i}", "size_bytes": size, "state": state}
        for i, (size, state) in enumerate(dirs)
    ]
    brokers = [{"id": 4, "disk_bytes": given, "log_dirs": listed}]

    assert _state(brokers=brokers, topics=[]).brokers.disk_bytes.tolist() == [expected]


def test_empty_cluster():
    state = _state(brokers=[], topics=[{"name": "t"}])

    assert (state.num_brokers, state.num_partitions, len(state.log_dirs)) == (0, 0, 0)
    assert state.topics.names == ("t",)


def test_broker_ids_may_be_far_apart():
    brokers = [{"id": 2**31 - 1}, {"id": 0}]
    topics = _one_topic({"replicas": [2**31 - 1, 0], "leader": 2**31 - 1})

    state = _state(brokers=brokers, topics=topics)

    assert state.brokers_of(0) == [2**31 - 1, 0]
    assert state.partitions.leader_idx.tolist() == [1]
