"""Controllers, features and settings from what Kafka's own tools printed."""

import json
import re

import pytest

from planner.errors import BadInputError
from planner.snapshot.importers import merge
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_configs import read_configs
from planner.snapshot.importers.kafka_tools.kafka_features import (
    METADATA_LEVELS,
    read_features,
)
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_quorum import read_quorum
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from support.monitoring import POOLS
from support.samples import SAMPLES, imported, refusal, sample, words

STATUS = (SAMPLES / "quorum-status.txt").read_bytes()
REPLICATION = (SAMPLES / "quorum-replication.txt").read_bytes()
FEATURES = (SAMPLES / "features-describe.txt").read_bytes()
CONFIGS = (SAMPLES / "configs-topics.txt").read_bytes()
BEFORE_3_9 = b"""ClusterId:              fMCL8kv1SWm87L_Md-I2hg
LeaderId:               3002
LeaderEpoch:            2
HighWatermark:          10
MaxFollowerLag:         0
MaxFollowerLagTimeMs:   -1
CurrentVoters:          [3000,3001,3002]
CurrentObservers:       [0,1,2]
"""
HEADING = "NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus"
REPLICATION_BEFORE_3_9 = f"""{HEADING}  \t
3002  \t10          \t0  \t-1                \t-1             \tLeader  \t
3000  \t10          \t0  \t5 ms ago          \t5 ms ago       \tFollower\t
7     \t9           \t1  \t6 ms ago          \t1 ms ago       \tObserver\t
""".encode()


def topics(name="topics-describe.txt"):
    return sample(read_topics, name)


def brokers(name="cluster-list-endpoints.txt"):
    return sample(read_endpoints, name)


def nodes(data):
    source = read_quorum(data, file="f")
    return {record.key: record.values["voter"] for record in source.controllers}


LEADER = {"id": 100, "voter": True, "combined": False, "leader": True}


@pytest.mark.parametrize(
    ("name", "more"), [("status", {}), ("replication", {"fetch_age_ms": 0})]
)
def test_brokers_observe_and_are_no_controllers(name, more):
    document = imported(topics(), brokers(), sample(read_quorum, f"quorum-{name}.txt"))

    assert document["controllers"] == [{**LEADER, **more}]


@pytest.mark.parametrize(
    ("fetched", "ages"),
    [
        pytest.param({1: "1000", 2: "400", 3: "-1"}, {1: 0, 2: 600}, id="times"),
        pytest.param(
            {1: "0 ms ago", 2: "35 ms ago", 3: "-1 ms ago"}, {1: 0, 2: 35}, id="ages"
        ),
        pytest.param({1: "1000", 2: "1001", 3: "7"}, {1: 0, 2: 0, 3: 993}, id="ahead"),
    ],
)
def test_the_leader_and_the_last_sign_of_each_voter_are_read(fetched, ages):
    text = HEADING
    for node, time in fetched.items():
        text += f"{node}\t1\t0\t{time}\t{time}\t{ROLES[node == 1]}\t\n"

    document = imported(topics_of(7), read_quorum(text.encode(), file="quorum.txt"))

    controllers = document["controllers"]
    assert [one["id"] for one in controllers if one.get("leader")] == [1]
    found = {one["id"]: one.get("fetch_age_ms") for one in controllers}
    assert {node: age for node, age in found.items() if age is not None} == ages


def test_two_leaders_are_none():
    first = quorum((100, "Leader"), (101, "Follower"))
    second = quorum((100, "Follower"), (101, "Leader"))

    made = merge([topics(), brokers(), first, second])

    assert not any(one.get("leader") for one in made.snapshot.controllers)
    assert any("several leaders of the quorum" in note for note in made.notes)


