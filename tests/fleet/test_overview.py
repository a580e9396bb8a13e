"""What a cluster's row says: counted by hand, naively, and ranked."""

import pytest

from placement.draft.draft import Settings
from placement.model.load import Resource
from placement.score import score_cluster
from planner.cli.fleet.fleet_fail_on import judged, print_failing
from planner.cli.fleet.fleet_lines import LEGEND, ClusterFacts
from planner.cli.fleet.fleet_overview import print_overview
from planner.errors import BadInputError
from planner.fleet.cluster_overview import (
    SCHEMA,
    estimated_fraction,
    headroom_n1,
    overview_row,
)
from planner.fleet.overview_conditions import figures_of, overview_conditions
from planner.snapshot import Snapshot
from support.plans import skewed_document
from support.snapshots import small_document


def row_of(document):
    snapshot = Snapshot.from_document(document)
    return overview_row(snapshot.tables(), snapshot.header(), Settings())


@pytest.mark.parametrize(
    "brokers",
    [
        pytest.param([], id="without brokers"),
        pytest.param([{"id": 1, "state": "dead"}], id="without a live broker"),
    ],
)
def test_no_disk_is_empty_where_there_is_none(brokers):
    row = row_of(small_document(brokers=brokers, topics=[]))

    assert (row["status"], row["brokers"]) == ("ok", len(brokers))
    assert (row["max_disk_use"], row["fullest_broker"]) == (None, None)


def two_topics():
    document = small_document(
        kafka_version="4.3.1",
        configs={"unclean.leader.election.enable": "true"},
        rates={"source": "prometheus"},
        features={"metadata.version": 25},
    )
    document["brokers"][2]["rack"] = None
    for broker, disk in zip(document["brokers"], ("ssd", "ssd", "hdd"), strict=True):
        broker["tags"] = {"env": "prod", "owner": "platform", "disk": disk}
    first, second = document["topics"][0]["partitions"]
    first["in_bytes_per_s"], first["remote_bytes"] = 10.0, 7
    second.update(replicas=[2], size_bytes=200)
    document["topics"][0].update(
        tags={"owner": "team-a"}, configs={"retention.ms": "-1"}
    )
    document["topics"].append(
        {
            "name": "safe",
            "configs": {
                "unclean.leader.election.enable": "false",
                "cleanup.policy": "compact",
                "retention.ms": "-1",
            },
            "partitions": [{"partition": 0, "replicas": [3], "size_bytes": 50}],
        }
    )
    return document


def test_each_figure_by_hand():
    row = row_of(two_topics())

    assert row["status"] == "ok"
    told = {
        "brokers": 3,
        "topics": 2,
        "partitions": 3,
        "replicas": 4,
        "kafka_version": "4.3.1",
        "rf1_partitions": 2,
        "rf_equals_min_isr": 2,
        "unclean_enabled": 1,
        "infinite_retention": 1,
        "features": [("metadata.version", 25)],
        "tags": [("env", "prod"), ("owner", "platform")],
        "owner": "platform",
        "no_rack": 1,
        "rf_mixed_in_topic": 1,
        "bytes_all_replicas": 450,
        "remote_bytes": 7,
        "bytes_by_owner": [("team-a", 400)],
        "cross_rack_bytes_per_s": 10.0,
        "rates_source": "prometheus",
        "unknown_fraction": pytest.approx(2 / 3),
        "estimated_fraction": 0.0,
    }
    assert {name: row[name] for name in told} == told
    assert row.keys() <= set(SCHEMA.names)


@pytest.mark.parametrize(
    ("rates", "fraction"),
    [
        pytest.param(None, 0, id="not-said"),
        pytest.param({"source": "table"}, 0, id="by-partition"),
        # t-0 and t-1 share topic and leader, 30 of 100 bytes/s; u-0 has its own.
        pytest.param({"source": "prometheus", "split": "equal"}, 0.3, id="shared-out"),
        pytest.param({"source": "live-sample"}, 1, id="sampled"),
        pytest.param({"source": "live-sample+table"}, 1, id="sampled-in-part"),
    ],
)
def test_what_is_estimated_of_bytes_in(rates, fraction):
    state = make_cluster(rates=[10.0, 20.0, None, 70.0])

    assert estimated_fraction(state, rates or {}) == pytest.approx(fraction)


@pytest.mark.parametrize(("known", "fraction"), [([None] * 4, None), ([0.0] * 4, 0.0)])
def test_what_is_estimated_of_nothing(known, fraction):
    found = estimated_fraction(make_cluster(rates=known), {"split": "equal"})

    assert found == fraction


