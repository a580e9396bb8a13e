"""A wrong document: each problem is named where it stands."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from planner.errors import BadInputError
from planner.snapshot import Snapshot
from support.snapshots import small_document

P0 = ("topics", 0, "partitions", 0)


def _set(*path: Any) -> Callable[[dict[str, Any]], None]:
    *at, key, value = path

    def change(document: dict[str, Any]) -> None:
        where: Any = document
        for step in at:
            where = where[step]
        where[key] = value

    return change


def _append(*path: Any) -> Callable[[dict[str, Any]], None]:
    *at, value = path

    def change(document: dict[str, Any]) -> None:
        where: Any = document
        for step in at:
            where = where[step]
        where.append(value)

    return change


def _pop(*path: Any) -> Callable[[dict[str, Any]], None]:
    *at, key = path

    def change(document: dict[str, Any]) -> None:
        where: Any = document
        for step in at:
            where = where[step]
        del where[key]

    return change


# What is changed in a good document; the place named; a word of the rule.
BROKEN = [
    ("format", _set("format", "x"), "format", "must be"),
    ("version", _set("version", 2), "version", "must be 1"),
    ("version-text", _set("version", "1"), "version", "must be 1"),
    ("no-format", _pop("format"), "format", "required"),
    ("unknown-key", _set("colour", "red"), "colour", "unknown key"),
    ("unknown-broker-key", _set("brokers", 1, "dsk", 1), "brokers[1].dsk", "unknown"),
    (
        "unknown-partition-key",
        _set(*P0, "repicas", []),
        "topics[0].partitions[0].repicas",
        "unknown key",
    ),
    ("time", _set("taken_at", "yesterday"), "taken_at", "isoformat"),
    ("time-without-zone", _set("taken_at", "2026-11-21T08:00:00"), "taken_at", "zone"),
    ("brokers-no-list", _set("brokers", {}), "brokers", "must be a list"),
    ("no-broker-id", _pop("brokers", 0, "id"), "brokers[0].id", "required"),
    ("broker-id-below-0", _set("brokers", 0, "id", -1), "brokers[0].id", "at least 0"),
    (
        "broker-id-beyond-int32",
        _set("brokers", 0, "id", 2**31),
        "brokers[0].id",
        "2147",
    ),
    ("broker-id-float", _set("brokers", 0, "id", 1.0), "brokers[0].id", "integer"),
    ("broker-id-bool", _set("brokers", 0, "id", True), "brokers[0].id", "integer"),
    ("broker-twice", _append("brokers", {"id": 1}), "brokers[3].id", "once"),
    ("broker-state", _set("brokers", 0, "state", "up"), "brokers[0].state", "'alive'"),
    (
        "negative-capacity",
        _set("brokers", 0, "max_replicas", -5),
        "brokers[0].max_replicas",
        "at least 0",
    ),
    (
        "nan",
        _set("brokers", 0, "cpu_cores", float("nan")),
        "brokers[0].cpu_cores",
        "fin",
    ),
    ("inf", _set("brokers", 0, "cpu_cores", 1e999), "brokers[0].cpu_cores", "finite"),
    (
        "huge-rate",
        _set("brokers", 0, "cpu_cores", 1.1e18),
        "brokers[0].cpu_cores",
        "at most 1000000000000000000",
    ),
    (
        "disk-is-not-the-sum",
        _set("brokers", 0, "disk_bytes", 999),
        "brokers[0].disk_bytes",
        "sum of the online log dirs, 1000",
    ),
    (
        "log-dir-twice",
        _append("brokers", 2, "log_dirs", {"path": "/d2"}),
        "brokers[2].log_dirs[2].path",
        "once",
    ),
    (
        "usable-beyond-size",
        _set("brokers", 1, "log_dirs", 0, "usable_bytes", 601),
        "brokers[1].log_dirs[0].usable_bytes",
        "must not exceed size_bytes, 600",
    ),
    (
        "log-dir-without-path",
        _set("brokers", 1, "log_dirs", 0, "path", ""),
        "brokers[1].log_dirs[0].path",
        "empty",
    ),
    ("config-no-text", _set("configs", {"a": 1}), "configs.a", "must be a string"),
    (
        "min-isr-of-cluster",
        _set("configs", {"min.insync.replicas": "two"}),
        "configs.min.insync.replicas",
        "integer from 1",
    ),
    (
        "min-isr-of-topic",
        _set("topics", 0, "configs", {"min.insync.replicas": "0"}),
        "topics[0].configs.min.insync.replicas",
        "integer from 1",
    ),
    ("features", _set("features", {"f": -1}), "features.f", "at least 0"),
    ("quantile", _set("rates", {"quantile": 1.5}), "rates.quantile", "at most 1"),
    (
        "controller-twice",
        _set("controllers", [{"id": 1}, {"id": 1}]),
        "controllers[1].id",
        "once",
    ),
    ("topic-no-object", _append("topics", 7), "topics[1]", "object"),
    (
        "topic-twice",
        _append("topics", {"name": "orders", "partitions": []}),
        "topics[1].name",
        "once",
    ),
    (
        "partition-twice",
        _append("topics", 0, "partitions", {"partition": 1, "replicas": [1]}),
        "topics[0].partitions[2].partition",
        "once",
    ),
    (
        "partition-below-0",
        _set(*P0, "partition", -1),
        "topics[0].partitions[0].partition",
        "at least 0",
    ),
    (
        "no-replicas",
        _set("topics", 0, "partitions", 1, "replicas", []),
        "topics[0].partitions[1].replicas",
        "at least one replica",
    ),
    (
        "replicas-null",
        _set(*P0, "replicas", None),
        "topics[0].partitions[0].replicas",
        "must be a list",
    ),
    (
        "unknown-broker",
        _set("topics", 0, "partitions", 1, "replicas", [2, 9]),
        "topics[0].partitions[1].replicas",
        "lacks 9",
    ),
    (
        "broker-beyond-int32",
        _set(*P0, "replicas", [1, 2**40]),
        "topics[0].partitions[0].replicas[1]",
        "at most 2147483647",
    ),
    (
        "twice-on-a-broker",
        _set("topics", 0, "partitions", 1, "replicas", [2, 3, 2]),
        "topics[0].partitions[1].replicas",
        "lists 2 twice",
    ),
    (
        "leader-no-replica",
        _set(*P0, "leader", 3),
        "topics[0].partitions[0].leader",
        "one of the replicas",
    ),
    (
        "isr-no-replica",
        _set(*P0, "isr", [1, 3]),
        "topics[0].partitions[0].isr",
        "3 is not",
    ),
    (
        "isr-twice",
        _set(*P0, "isr", [1, 1]),
        "topics[0].partitions[0].isr",
        "twice",
    ),
    ("elr", _set(*P0, "elr", [2, 2]), "topics[0].partitions[0].elr", "twice"),
    (
        "last-known-elr",
        _set(*P0, "last_known_elr", [2, 2]),
        "topics[0].partitions[0].last_known_elr",
        "twice",
    ),
    (
        "adding",
        _set(*P0, "adding_replicas", [3]),
        "topics[0].partitions[0].adding_replicas",
        "3 is not",
    ),
    (
        "removing",
        _set(*P0, "removing_replicas", [3]),
        "topics[0].partitions[0].removing_replicas",
        "3 is not",
    ),
    (
        "all-adding",
        _set(*P0, "adding_replicas", [2, 1]),
        "topics[0].partitions[0].adding_replicas",
        "must not be adding",
    ),
    (
        "log-dirs-too-few",
        _set(*P0, "log_dirs", ["/d1"]),
        "topics[0].partitions[0].log_dirs",
        "each of the 2 replicas",
    ),
    (
        "future-log-dirs-too-many",
        _set(*P0, "future_log_dirs", [None] * 3),
        "topics[0].partitions[0].future_log_dirs",
        "each of the 2 replicas",
    ),
    (
        "replica-bytes-too-few",
        _set(*P0, "replica_bytes", []),
        "topics[0].partitions[0].replica_bytes",
        "each of the 2 replicas",
    ),
    (
        "log-dir-not-listed",
        _set(*P0, "log_dirs", ["/d1", "/d3"]),
        "topics[0].partitions[0].log_dirs",
        "broker 2 must list",
    ),
    (
        "future-log-dir-not-listed",
        _set(*P0, "future_log_dirs", ["/d3", None]),
        "topics[0].partitions[0].future_log_dirs",
        "broker 1 must list",
    ),
    (
        "empty-log-dir",
        _set(*P0, "log_dirs", ["", None]),
        "topics[0].partitions[0].log_dirs[0]",
        "empty",
    ),
    (
        "negative-size",
        _set(*P0, "size_bytes", -1),
        "topics[0].partitions[0].size_bytes",
        "at least 0",
    ),
    (
        "size-beyond-64-bits",
        _set(*P0, "size_bytes", 2**63),
        "topics[0].partitions[0].size_bytes",
        "at most 9223372036854775807",
    ),
    (
        "size-of-400-digits",
        _set(*P0, "size_bytes", 10**400),
        "topics[0].partitions[0].size_bytes",
        "at most",
    ),
    (
        "size-of-5000-digits",
        _set(*P0, "size_bytes", 10**5000),
        "topics[0].partitions[0].size_bytes",
        "at most",
    ),
    (
        "sum-overflows",
        _set(*P0, "size_bytes", 2**61),
        "partitions, size_bytes",
        "2^62",
    ),
    (
        "own-bytes-overflow",
        _set(*P0, "replica_bytes", [2**61, 2**61]),
        "partitions, replica_bytes",
        "2^62",
    ),
    (
        "remote-bytes-overflow",
        _set(*P0, "remote_bytes", 2**62),
        "partitions, remote_bytes",
        "2^62",
    ),
    (
        "surrogate",
        _set("cluster_id", "\ud800"),
        "cluster_id",
        "valid Unicode",
    ),
    *(
        (
            f"topic-{label}",
            _set("topics", 0, "name", name),
            "topics[0].name",
            "1 to 249",
        )
        for label, name in [
            ("empty", ""),
            ("dot", "."),
            ("dots", ".."),
            ("slash", "a/b"),
            ("space", "a b"),
            ("newline", "a\n"),
            ("umlaut", "ä"),
            ("250-long", "a" * 250),
        ]
    ),
]


def _problems(document: Any) -> list[tuple[str, str]]:
    with pytest.raises(BadInputError) as caught:
        Snapshot.from_document(document, file="s.json")
    assert all(each.file == "s.json" for each in caught.value.problems)
    return [(each.place, each.rule) for each in caught.value.problems]


@pytest.mark.parametrize(
    ("change", "place", "word"),
    [pytest.param(*case, id=label) for label, *case in BROKEN],
)
def test_one_problem_is_named_where_it_stands(
    change: Callable[[dict[str, Any]], None], place: str, word: str
):
    document = small_document()
    change(document)

    ((found, rule),) = _problems(document)

    assert found == place
    assert word in rule


def test_names_that_kafka_takes_are_taken():
    names = ["a" * 249, "...", "a.b_c-D9", "__consumer_offsets"]
    topics = [{"name": name} for name in names]

    snapshot = Snapshot.from_document(small_document(topics=topics))

    assert snapshot.topics.column("topic").to_pylist() == sorted(names)


def test_every_problem_is_named_at_once():
    document = small_document()
    changes = [
        _set("version", 7),
        _set("brokers", 1, "cpu_cores", "many"),
        _set("brokers", 1, "log_dirs", 0, "usable_bytes", 601),
        _set(*P0, "isr", [1, 3]),
        _set(*P0, "size_bytes", -4),
        _set("topics", 0, "partitions", 1, "replicas", [8]),
        _append("topics", {"name": "a b", "colour": 1}),
    ]
    for change in changes:
        change(document)

    places = {place for place, _ in _problems(document)}

    assert places == {
        "version",
        "brokers[1].cpu_cores",
        "brokers[1].log_dirs[0].usable_bytes",
        "topics[0].partitions[0].isr",
        "topics[0].partitions[0].size_bytes",
        "topics[0].partitions[1].replicas",
        "topics[1].name",
        "topics[1].colour",
    }


def test_a_refused_document_is_not_changed():
    document = small_document(colour="red")
    document["topics"][0]["partitions"][0]["leader"] = "x"
    before = copy.deepcopy(document)

    _problems(document)

    assert document == before


@pytest.mark.parametrize("document", [None, 7, "x", [], [1], True], ids=repr)
def test_a_document_is_an_object(document: Any):
    assert len(_problems(document)) == 1