def test_both_forms_agree_and_one_tells_the_cluster():
    status, replication = (
        sample(read_quorum, f"quorum-{name}.txt") for name in ("status", "replication")
    )

    document = imported(topics(), brokers(), status, replication)

    assert [c.key for c in status.controllers] == [100, 6, 1, 5, 3, 2, 4]
    assert document["cluster_id"] == "XIznig2aTPOlWb34bTegMA"
    assert document["controllers"] == [{**LEADER, "fetch_age_ms": 0}]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            BEFORE_3_9,
            {3000: True, 3001: True, 3002: True, 0: False, 1: False, 2: False},
            id="status-before-3.9",
        ),
        pytest.param(
            REPLICATION_BEFORE_3_9,
            {3002: True, 3000: True, 7: False},
            id="replication-human-readable",
        ),
        pytest.param(
            REPLICATION_BEFORE_3_9.expandtabs(),
            {3002: True, 3000: True, 7: False},
            id="tabs-as-blanks",
        ),
        pytest.param(
            STATUS.replace(b"CurrentObservers", b"SomeNewField: 1\nCurrentObservers"),
            {100: True, 6: False, 1: False, 5: False, 3: False, 2: False, 4: False},
            id="a-field-of-a-later-release",
        ),
    ],
)
def test_forms_of_other_releases_are_taken(data, expected):
    assert nodes(data) == expected


HEADING = (
    "NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus\n"
)
ROLES = ("Follower", "Leader")


def quorum(*rows):
    text = HEADING
    for node, status in rows:
        text += f"{node}\t1\t0\t5\t5\t{status}\t\n"
    return read_quorum(text.encode(), file="quorum.txt")


def test_voters_that_are_brokers_are_combined_and_have_their_rack():
    said = quorum((1, "Leader"), (2, "Follower"), (3, "Observer"), (7, "Follower"))

    document = imported(topics(), brokers(), said)

    now = {"fetch_age_ms": 0}
    assert document["controllers"] == [
        {"id": 1, "rack": "r1", "voter": True, "combined": True, "leader": True} | now,
        {"id": 2, "rack": "r2", "voter": True, "combined": True} | now,
        {"id": 7, "voter": True, "combined": False} | now,
    ]


def test_an_observer_that_is_no_broker_is_a_controller():
    document = imported(topics(), brokers(), quorum((100, "Leader"), (101, "Observer")))

    assert document["controllers"][1] == {"id": 101, "voter": False, "combined": False}


def test_without_a_list_of_brokers_an_observer_may_be_one():
    made = merge([topics(), quorum((100, "Leader"), (101, "Observer"))])

    assert [one["id"] for one in made.snapshot.controllers] == [100]
    assert any("nodes 101 observe the quorum" in note for note in made.notes)


def test_outputs_with_other_voters_are_refused():
    first = quorum((100, "Leader"), (101, "Follower"))
    second = quorum((100, "Leader"), (102, "Follower"))

    with pytest.raises(BadInputError, match="voters: must be those of") as caught:
        merge([topics(), first, second])

    assert "found 100, 102" in str(caught.value)


def test_pools_and_the_quorum_must_agree():
    pools = read_strimzi(POOLS, file="pools.yaml")
    lists = topics_of(1, 2, 3)
    agreed = imported(lists, pools, quorum((100, "Leader"), (1, "Observer")))

    with pytest.raises(BadInputError) as caught:
        merge([lists, pools, quorum((1, "Leader"), (100, "Observer"))])

    assert agreed["controllers"] == [{**LEADER, "fetch_age_ms": 0}]
    assert [p.place for p in caught.value.problems] == ["line 3, voter of node 100"]


def topics_of(*ids):
    told = ",".join(map(str, ids))
    text = (
        f"Topic: a\tPartitionCount: 1\tReplicationFactor: {len(ids)}\tConfigs: \n"
        f"\tTopic: a\tPartition: 0\tLeader: {ids[0]}\tReplicas: {told}\tIsr: {told}\n"
    )
    return read_topics(text.encode(), file="topics.txt")


def test_features_are_levels():
    document = imported(topics(), sample(read_features, "features-describe.txt"))

    # kraft.version stands at 0, which brokers do not tell.
    assert document["features"] == {
        "eligible.leader.replicas.version": 1,
        "group.version": 1,
        "metadata.version": 30,
        "share.version": 1,
        "streams.version": 1,
        "transaction.version": 2,
    }


