"""Several files as one cluster: joined, seen in part, in any order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importers.small_files import (
    HEALTHY,
    assignment,
    kcat,
    log_dirs,
    problems,
    states,
    table,
    topics,
    topics_text,
)
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.snapshot.importers import merge
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.metrics.rates_table import read_rates
from support.samples import KCAT, imported, partitions, sample


def test_files_add_to_each_other():
    document = imported(
        HEALTHY,
        table("id,rack,disk,log_dirs", "1,r1,,/d1=1TB;/d2=1TB", "2,r2,,"),
        log_dirs(
            {1: {"/d1": {"a-0": 5}, "/d2": {"a-1": 6}}, 2: {"/d": {"a-0": 5, "a-1": 7}}}
        ),
        read_rates(b"topic,partition,in,out\na,0,10,20\na,1,,5\n", file="rates.csv"),
        header={"cluster_id": "c", "taken_at": "2026-11-21T08:00:00Z"},
    )

    assert document["cluster_id"] == "c"
    assert document["rates"] == {"source": "table"}
    first, second = (partitions(document)["a", number] for number in (0, 1))
    assert (first["in_bytes_per_s"], first["out_bytes_per_s"]) == (10, 20)
    assert ("in_bytes_per_s" in second, second["out_bytes_per_s"]) == (False, 5)
    assert (first["size_bytes"], "replica_bytes" in first) == (5, False)
    # The leader of a-1 is broker 2.
    assert (second["size_bytes"], second["replica_bytes"]) == (7, [7, 6])
    assert second["log_dirs"] == ["/d", "/d2"]
    assert [b["rack"] for b in document["brokers"].values()] == ["r1", "r2"]
    sizes = [d.get("size_bytes") for d in document["brokers"][1]["log_dirs"]]
    assert sizes == [10**12, 10**12]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        pytest.param(
            [topics(("1", "1,2,3", "1,2")), kcat([1, 2])],
            {1: "alive", 2: "alive", 3: "dead"},
            id="live-ones-are-listed",
        ),
        pytest.param(
            [assignment([1, 2, 3]), kcat([1, 2])],
            {1: "alive", 2: "alive", 3: "dead"},
            id="nothing-is-known-of-leaders",
        ),
        pytest.param(
            [topics(("1", "1,2,3", "1,2")), table("id", "1", "2")],
            {1: None, 2: None, 3: "dead"},
            id="not-in-the-table",
        ),
        pytest.param(
            [topics(("1", "1,2,3", "1,2")), table("id", "1", "2", "3")],
            {1: None, 2: None, 3: "fenced"},
            id="in-the-table-and-in-no-isr",
        ),
        pytest.param(
            [topics(("1", "1,2,3", "1,2"))],
            {1: None, 2: None, 3: "fenced"},
            id="no-list-of-live-ones",
        ),
        pytest.param(
            [topics(("1", "1,2,3", "1,2")), table("id,state", "1,", "2,", "3,alive")],
            {1: None, 2: None, 3: "alive"},
            id="alive-in-the-table",
        ),
        pytest.param(
            [
                topics(
                    ("1", "1,2", "1,2"),
                    ("1", "1,2,3", "1,2\tAdding Replicas: 3\tRemoving Replicas: "),
                )
            ],
            {1: None, 2: None, 3: None},
            id="its-only-replica-is-being-added",
        ),
        pytest.param(
            [
                topics(("1", "1,2,3", "1,2")),
                table("id", "1", "2", "3"),
                log_dirs({1: {"/d": {"a-0": 1}}, 2: {"/d": {"a-0": 1}}}),
            ],
            {1: None, 2: None, 3: "fenced"},
            id="in-the-table-without-log-dirs",
        ),
        pytest.param(
            [
                topics(("1", "1,2,3", "1,2")),
                log_dirs({n: {"/d": {"a-0": 1}} for n in (1, 2, 3)}),
            ],
            {1: None, 2: None, 3: None},
            id="it-lists-its-log-dirs",
        ),
        pytest.param(
            [
                topics(("1", "1,2,3", "1,2")),
                log_dirs({1: {"/d": {"a-0": 1}}, 2: {"/d": {"a-0": 1}}}),
            ],
            {1: None, 2: None, 3: "dead"},
            id="no-log-dirs-and-in-no-isr",
        ),
        pytest.param(
            [topics(("1", "1,2", "1,2")), kcat([1, 2]), table("id,state", "4,new")],
            {1: "alive", 2: "alive", 4: "new"},
            id="a-new-broker-need-not-live",
        ),
        pytest.param(
            [HEALTHY, kcat([1, 2]), table("id,state", "1,demoted", "2,")],
            {1: "demoted", 2: "alive"},
            id="an-intention-says-more-than-that-it-lives",
        ),
        pytest.param(
            [topics(("none", "1,2", "2")), kcat([1])],
            {1: "alive", 2: "dead"},
            id="the-last-in-sync-is-dead",
        ),
    ],
)
def test_which_brokers_live(sources, expected):
    assert states(imported(*sources, allow_partial=True)) == expected


def test_dead_and_doubtful_brokers_are_said():
    lost = topics(("1", "1,2,3", "1,2"))

    assert any("dead" in note for note in merge([lost, kcat([1, 2])]).notes)
    assert any("fenced: brokers 3 " in note for note in merge([lost]).notes)
    lags = log_dirs({n: {"/d": {"a-0": 1}} for n in (1, 2, 3)})
    assert any(note.startswith("brokers 3 ") for note in merge([lost, lags]).notes)


def test_a_plan_copies_nothing_to_a_broker_that_may_be_down():
    rows = [("1", "1,3", "1,3"), ("2", "2,3", "2,3"), ("1", "1,4", "1")]
    state = merge([topics(*rows)]).snapshot.to_state()

    made = make(state, PlanRequest(goal="remove-brokers", broker_list="3"))

    assert made.is_ok
    assert made.plan.moves["replicas"] == 2
    after = made.plan.placed.reassignment.after()
    held = np.bincount(after.replicas.broker_idx, minlength=4)
    # Broker 4 keeps the replica it has.
    assert held.tolist() == [3, 2, 0, 1]


def test_what_is_unknown_is_said():
    notes = merge([HEALTHY]).notes

    assert "racks of 2 of 2 brokers" in notes[-1]
    assert "sizes of 2 of 2 partitions" in notes[-1]


@pytest.mark.parametrize(
    ("sources", "hint"),
    [
        pytest.param(
            [HEALTHY, log_dirs({1: {"/d": {"a-0": 1, "a-1": 1}}})],
            "no log dirs of brokers 2",
            id="a-broker-hides-its-log-dirs",
        ),
        pytest.param(
            [HEALTHY, log_dirs({1: {"/d": {"a-0": 1, "a-1": 1}}, 2: {}})],
            "Describe on Cluster",
            id="empty-log-dirs",
        ),
        pytest.param(
            [
                HEALTHY,
                log_dirs(
                    {
                        1: {"/d": {"a-0": 1, "a-1": 1, "b-0": 1}},
                        2: {"/d": {"a-0": 1, "a-1": 1}},
                    }
                ),
            ],
            "but not described, topics b",
            id="a-topic-without-metadata",
        ),
        pytest.param(
            [HEALTHY, log_dirs({1: {"/d": {}}, 2: {"/d": {}}})],
            "in no log dir, topics a",
            id="a-topic-without-log-dirs",
        ),
        pytest.param(
            [
                HEALTHY,
                log_dirs(
                    {
                        1: {"/d": {"a-0": 1, "a-1": 1, "a-2": 1}},
                        2: {"/d": {"a-0": 1, "a-1": 1}},
                    }
                ),
            ],
            "partitions a-2",
            id="a-partition-more",
        ),
        pytest.param(
            [
                HEALTHY,
                log_dirs({1: {"/d": {"a-0": 1, "a-1": 1}}, 2: {"/d": {"a-1": 1}}}),
            ],
            "in sync, but in no log dir of their broker, replicas a-0 on broker 2",
            id="a-replica-was-moved-between-the-outputs",
        ),
        pytest.param(
            [
                HEALTHY,
                log_dirs(
                    {
                        1: {"/d": {"a-0": 1, "a-1": 1}},
                        2: {"/d": {"a-1": 1}, "/e": None},
                    }
                ),
            ],
            "in sync, but in no log dir of their broker, replicas a-0 on broker 2",
            id="a-log-dir-failed-between-the-outputs",
        ),
        pytest.param(
            [assignment([1, 2]), log_dirs({1: {"/d": {"a-0": 1}}})],
            "no log dirs of brokers 2",
            id="nothing-says-that-it-is-dead",
        ),
    ],
)
def test_clusters_seen_in_part_are_refused_unless_allowed(sources, hint):
    (found,) = problems(*sources)

    assert hint in found
    assert "--allow-partial" in found
    assert any(
        "only a part is visible" in n for n in merge(sources, allow_partial=True).notes
    )


def test_a_topic_in_a_failed_log_dir_alone_is_not_hidden():
    source = topics(("none", "1", "1"))

    document = imported(source, log_dirs({1: {"/d": None, "/e": {}}}))

    assert document["brokers"][1]["log_dirs"][0]["state"] == "offline"


def test_the_last_isr_of_a_failed_log_dir_is_no_contradiction():
    source = topics(("none", "1", "1"), ("1", "1", "1"))

    document = imported(source, log_dirs({1: {"/d": None, "/e": {"a-1": 1}}}))

    assert partitions(document)["a", 0]["leader"] is None


def test_copies_left_behind_are_said_and_not_counted():
    told = merge(
        [
            HEALTHY,
            table("id", "1", "2", "3"),
            log_dirs(
                {
                    1: {"/d": {"a-0": 1, "a-1": 1}},
                    2: {"/d": {"a-0": 1, "a-1": 1}},
                    3: {"/d": {"a-0": 9}},
                }
            ),
        ]
    )

    assert any("1 copies (9 bytes)" in note for note in told.notes)
    assert told.snapshot.partitions.column("replica_bytes").null_count == 2


def test_log_dirs_that_two_files_name_in_part_add_up():
    document = imported(
        assignment([1, 2], log_dirs=["/d1", "any"]),
        assignment([1, 2], log_dirs=["any", "/d2"]),
    )

    assert partitions(document)["a", 0]["log_dirs"] == ["/d1", "/d2"]


def test_kcat_alone_is_a_cluster():
    document = imported(read_kcat(KCAT, file="k"))

    assert states(document) == {1: "alive", 2: "alive", 3: "dead"}
    assert partitions(document)["orders", 0]["isr"] == [2, 1]
    assert partitions(document)["orders", 1]["leader"] is None


def commas(ids):
    return ",".join(map(str, ids))


@st.composite
def clusters(draw):
    brokers = draw(st.lists(st.integers(0, 30), min_size=3, max_size=6, unique=True))
    rows = []
    for _ in range(draw(st.integers(1, 5))):
        ids = draw(st.permutations(brokers))[: draw(st.integers(1, 3))]
        isr = ids[: draw(st.integers(1, len(ids)))]
        rows.append((isr[0], ids, isr))
    return brokers, rows


@settings(max_examples=40)
@given(clusters(), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(cluster, rng):
    brokers, rows = cluster
    factor = len(rows[0][1])
    text = topics_text(
        *((str(leader), commas(ids), commas(isr)) for leader, ids, isr in rows)
    ).replace(b"Factor: %d" % factor, b"Factor: %d" % len(rows[0][1]))
    sizes = {b: {"/d": {}} for b in brokers}
    for number, (_, ids, _) in enumerate(rows):
        for broker in ids:
            sizes[broker]["/d"][f"a-{number}"] = rng.randrange(10**6)
    sources = [
        read_topics(text, file="topics.txt"),
        kcat(brokers, rows),
        assignment(*(ids for _, ids, _ in rows)),
        log_dirs(sizes),
        table("id,rack", *(f"{b},r{b % 3}" for b in brokers)),
    ]
    first = merge(sources).snapshot
    rng.shuffle(sources)

    again = merge(sources).snapshot

    assert again.equals(first)
    document = first.to_document()
    for one in document["topics"][0]["partitions"]:
        own = one.get("replica_bytes", [one["size_bytes"]] * len(one["replicas"]))
        told = [sizes[b]["/d"][f"a-{one['partition']}"] for b in one["replicas"]]
        assert own == told
        assert one["size_bytes"] == told[one["replicas"].index(one["leader"])]


def test_samples_make_a_cluster_that_can_be_planned():
    from placement.model.cluster import BrokerState

    state = merge(
        [
            sample(read_topics, "topics-describe.txt"),
            sample(read_log_dirs, "log-dirs-describe.txt"),
            sample(read_endpoints, "cluster-list-endpoints.txt"),
        ]
    ).snapshot.to_state()

    assert (state.num_brokers, state.num_partitions) == (6, 16)
    assert set(state.brokers.state.tolist()) == {BrokerState.ALIVE}
