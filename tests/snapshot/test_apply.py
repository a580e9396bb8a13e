from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.snapshot import Snapshot
from planner.snapshot.actions.apply_plan import apply_plan
from planner.snapshot.actions.started_plan import start_plan
from support.snapshots import documents, small_document

Entry = tuple[str, int, list[int], list[str | None] | None]
LIVE = {None, "alive", "new", "demoted"}


def _plan(*entries: Entry) -> Any:
    columns = list(zip(*entries, strict=True)) or [(), (), (), ()]
    names = ("topics", "partitions", "replicas", "log_dirs")
    return SimpleNamespace(**dict(zip(names, columns, strict=True)))


def _after(document: dict[str, Any], *entries: Entry) -> dict[str, Any]:
    """Return the partitions by name, after a plan."""
    after = apply_plan(Snapshot.from_document(document), _plan(*entries))
    checked = Snapshot.from_document(after.to_document())
    assert checked.equals(after)
    return {
        f"{topic['name']}-{partition['partition']}": partition
        for topic in after.to_document()["topics"]
        for partition in topic.get("partitions") or []
    }


def _orders(**fields: Any) -> dict[str, Any]:
    document = small_document()
    document["topics"][0]["partitions"][0] |= fields
    return document


@pytest.mark.parametrize(
    ("before", "target", "dirs", "after"),
    [
        pytest.param({}, [3, 1], None, {"log_dirs": [None, "/d1"]}, id="kept-dir"),
        pytest.param(
            {}, [1, 3], ["/d2", None], {"log_dirs": ["/d2", None]}, id="named-dir"
        ),
        pytest.param(
            {"log_dirs": None},
            [1, 3],
            [None, "/d1"],
            {"log_dirs": [None, "/d1"]},
            id="dirs-were-unknown",
        ),
        pytest.param({"log_dirs": None}, [1, 3], None, {}, id="dirs-stay-unknown"),
        pytest.param(
            {"replica_bytes": [90, 80]},
            [2, 3],
            None,
            {"replica_bytes": [80, 100], "log_dirs": ["/d2", None]},
            id="own-bytes",
        ),
        pytest.param(
            {"replica_bytes": [90, 80], "size_bytes": None, "log_dirs": None},
            [2, 3],
            None,
            {"replica_bytes": [80, None]},
            id="bytes-of-the-moved-unknown",
        ),
        pytest.param(
            {
                "replicas": [1, 2, 3],
                "isr": [1],
                "elr": [2],
                "last_known_elr": [3],
                "adding_replicas": [3],
                "removing_replicas": [2],
                "log_dirs": None,
                "future_log_dirs": ["/d2", None, None],
            },
            [1, 3],
            None,
            {
                "elr": [],
                "last_known_elr": [],
                "adding_replicas": [],
                "removing_replicas": [],
                "future_log_dirs": [None, None],
            },
            id="nothing-goes-on",
        ),
    ],
)
def test_partition_of_a_plan(
    before: dict[str, Any],
    target: list[int],
    dirs: list[str | None] | None,
    after: dict[str, Any],
):
    document = _orders(**before)

    found = _after(document, ("orders", 0, target, dirs))["orders-0"]

    kept = {
        key: document["topics"][0]["partitions"][0][key]
        for key in ("partition", "size_bytes", "in_bytes_per_s")
        if document["topics"][0]["partitions"][0][key] is not None
    }
    assert (
        found == kept | {"replicas": target, "leader": target[0], "isr": target} | after
    )


@pytest.mark.parametrize(
    ("dead", "fields", "leader"),
    [
        pytest.param([], {"leader": 2}, 1, id="preferred"),
        pytest.param([1], {"leader": 1, "isr": [1, 2]}, 2, id="first-is-dead"),
        pytest.param([], {"leader": 1, "isr": [2]}, 2, id="first-not-in-sync"),
        pytest.param([], {"leader": 1, "isr": None}, 1, id="isr-left-out"),
        pytest.param([1, 2], {"leader": 1}, None, id="all-dead"),
        pytest.param([], {"leader": None, "isr": [2, 1]}, 1, id="had-none"),
    ],
)
def test_partitions_left_alone_are_led_by_their_first_replica(
    dead: list[int], fields: dict[str, Any], leader: int | None
):
    document = _orders(**fields)
    for broker in document["brokers"]:
        broker["state"] = "dead" if broker["id"] in dead else "alive"

    assert _after(document)["orders-0"]["leader"] == leader