def one_feature(level, name=b"metadata.version"):
    return (
        b"Feature: " + name + b"\tSupportedMinVersion: 3.0-IV1\tSupportedMaxVersion: "
        b"9.9-IV9\tFinalizedVersionLevel: " + level + b"\tEpoch: 2\n"
    )


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        pytest.param(b"3.3-IV3", {"metadata.version": 7}, id="3.3"),
        pytest.param(b"4.0-IV3", {"metadata.version": 25}, id="4.0"),
        pytest.param(b"UNKNOWN 55", {"metadata.version": 55}, id="unknown-to-the-tool"),
        pytest.param(b"9.9-IV9", {}, id="unknown-here"),
        pytest.param(b"0", {}, id="not-finalized"),
        pytest.param(b"-", {}, id="none"),
    ],
)
def test_levels_of_metadata_version(level, expected):
    source = read_features(one_feature(level), file="f")

    assert source.header["features"] == expected
    assert bool(source.notes) == (level == b"9.9-IV9")


def test_names_of_metadata_versions_ascend():
    names = list(METADATA_LEVELS)

    assert names == sorted(names, key=lambda n: [*map(int, re.findall(r"\d+", n))])
    assert list(METADATA_LEVELS.values()) == list(range(1, len(names) + 1))


def test_settings_of_topics_are_their_own():
    document = imported(sample(read_configs, "configs-topics.txt"), topics())

    # That min.insync.replicas is 1 here is the cluster's, which kafka-topics prints.
    assert {name: topic["configs"] for name, topic in document["topics"].items()} == {
        "audit-log-1": {"min.insync.replicas": "2"},
        "big": {"min.insync.replicas": "1"},
        "orders": {
            "cleanup.policy": "compact,delete",
            "min.insync.replicas": "2",
            "retention.ms": "604800000",
        },
        "payments.eu-west_1": {"min.insync.replicas": "1"},
        "scratch": {"min.insync.replicas": "1"},
    }


def test_throttles_of_topics_and_brokers():
    document = imported(
        topics("topics-describe-reassigning.txt"),
        brokers(),
        sample(read_configs, "configs-topics-throttled.txt"),
        sample(read_configs, "configs-brokers-throttled.txt"),
    )

    assert document["configs"] == {"min.insync.replicas": "1"}
    throttle = {
        "follower.replication.throttled.rate": "3000000",
        "leader.replication.throttled.rate": "3000000",
    }
    assert {b: one.get("configs") for b, one in document["brokers"].items()} == {
        1: throttle, 2: throttle, 3: None, 4: throttle, 5: throttle, 6: throttle,
    }  # fmt: skip
    assert document["topics"]["payments.eu-west_1"]["configs"] == {
        "follower.replication.throttled.replicas": "0:5",
        "leader.replication.throttled.replicas": "0:4,0:6",
        "min.insync.replicas": "1",
    }


DEFAULT_RATE = b"""Default configs for brokers in the cluster are:
  leader.replication.throttled.rate=9 sensitive=false \
synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:leader.replication.throttled.rate=9}
"""
RATES_OF_ALL = b"""All configs for broker 1 are:
  follower.replication.throttled.rate=5 sensitive=false \
synonyms={DYNAMIC_BROKER_CONFIG:follower.replication.throttled.rate=5, \
DYNAMIC_DEFAULT_BROKER_CONFIG:\
follower.replication.throttled.rate=8}
  leader.replication.throttled.rate=9 sensitive=false \
synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:leader.replication.throttled.rate=9}
"""


def test_a_throttle_by_default_is_the_clusters_and_no_brokers():
    by_default = read_configs(DEFAULT_RATE, file="c.txt")
    of_broker = read_configs(RATES_OF_ALL, file="c.txt")

    rate = {"leader.replication.throttled.rate": "9"}
    assert by_default.header["configs"] == rate
    assert of_broker.header["configs"] == {
        **rate,
        "follower.replication.throttled.rate": "8",
    }
    assert [one.values["configs"] for one in of_broker.brokers] == [
        {"follower.replication.throttled.rate": "5"}
    ]