def make_cluster(*, rates):
    """t-0, t-1 led by broker 1, t-2 by broker 2, u-0 by broker 1."""
    leaders = [("t", 0, 1), ("t", 1, 1), ("t", 2, 2), ("u", 0, 1)]
    topics = {"t": [], "u": []}
    for (topic, partition, leader), rate in zip(leaders, rates, strict=True):
        topics[topic].append(
            {"partition": partition, "replicas": [leader], "in_bytes_per_s": rate}
        )
    document = small_document()
    document["topics"] = [
        {"name": name, "partitions": partitions} for name, partitions in topics.items()
    ]
    return Snapshot.from_document(document).to_state()


def test_tags_that_not_all_brokers_have_are_none_of_the_clusters():
    document = small_document()
    document["brokers"][0]["tags"] = {"owner": "a"}

    row = row_of(document)

    assert (row["tags"], row["owner"]) == ([], None)


@pytest.mark.parametrize(
    ("configs", "is_infinite"),
    [
        pytest.param({}, 0, id="default"),
        pytest.param({"retention.ms": "-1"}, 1, id="no-time"),
        pytest.param({"retention.ms": "-1", "retention.bytes": "9"}, 0, id="bytes"),
        pytest.param({"cleanup.policy": ""}, 1, id="no-policy"),
        pytest.param({"cleanup.policy": "compact"}, 0, id="compact"),
        pytest.param({"cleanup.policy": "compact,delete"}, 0, id="both"),
    ],
)
def test_retention_that_never_ends(configs, is_infinite):
    document = small_document()
    document["topics"][0]["configs"] = configs

    assert row_of(document)["infinite_retention"] == is_infinite


def test_headroom_is_what_is_free_when_the_largest_is_lost():
    snapshot = Snapshot.from_document(skewed_document())
    score = score_cluster(snapshot.to_state())

    found = headroom_n1(score, Settings())

    expected = {"broker": [], "rack": []}
    for name in ("disk", "in", "out"):
        rows = [
            (str(rack), float(use), float(capacity))
            for rack, use, capacity in zip(
                (snapshot.brokers.column("rack").to_pylist()),
                score.placed.load[:, ["disk", "in", "out"].index(name)],
                score.placed.capacity[:, ["disk", "in", "out"].index(name)],
                strict=True,
            )
        ]
        load = sum(use for _, use, _ in rows)
        for lost in rows:
            others = sum(c for each in rows if each is not lost for c in each[2:])
            expected["broker"].append(1 - load / (0.8 * others))
        for rack in "abc":
            others = sum(c for r, _, c in rows if r != rack)
            expected["rack"].append(1 - load / (0.8 * others))
    assert found.broker == pytest.approx(min(expected["broker"]))
    assert found.rack == pytest.approx(min(expected["rack"]))


def three_brokers(**more):
    """Return three brokers, each with a replica of every partition: 57 % of disks."""
    brokers = [
        {
            "id": b,
            "rack": "abc"[b],
            "disk_bytes": 1000,
            "in_bytes_per_s": 1000.0,
            "out_bytes_per_s": 1000.0,
        }
        for b in range(3)
    ]
    rates = {"in_bytes_per_s": 90.0, "out_bytes_per_s": 30.0}
    rows = [
        {"partition": p, "replicas": [p, (p + 1) % 3, (p + 2) % 3], "size_bytes": 190}
        | rates
        for p in range(3)
    ]
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [one | more.get(str(one["id"]), {}) for one in brokers],
        "topics": [{"name": "t", "partitions": rows}],
    }


def test_of_three_brokers_two_hold_no_more_without_the_third():
    score = score_cluster(Snapshot.from_document(three_brokers()).to_state())

    found = headroom_n1(score, Settings())

    # Disks stay at 57 % of 80 %; each leader then sends to one follower and readers.
    assert found.broker == found.rack == pytest.approx(1 - 0.57 / 0.8)
    more = three_brokers()
    for partition in more["topics"][0]["partitions"]:
        partition["size_bytes"], partition["in_bytes_per_s"] = 1, 450.0
    score = score_cluster(Snapshot.from_document(more).to_state())
    out = 3 * (450 + 30) / (0.8 * 2000)
    incoming = 3 * 2 * 450 / (0.8 * 2000)
    assert headroom_n1(score, Settings()).broker == pytest.approx(
        1 - max(out, incoming)
    )


def test_brokers_that_are_down_have_no_room():
    dead = three_brokers(**{"2": {"state": "dead"}})
    score = score_cluster(Snapshot.from_document(dead).to_state())

    # One broker is left, with the replica that it has of each partition.
    found = headroom_n1(score, Settings()).broker

    assert found == pytest.approx(1 - 0.57 / 0.8)


def test_headroom_of_unknown_loads():
    document = small_document()
    for broker in document["brokers"]:
        del broker["log_dirs"]
    for topic in document["topics"]:
        for partition in topic["partitions"]:
            partition.pop("log_dirs", None)
    score = score_cluster(Snapshot.from_document(document).to_state())

    found = headroom_n1(score, Settings())

    assert (found.broker, found.rack) == (None, None)


