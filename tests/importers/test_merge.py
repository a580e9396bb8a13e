"""Several files as one cluster: joined, and refused where they disagree."""

import json

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.snapshot.importers import merge
from planner.snapshot.importers.hardware.broker_table import read_broker_table
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from planner.snapshot.importers.metrics.rates_table import read_rates
from support.samples import KCAT, imported, partitions, sample


def topics_text(*rows: tuple[str, str, str], topic: str = "a") -> bytes:
    """Leader, replicas and ISR of each partition, as kafka-topics prints them."""
    factor = rows[0][1].count(",") + 1
    lines = [
        f"Topic: {topic}\tPartitionCount: {len(rows)}\t"
        f"ReplicationFactor: {factor}\tConfigs: "
    ]
    lines += [
        f"\tTopic: {topic}\tPartition: {number}\tLeader: {leader}"
        f"\tReplicas: {replicas}\tIsr: {isr}"
        for number, (leader, replicas, isr) in enumerate(rows)
    ]
    return ("\n".join(lines) + "\n").encode()


def topics(*rows, topic="a"):
    return read_topics(topics_text(*rows, topic=topic), file="topics.txt")


def table(*lines, name="brokers.csv"):
    return read_broker_table(("\n".join(lines) + "\n").encode(), file=name)


def kcat(ids, rows=()):
    document = {
        "brokers": [{"id": one, "name": f"k{one}:9092"} for one in ids],
        "topics": [
            {
                "topic": "a",
                "partitions": [
                    {
                        "partition": number,
                        "leader": leader,
                        "replicas": [{"id": one} for one in replicas],
                        "isrs": [{"id": one} for one in isr],
                    }
                    for number, (leader, replicas, isr) in enumerate(rows)
                ],
            }
        ]
        if rows
        else [],
    }
    return read_kcat(json.dumps(document).encode(), file="kcat.json")


def log_dirs(brokers):
    """Read {broker: {path: {topic-partition: bytes} or None if failed}}."""
    document = {
        "version": 1,
        "brokers": [
            {
                "broker": broker,
                "logDirs": [
                    {
                        "logDir": path,
                        "error": None if names is not None else "E",
                        "partitions": [
                            {
                                "partition": n,
                                "size": s,
                                "offsetLag": 0,
                                "isFuture": False,
                            }
                            for n, s in (names or {}).items()
                        ],
                    }
                    for path, names in dirs.items()
                ],
            }
            for broker, dirs in brokers.items()
        ],
    }
    return read_log_dirs(json.dumps(document).encode(), file="dirs.txt")


def assignment(*lists, **entry):
    document = {
        "partitions": [
            {"topic": "a", "partition": number, "replicas": replicas, **entry}
            for number, replicas in enumerate(lists)
        ]
    }
    return read_assignment(json.dumps(document).encode(), file="now.json")


def problems(*sources, **options):
    with pytest.raises(BadInputError) as caught:
        merge(sources, **options)
    return [str(problem) for problem in caught.value.problems]


def states(document):
    return {number: b.get("state") for number, b in document["brokers"].items()}


def twice(*lists):
    """Build an assignment that lists a-0 again and again."""
    entries = [{"topic": "a", "partition": 0, "replicas": ids} for ids in lists]
    text = json.dumps({"partitions": entries}).encode()
    return read_assignment(text, file="now.json")