ALL = b"""All configs for broker 1 are:
  advertised.listeners=PLAINTEXT://k1.prod:9092 sensitive=false \
synonyms={STATIC_BROKER_CONFIG:advertised.listeners=PLAINTEXT://k1.prod:9092}
  ssl.keystore.password=null sensitive=true \
synonyms={STATIC_BROKER_CONFIG:ssl.keystore.password=null}
  min.insync.replicas=1 sensitive=false synonyms={DEFAULT_CONFIG:min.insync.replicas=1}
  log.retention.ms=null sensitive=false synonyms={}
  log.retention.hours=168 sensitive=false \
synonyms={DEFAULT_CONFIG:log.retention.hours=168}
  default.replication.factor=3 sensitive=false \
synonyms={STATIC_BROKER_CONFIG:default.replication.factor=3, DEFAULT_CONFIG:x=1}
All configs for broker 2 are:
  default.replication.factor=2 sensitive=false \
synonyms={STATIC_BROKER_CONFIG:default.replication.factor=2, DEFAULT_CONFIG:x=1}
  min.insync.replicas=1 sensitive=false synonyms={DEFAULT_CONFIG:min.insync.replicas=1}
"""


def test_of_all_settings_of_brokers_only_those_that_count_are_kept():
    source = read_configs(ALL, file="c.txt")

    assert source.header["configs"] == {
        "default.replication.factor": "3",
        "min.insync.replicas": "1",
    }
    assert source.brokers == ()
    assert source.notes == (
        "c.txt: brokers differ in default.replication.factor: the value of the first "
        "is used",
    )


def test_of_all_settings_of_a_topic_only_its_own_are_kept():
    text = (
        b"All configs for topic a are:\n"
        b"  remote.storage.enable=true sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:"
        b"remote.storage.enable=true, DEFAULT_CONFIG:remote.storage.enable=false}\n"
        b"  segment.bytes=1073741824 sensitive=false "
        b"synonyms={DEFAULT_CONFIG:log.segment.bytes=1073741824}\n"
    )

    (topic,) = read_configs(text, file="f").topics

    assert topic.values == {
        "configs": {"remote.storage.enable": "true"},
        "storage": "tiered",
    }


def test_the_older_headings_of_settings_are_taken():
    text = (
        b"Configs for topic a are:\n"
        b"  retention.ms=5 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:x=5}\n"
        b"Default config for brokers in the cluster are:\n"
    )

    (topic,) = read_configs(text, file="f").topics

    assert topic.values["configs"] == {"retention.ms": "5"}