def test_worst_is_the_broker_furthest_from_a_share():
    snapshot = Snapshot.from_document(skewed_document())
    placed = score_cluster(snapshot.to_state()).placed

    row = overview_row(snapshot.tables(), {}, Settings())

    most = max(placed.resources[r].max_deviation for r in Resource)
    assert abs(row["worst_deviation"]) == pytest.approx(most)


def test_what_is_no_cluster_is_a_row_with_its_reason(monkeypatch, capsys):
    tables = Snapshot.from_document(small_document()).tables()
    refused = overview_row(tables, {"taken_at": "x"}, Settings())

    def trip(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("planner.fleet.cluster_overview.score_cluster", trip)
    failed = overview_row(tables, {}, Settings())

    assert (refused["status"], "taken_at" in refused["reason"]) == ("refused", True)
    assert (failed["status"], failed["reason"]) == ("failed", "ZeroDivisionError: ")
    monkeypatch.undo()
    check_screen(refused, capsys)


def check_screen(refused, capsys):
    found = {"cluster_id": "c" * 40, "days_until_full": 3.4, "data_age_s": 90000.0}
    ok = row_of(small_document()) | found
    guess = ok | {"cluster_id": "g", "data_age_s": 60.0, "estimated_fraction": 0.6}
    unseen = refused | {
        "cluster_id": "bad", "data_age_s": None, "estimated_fraction": None,
    }  # fmt: skip

    print_overview([unseen] + [ok] * 59 + [guess])

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("bad: refused: ")
    # Not a word of the reason is cut.
    first = next(at for at, line in enumerate(lines) if line.startswith("c" * 40))
    whole = " ".join(line.strip() for line in lines[:first])
    assert whole.split() == f"bad: refused: {refused['reason']}".split()
    told = " ".join(line.strip() for line in lines[first : first + 2])
    assert f"{'c' * 40}: disk " in told
    assert "full in 3 d" in told
    assert "… and 11 more" in lines[-4]
    assert lines[-3] == LEGEND
    assert lines[-2] == f"Oldest data: 25 h 00 min, of {'c' * 40}"
    assert lines[-1] == "Over half of the bytes in are estimated: 1 clusters"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"max_disk_use": 1.03, "fullest_broker": 7},
            "c: disk 103 %, broker 7; full now", id="full"),
        pytest.param({"days_until_full": 0.0}, "c: full now", id="over"),
        pytest.param(
            {"days_until_full": 22078.0, "days_until_full_low": 3000.0},
            "c: full in > 5 years", id="years",
        ),
        pytest.param(
            {"brokers_out_of_band": 2, "min_bytes_to_balance": 1.2e12},
            f"c: 2 out; plan rebalance moves ≥ 1.2 TB {LEGEND}", id="band",
        ),
        pytest.param(
            {"offline_partitions": 1, "under_min_isr": 2},
            "c: 1 partition offline; 2 partitions under min ISR; see status",
            id="offline",
        ),
        # A plan of what is uneven waits for brokers that are down.
        pytest.param(
            {"offline_replicas": 3, "under_replicated": 3, "brokers_out_of_band": 2},
            f"c: 3 replicas offline; 2 out; see status {LEGEND}",
            id="down",
        ),
        pytest.param(
            {"under_replicated": 1},
            "c: 1 partition under-replicated; see status",
            id="lagging",
        ),
        pytest.param(
            {"log_dirs_over_threshold": 2},
            f"c: 2 log dirs over; plan log-dirs {LEGEND}",
            id="log-dirs",
        ),
        pytest.param({"rack": 2}, "c: 2 partitions against the rack rule; plan fix",
            id="rack"),
        pytest.param({"brokers_over_threshold": 1, "min_bytes_to_balance": None},
            f"c: 1 over; plan rebalance {LEGEND}", id="in"),
        pytest.param({"brokers_over_threshold": 3},
            f"c: 3 over; more capacity: see size {LEGEND}", id="all-over"),
        pytest.param({"headroom_n1_broker": -0.1},
            "c: no room for N-1", id="n-1"),
        pytest.param({}, "c: nothing to do", id="fine"),
    ],
)  # fmt: skip
def test_a_line_says_what_is_wrong_and_what_to_do(changes, said, capsys):
    fine = {
        "cluster_id": "c", "status": "ok", "offline_partitions": 0,
        "under_min_isr": 0, "offline_replicas": 0, "under_replicated": 0,
        "log_dirs_over_threshold": 0,
        "rack": 0, "max_disk_use": None, "fullest_broker": None,
        "brokers_over_threshold": 0, "brokers_out_of_band": 0, "brokers": 3,
        "min_bytes_to_balance": 0, "headroom_n1_broker": None,
        "data_age_s": None, "estimated_fraction": None,
    }  # fmt: skip

    print_overview([fine | changes])

    assert " ".join(capsys.readouterr().out.split()) == said