@pytest.mark.parametrize(
    ("entry", "usable"),
    [
        pytest.param((0, [2, 1], None), {}, id="nothing-moved"),
        pytest.param((0, [3, 2], ["/d1", None]), {1: 400, 3: 200}, id="moved"),
        pytest.param((0, [3, 2], None), {1: 400, 3: 200}, id="the-emptiest-takes-it"),
        pytest.param((0, [2], ["/d1"]), {1: 400, 2: 200}, id="into-another-dir"),
    ],
)
def test_free_space_follows_the_replicas(
    entry: tuple[int, list[int], list[str | None] | None], usable: dict[int, int]
):
    snapshot = Snapshot.from_document(small_document())

    after = apply_plan(snapshot, _plan(("orders", *entry)))

    rows = after.log_dirs.to_pylist()
    found = {r["broker_id"]: r["usable_bytes"] for r in rows if r["path"] == "/d1"}
    assert found == {1: 300, 2: 300, 3: 300} | usable


def test_an_overfilled_log_dir_has_no_free_space():
    document = _orders(size_bytes=500)

    after = apply_plan(
        Snapshot.from_document(document), _plan(("orders", 0, [3, 2], ["/d1", None]))
    )

    assert after.log_dirs.column("usable_bytes").to_pylist()[4] == 0


def test_dead_brokers_of_a_target_are_not_in_sync():
    document = small_document()
    document["brokers"][1]["state"] = "dead"

    found = _after(document, ("orders", 1, [2, 3, 1], None))["orders-1"]

    assert (found["leader"], found["isr"]) == (3, [3, 1])


def _drawn_entries(document: dict[str, Any], data: st.DataObject) -> list[Entry]:
    """Draw targets for some partitions."""
    ids = [b["id"] for b in document["brokers"]]
    names = [
        (topic["name"], p["partition"])
        for topic in document["topics"]
        for p in topic.get("partitions") or []
    ]
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    return [
        (
            topic,
            partition,
            data.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True)),
            None,
        )
        for topic, partition in chosen
    ]


@settings(max_examples=50)
@given(documents(), st.data())
def test_a_plan_changes_what_it_names_and_nothing_else(
    document: dict[str, Any], data: st.DataObject
):
    entries = _drawn_entries(document, data)
    before = Snapshot.from_document(document)

    after = apply_plan(before, _plan(*entries))

    targets = {(topic, number): target for topic, number, target, _ in entries}
    rows = zip(before.partitions.to_pylist(), after.partitions.to_pylist(), strict=True)
    for old, new in rows:
        key = (old["topic"], old["partition"])
        assert (new["topic"], new["partition"]) == key
        assert new["replicas"] == targets.get(key, old["replicas"])
        assert new["size_bytes"] == old["size_bytes"]
        if key not in targets:
            assert new | {"leader": 0} == old | {"leader": 0}
    is_planned = [key in targets for key in _keys(after)]
    assert not after.to_state().is_reassigning[is_planned].any()
    assert after.brokers.equals(before.brokers)
    assert after.topics.equals(before.topics)
    assert Snapshot.from_document(after.to_document()).equals(after)
    assert apply_plan(after, _plan(*entries)).equals(after)


@settings(max_examples=40)
@given(documents(), st.data())
def test_a_plan_that_was_started_ends_as_the_plan_does(
    document: dict[str, Any], data: st.DataObject
):
    entries = _drawn_entries(document, data)
    before = Snapshot.from_document(document)

    started = start_plan(before, _plan(*entries))

    assert Snapshot.from_document(started.to_document()).equals(started)
    targets = {(topic, number): target for topic, number, target, _ in entries}
    rows = zip(
        before.partitions.to_pylist(), started.partitions.to_pylist(), strict=True
    )
    for old, new in rows:
        key = (old["topic"], old["partition"])
        if key not in targets:
            assert new == old
            continue
        there = set(old["replicas"]) - set(old["adding_replicas"] or ())
        assert set(new["replicas"]) == there | set(targets[key])
        assert set(new["adding_replicas"]) == set(targets[key]) - there
        assert set(new["removing_replicas"]) == there - set(targets[key])
    ended = apply_plan(started, _plan(*entries)).partitions
    direct = apply_plan(before, _plan(*entries)).partitions
    for name in ("replicas", "isr", "leader"):
        is_planned = [key in targets for key in _keys(before)]
        assert [
            value
            for value, planned in zip(
                ended.column(name).to_pylist(), is_planned, strict=True
            )
            if planned
        ] == [
            value
            for value, planned in zip(
                direct.column(name).to_pylist(), is_planned, strict=True
            )
            if planned
        ]