@pytest.mark.parametrize(
    ("reader", "data", "place", "rule"),
    [
        pytest.param(
            read_quorum, STATUS[:-30], "line 8", "complete list", id="cut-status"
        ),
        pytest.param(
            read_quorum,
            b"".join(STATUS.splitlines(keepends=True)[:-1]),
            "",
            "'CurrentObservers:' is missing",
            id="status-without-its-last-line",
        ),
        pytest.param(
            read_quorum,
            b"\n".join(line[:40] for line in STATUS.splitlines()) + b"\n",
            "line 7",
            "complete list",
            id="status-cut-by-a-screen",
        ),
        pytest.param(
            read_quorum,
            STATUS.replace(b'"id": 100', b'"id": -1'),
            "line 7",
            "an id from 0",
            id="no-node-id",
        ),
        pytest.param(
            read_quorum, STATUS + STATUS, "line 9", "occur once", id="status-twice"
        ),
        pytest.param(
            read_quorum, STATUS + REPLICATION, "line 9", "a name and a value", id="both"
        ),
        pytest.param(
            read_quorum,
            b"\n".join(line[:70] for line in REPLICATION.splitlines()) + b"\n",
            "line 1",
            "the first line",
            id="table-cut-by-a-screen",
        ),
        pytest.param(
            read_quorum,
            REPLICATION.splitlines(keepends=True)[0]
            + REPLICATION.splitlines(keepends=True)[2],
            "",
            "one node must be the leader; 0 are",
            id="table-without-the-leader",
        ),
        pytest.param(
            read_quorum,
            REPLICATION.replace(b"5     \t", b"6     \t"),
            "line 5",
            "occur once",
            id="a-node-twice",
        ),
        pytest.param(
            read_features,
            b"\n".join(line[:100] for line in FEATURES.splitlines()) + b"\n",
            "line 1",
            "supported and finalized levels",
            id="features-cut-by-a-screen",
        ),
        pytest.param(
            read_features, FEATURES + FEATURES, "line 8", "once", id="features-twice"
        ),
        pytest.param(
            read_configs,
            b"\n".join(line[:80] for line in CONFIGS.splitlines()) + b"\n",
            "line 3",
            "must be a setting",
            id="settings-cut-by-a-screen",
        ),
        pytest.param(
            read_configs,
            CONFIGS[CONFIGS.index(b"\n  ") + 1 :],
            "line 1",
            "below the line of its topic",
            id="settings-without-their-topic",
        ),
        pytest.param(
            read_configs, CONFIGS + CONFIGS, "line 10", "occur once", id="topic-twice"
        ),
        pytest.param(
            read_configs,
            CONFIGS.replace(
                b"  min.insync",
                b"  retention.ms=1 sensitive=false\n" * 2 + b"  min.insync",
                1,
            ),
            "line 4",
            "retention.ms is also above",
            id="setting-twice",
        ),
        pytest.param(
            read_configs,
            CONFIGS + b"Dynamic configs for client-metrics m are:\n",
            "line 10",
            "must be a setting",
            id="other-entities",
        ),
    ],
)
def test_bad_texts_are_refused_with_their_place(reader, data, place, rule):
    error = refusal(reader, data)

    assert any(
        problem.place == place and rule in problem.rule for problem in error.problems
    ), words(error)


def test_topics_whose_settings_are_hidden_are_a_gap():
    some = CONFIGS[: CONFIGS.index(b"Dynamic configs for topic scratch")]
    configs = read_configs(some, file="configs.txt")

    with pytest.raises(BadInputError) as caught:
        merge([topics(), configs])

    (problem,) = caught.value.problems
    assert problem.file == "configs.txt"
    assert "no settings of topics payments.eu-west_1, scratch" in problem.rule
    assert "DescribeConfigs on Topic '*'" in problem.remedy
    made = merge([topics(), configs], allow_partial=True)
    assert any(
        note.startswith("only a part is visible: no settings") for note in made.notes
    )


def test_topics_with_settings_and_without_partitions_are_a_gap():
    one = topics("topics-describe-one.txt")
    configs = sample(read_configs, "configs-topics.txt")

    with pytest.raises(BadInputError) as caught:
        merge([one, configs])

    assert "audit-log-1, big, payments.eu-west_1, scratch" in str(caught.value)
    made = merge([one, configs], allow_partial=True)
    assert made.snapshot.topics["topic"].to_pylist() == ["orders"]


def test_settings_that_contradict_each_other_name_both_places():
    with pytest.raises(BadInputError) as caught:
        merge(
            [
                topics(),
                read_configs(CONFIGS.replace(b"replicas=2 ", b"replicas=3 "), file="c"),
            ]
        )

    assert {problem.place for problem in caught.value.problems} == {
        "line 2, configs of topic audit-log-1",
        "line 4, configs of topic orders",
    }


def test_all_texts_of_one_moment_make_one_snapshot():
    sources = [
        topics(),
        sample(read_log_dirs, "log-dirs-describe.txt"),
        brokers(),
        sample(read_endpoints, "cluster-id.txt"),
        sample(read_quorum, "quorum-status.txt"),
        sample(read_quorum, "quorum-replication.txt"),
        sample(read_features, "features-describe.txt"),
        sample(read_configs, "configs-topics.txt"),
        sample(read_configs, "configs-brokers-empty.txt"),
    ]

    made = merge(sources)

    assert merge(sources[::-1]).snapshot.equals(made.snapshot)
    again = json.loads(json.dumps(made.snapshot.to_document()))
    assert type(made.snapshot).from_document(again).equals(made.snapshot)
    assert {"cluster_id", "configs", "features", "controllers"} <= again.keys()