def test_resources_that_are_over_are_named_unless_it_is_the_disk():
    def said(**over):
        return [*ClusterFacts(cluster_id="c", over=over).parts()]

    assert said(disk=2) == ["2 over", "plan rebalance"]
    assert said(disk=2, out=3) == ["3 over (disk, out)", "plan rebalance"]
    assert said(disk=0) == []


def test_what_does_not_serve_is_in_the_row():
    document = skewed_document()
    document["brokers"][0]["state"] = "dead"
    score = score_cluster(Snapshot.from_document(document).to_state())

    row = row_of(document)

    counts = score.placed.violations
    assert row["offline_replicas"] == counts["offline_replicas"] > 0
    assert row["under_replicated"] == counts["under_replicated"] > 0
    assert row["log_dirs_over_threshold"] == 0


def test_the_fullest_broker_is_that_of_the_highest_use():
    document = skewed_document()
    snapshot = Snapshot.from_document(document)
    placed = score_cluster(snapshot.to_state()).placed

    row = row_of(document)

    use = placed.load[:, 0] / placed.capacity[:, 0]
    assert row["fullest_broker"] == snapshot.to_state().brokers.ids[use.argmax()]
    assert row["max_disk_use"] == pytest.approx(use.max())
    for broker in document["brokers"]:
        broker.pop("log_dirs"), broker.pop("disk_bytes", None)
    for topic in document["topics"]:
        for partition in topic["partitions"]:
            partition.pop("log_dirs", None)
    assert row_of(document)["fullest_broker"] is None


def conditions(*texts, has_trends=True, has_changes=True):
    return overview_conditions(texts, has_trends=has_trends, has_changes=has_changes)


@pytest.mark.parametrize(
    ("text", "changes", "holds"),
    [
        ("brokers_over_threshold > 0 or rack > 0", {"brokers_over_threshold": 1}, True),
        ("max_disk_use > 85%", {"max_disk_use": 0.8}, False),
        ("max_disk_use > 85%", {"max_disk_use": None}, None),
        ("days_until_full < 14", {"days_until_full": 3.0}, True),
        # Known not to fill, and not known.
        ("days_until_full < 14", {"growth_bytes_per_day": -1.0}, False),
        ("days_until_full < 14", {"growth_bytes_per_day": None}, None),
    ],
)
def test_conditions_on_columns(text, changes, holds, capsys):
    row = row_of(small_document()) | {"cluster_id": "c", "days_until_full": None}
    row |= changes

    failing = judged([row], conditions(text), figures_of)

    (answer,) = row["fail_on"]
    assert (answer["condition"], answer["holds"]) == (text, holds)
    assert bool(failing) == (holds is not False)
    print_failing(failing)
    assert capsys.readouterr().out.startswith("c: --fail-on" if failing else "")


def test_a_cluster_that_nothing_is_known_of_fails():
    row = {"cluster_id": "c", "status": "failed"}

    (said,) = judged([row], conditions("brokers > 0"), figures_of)

    assert "the last snapshot has no figures" in said
    assert judged([row], {}, figures_of) == []


def test_conditions_on_what_was_not_given_are_refused():
    with pytest.raises(BadInputError) as refused:
        conditions("days_until_full < 3", "moved_bytes_since > 1", "disk.max_use > 1",
            has_trends=False, has_changes=False)  # fmt: skip

    assert [problem.remedy for problem in refused.value.problems] == [
        "give --trends FOLDER",
        "give --changes FOLDER",
        "write max_disk_use",
    ]


def test_ranking():
    pytest.importorskip("pyspark")
    from planner.spark.reports.fleet_overview import ranked

    fine = {
        "status": "ok", "offline_partitions": 0, "under_min_isr": 0,
        "offline_replicas": 0, "log_dirs_over_threshold": 0,
        "brokers_over_threshold": 0, "brokers_out_of_band": 0,
        "min_bytes_to_balance": 0, "days_until_full": None,
    }  # fmt: skip
    rows = {
        "fine": {},
        "bytes": {"min_bytes_to_balance": 9},
        "band": {"brokers_out_of_band": 1},
        "later": {"days_until_full": 30.0},
        "soon": {"days_until_full": 2.0},
        "dir": {"log_dirs_over_threshold": 1},
        "over": {"brokers_over_threshold": 2},
        "down": {"offline_replicas": 1},
        "min-isr": {"under_min_isr": 1},
        "offline": {"offline_partitions": 1},
        "unseen": {"status": "failed", "offline_partitions": None},
    }
    given = [fine | row | {"cluster_id": name} for name, row in rows.items()]

    assert [row["cluster_id"] for row in ranked(given)] == [*rows][::-1]