def test_what_is_being_copied_is_not_in_sync_and_leads_nothing():
    document = _orders(isr=None, log_dirs=None)
    del document["topics"][0]["partitions"][0]["leader"]
    before = Snapshot.from_document(document)

    plan = _plan(("orders", 0, [3, 1], ["/d1", None]))
    (row, *_) = start_plan(before, plan).to_document()["topics"][0]["partitions"]

    assert (row["replicas"], row["isr"], row["leader"]) == ([3, 1, 2], [1, 2], 1)
    assert (row["adding_replicas"], row["removing_replicas"]) == ([3], [2])
    assert row["log_dirs"] == ["/d1", None, None]


def _keys(snapshot: Snapshot) -> list[tuple[str, int]]:
    columns = snapshot.partitions.select(["topic", "partition"]).to_pylist()
    return [(row["topic"], row["partition"]) for row in columns]


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        pytest.param([("x", 0, [1], None)], ["must be in the snapshot"], id="topic"),
        pytest.param([("orders", 7, [1], None)], ["must be in the snapshot"], id="no."),
        pytest.param([("orders", 0, [9, 8], None)], ["broker 8", "broker 9"], id="ids"),
        pytest.param([("orders", 0, [1, 1], None)], ["once"], id="broker-twice"),
        pytest.param([("orders", 0, [], None)], ["at least one"], id="empty"),
        pytest.param([("orders", 0, [1], ["/x"])], ["must list"], id="log-dir"),
        pytest.param([("orders", 0, [1], [None] * 2)], ["1 log dirs"], id="too-many"),
        pytest.param(
            [("orders", 0, [1], None), ("orders", 0, [2], None)], ["once"], id="twice"
        ),
        pytest.param(
            [("x", 0, [9], None), ("orders", 1, [], None)],
            ["must be in the snapshot", "broker 9", "at least one"],
            id="all-at-once",
        ),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(entries: list[Entry], words: list[str]):
    with pytest.raises(BadInputError) as caught:
        _after(small_document(), *entries)

    rules = [each.rule for each in caught.value.problems]
    assert len(rules) == len(words)
    assert all(word in rule for word, rule in zip(words, rules, strict=True))


def _two_log_dirs(counts: list[int]) -> dict[str, Any]:
    """Broker 4 with as many partitions in /d1 and /d2, and two on broker 1."""
    held = [(1, "/x"), (1, "/x")]
    held += [(4, f"/d{d + 1}") for d, count in enumerate(counts) for _ in range(count)]
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [
            {"id": 1, "log_dirs": [{"path": "/x"}]},
            {"id": 4, "log_dirs": [{"path": "/d1"}, {"path": "/d2"}]},
        ],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {"partition": number, "replicas": [broker], "log_dirs": [path]}
                    for number, (broker, path) in enumerate(held)
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    ("counts", "dirs", "expected"),
    [
        pytest.param([1, 10], None, ["/d1"], id="the-fewest"),
        pytest.param([10, 1], None, ["/d2"], id="whatever-the-order"),
        pytest.param([1, 10], ["/d2"], ["/d2"], id="unless-named"),
        pytest.param([3, 4], None, [None], id="one-each"),
        pytest.param([4, 4], None, [None], id="a-tie"),
    ],
)
def test_copies_lie_where_their_broker_is_certain_to_put_them(counts, dirs, expected):
    entries = [("t", 0, [4], dirs), ("t", 1, [4], dirs)]

    after = _after(_two_log_dirs(counts), *entries)

    assert after["t-0"]["log_dirs"] == expected
    assert after["t-1"]["log_dirs"] == expected