MIN_ISR_0 = topics_text(("1", "1,2", "1,2")).replace(
    b"Configs: ", b"Configs: min.insync.replicas=0"
)
HEALTHY = topics(("1", "1,2", "1,2"), ("2", "2,1", "2,1"))


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
            {1: None, 2: None, 3: None},
            id="in-the-table",
        ),
        pytest.param(
            [topics(("1", "1,2,3", "1,2"))],
            {1: None, 2: None, 3: None},
            id="no-list-of-live-ones",
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
    assert any("in no ISR" in note for note in merge([lost]).notes)


def test_what_is_unknown_is_said():
    notes = merge([HEALTHY]).notes

    assert "racks of 2 of 2 brokers" in notes[-1]
    assert "sizes of 2 of 2 partitions" in notes[-1]


@pytest.mark.parametrize(
    ("sources", "places"),
    [
        pytest.param(
            [HEALTHY, assignment([2, 1], [2, 1])],
            ("now.json: partitions[0], replicas of a-0", "topics.txt: line 2"),
            id="replicas",
        ),
        pytest.param(
            [HEALTHY, kcat([1, 2], [(2, [1, 2], [1, 2]), (2, [2, 1], [2, 1])])],
            ("kcat.json: topics[0].partitions[0], leader of a-0", "topics.txt: line 2"),
            id="leader",
        ),
        pytest.param(
            [HEALTHY, kcat([1, 2], [(1, [1, 2], [1]), (2, [2, 1], [1, 2])])],
            ("kcat.json: topics[0].partitions[0], isr of a-0", "topics.txt: line 2"),
            id="isr",
        ),
        pytest.param(
            [HEALTHY, assignment([1, 2], [2, 1], [1, 2])],
            ("topics.txt: topic a: must list a-2", "now.json: partitions[2]"),
            id="a-partition-more",
        ),
        pytest.param(
            [
                HEALTHY,
                table("id,rack", "1,a", "2,b"),
                table("id,rack", "2,c", name="t"),
            ],
            ("t: line 2, rack of broker 2", "brokers.csv: line 3"),
            id="rack",
        ),
        pytest.param(
            [HEALTHY, kcat([1])],
            ("kcat.json: brokers: broker 2 is not listed", "topics.txt: line 2"),
            id="a-leader-that-does-not-live",
        ),
        pytest.param(
            [HEALTHY, table("id,state", "1,", "2,dead")],
            (
                "brokers.csv: line 3: broker 2 is dead, but is in sync",
                "topics.txt: line 2",
            ),
            id="in-sync-and-dead",
        ),
        pytest.param(
            [HEALTHY, kcat([1, 2]), table("id,state", "2,dead")],
            ("brokers.csv: line 2, state of broker 2", "kcat.json: brokers[1]"),
            id="dead-and-alive",
        ),
        pytest.param(
            [
                assignment([1, 2]),
                kcat([1, 2]),
                read_endpoints(
                    b"ID HOST PORT RACK STATE ENDPOINT_TYPE\n"
                    b"1 k1 9092 r unfenced broker\n",
                    file="ends.txt",
                ),
            ],
            ("ends.txt: brokers: broker 2 is not listed as live", "kcat.json"),
            id="alive-for-one-list-only",
        ),
        pytest.param(
            [
                HEALTHY,
                table("id,log_dirs", "1,/d1", "2,/d"),
                log_dirs(
                    {1: {"/d2": {"a-0": 1, "a-1": 1}}, 2: {"/d": {"a-0": 1, "a-1": 1}}}
                ),
            ],
            ("brokers.csv: log dirs of broker 1", "those in dirs.txt; /d2 is missing"),
            id="log-dirs",
        ),
        pytest.param(
            [
                assignment([1, 2], log_dirs=["/d1", "any"]),
                log_dirs({1: {"/d2": {"a-0": 1}}, 2: {"/d": {"a-0": 1}}}),
            ],
            ("dirs.txt: broker 1, log dir of a-0", "now.json: partitions[0]"),
            id="log-dir-of-a-replica",
        ),
        pytest.param(
            [HEALTHY, table("id,disk,log_dirs", "1,3TB,/d1=1TB;/d2=1TB", "2,,")],
            (
                "brokers.csv: line 2, disk_bytes of broker 1",
                "sum of the online log dirs",
            ),
            id="disk-and-log-dirs",
        ),
        pytest.param(
            [topics(("3", "1,2", "1,2"))],
            ("topics.txt: line 2, leader of a-0", "one of the replicas"),
            id="leader-without-a-replica",
        ),
        pytest.param(
            [topics(("1", "1,2", "1,3"))],
            ("topics.txt: line 2, isr of a-0", "among the replicas"),
            id="isr-without-a-replica",
        ),
        pytest.param(
            [topics(("1", "1,1", "1"))],
            ("topics.txt: line 2, replicas of a-0", "once"),
            id="twice-on-a-broker",
        ),
        pytest.param(
            [assignment([1]), assignment([1]), assignment([2])],
            ("now.json: partitions[0], replicas of a-0", "now.json: partitions[0]"),
            id="three-files",
        ),
        pytest.param(
            [table("id", "1")],
            ("command line", "list the replicas of the partitions"),
            id="none",
        ),
        pytest.param(
            [twice([1, 2], [1, 2])],
            ("now.json: partitions[1]", "a-0 is also at partitions[0]"),
            id="a-partition-twice",
        ),
        pytest.param(
            [HEALTHY, read_rates(b"topic,partition,in\na,0,1\na,0,2\n", file="r")],
            ("r: line 3", "a-0 is also at line 2"),
            id="a-rate-twice",
        ),
        pytest.param(
            [
                HEALTHY,
                read_rates(b"topic,partition,in\na,0,1\n", file="r"),
                read_rates(b"topic,partition,in\na,0,2\n", file="s"),
            ],
            ("s: line 2, in_bytes_per_s of a-0", "r: line 2, which has 1.0"),
            id="two-rates",
        ),
        pytest.param(
            [
                assignment([1, 2], log_dirs=["/d1", "any"]),
                assignment([1, 2], log_dirs=["/d9", "/d2"]),
            ],
            ("now.json: partitions[0], log_dirs of a-0", "now.json: partitions[0]"),
            id="log-dirs-that-are-named",
        ),
        pytest.param(
            [HEALTHY, log_dirs({1: {"/d": {"a-0": 1}, "/e": {"a-0": 1}}, 2: {}})],
            ("dirs.txt: broker 1", "a-0 must be in one log dir of broker 1"),
            id="in-two-log-dirs",
        ),
        pytest.param(
            [
                HEALTHY,
                log_dirs({1: {"/d": {"a-0": 1}, "/e": {}}, 2: {"/d": {"a-0": 1}}}),
                log_dirs({1: {"/d": {}, "/e": {"a-0": 1}}, 2: {"/d": {"a-0": 1}}}),
            ],
            ("dirs.txt: broker 1, log dir of a-0", "dirs.txt: broker 1"),
            id="two-log-dirs-of-a-replica",
        ),
        pytest.param(
            [read_topics(MIN_ISR_0, file="topics.txt")],
            ("topics.txt: line 1, configs.min.insync.replicas", "from 1 to"),
            id="a-config-that-cannot-be",
        ),
        pytest.param(
            [assignment([1, 2]), table("id,disk", "1,4EB", "2,4EB")],
            ("all files: brokers, disk_bytes", "below 2^62"),
            id="too-much-disk",
        ),
    ],
)
def test_contradictions_name_both_places(sources, places):
    found = problems(*sources)

    assert any(all(place in problem for place in places) for problem in found), found


def test_all_contradictions_are_named():
    found = problems(
        HEALTHY,
        assignment([2, 1], [1, 2]),
        table("id,rack", "1,a", "2,b"),
        table("id,rack", "1,x", "2,y", name="other.csv"),
    )

    assert len(found) == 4


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


def test_rates_of_topics_that_are_gone_are_passed_over_and_said():
    rates = read_rates(b"topic,partition,in\ngone,0,10\na,0,3\n", file="rates.csv")

    told = merge([HEALTHY, rates])

    assert any("rates.csv: skipped" in n and "gone" in n for n in told.notes)
    column = told.snapshot.partitions.column("in_bytes_per_s")
    assert column.to_pylist() == [3, None]


def test_parquet_rates_are_those_of_csv(tmp_path):
    frame = polars.DataFrame(
        {"topic": ["a", "a"], "partition": [0, 1], "in_bytes_per_s": [1.5, None]}
    )
    frame.write_parquet(tmp_path / "r.parquet")

    read = read_rates((tmp_path / "r.parquet").read_bytes(), file="f")

    csv = read_rates(b"topic,partition,in\na,0,1.5\na,1,\n", file="f")
    assert merge([HEALTHY, read]).snapshot.equals(merge([HEALTHY, csv]).snapshot)


def test_log_dirs_that_two_files_name_in_part_add_up():
    document = imported(
        assignment([1, 2], log_dirs=["/d1", "any"]),
        assignment([1, 2], log_dirs=["any", "/d2"]),
    )

    assert partitions(document)["a", 0]["log_dirs"] == ["/d1", "/d2"]


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        pytest.param({"topic": ["a"]}, "must occur once", id="no-partition"),
        pytest.param(
            {"topic": ["a"], "partition": [0], "in_byte_per_s": [1], "x": [1]},
            "unknown",
            id="a-slip",
        ),
        pytest.param({"topic": ["a"], "partition": [0]}, "measured", id="no-measure"),
        pytest.param(
            {"topic": ["a"], "partition": ["zero"], "in_bytes_per_s": [1.0]},
            "must be an integer",
            id="text-for-a-number",
        ),
        pytest.param(
            {"topic": ["a"], "partition": [0], "in_bytes_per_s": [-1.0]},
            "from 0 to",
            id="negative",
        ),
        pytest.param(
            {"topic": [None], "partition": [0], "in_bytes_per_s": [1.0]},
            "must not be null",
            id="null",
        ),
    ],
)
def test_bad_parquet_is_refused(tmp_path, columns, rule):
    polars.DataFrame(columns).write_parquet(tmp_path / "r.parquet")

    with pytest.raises(BadInputError) as caught:
        read_rates((tmp_path / "r.parquet").read_bytes(), file="f")

    assert any(rule in problem.rule for problem in caught.value.problems)


def test_parquet_may_spell_numbers_as_text(tmp_path):
    columns = {"topic": ["a"], "partition": ["7"], "in_bytes_per_s": ["1.5e3"]}
    polars.DataFrame(columns).write_parquet(tmp_path / "r.parquet")

    rates = read_rates((tmp_path / "r.parquet").read_bytes(), file="f").partitions

    assert list(rates.partitions) == [7]
    assert rates.values == {"in_bytes_per_s": [1500.0]}


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
