import copy
from dataclasses import replace

import pytest

from planner.kafka.client.broker_requests import ask_brokers
from planner.kafka.client.connections import _Watched
from planner.kafka.read.authorization_gaps import (
    find_gaps,
    half_visible_error,
    is_bound,
    suspects,
)
from planner.kafka.read.cluster_metadata import Look, without_topics
from planner.kafka.read.log_dirs import BrokerDirs, Copy, Partition, read_dirs
from planner.kafka.read.produce_rates import (
    Ends,
    Rates,
    rates_by_messages,
    sample_rates,
    with_rates,
)
from planner.snapshot import Snapshot

ALL = ["CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"]
ALL += ["DESCRIBE_CONFIGS", "ALTER_CONFIGS"]


def make_look(**seen) -> Look:
    """Build what a user sees of one broker with topic `t` who may see everything."""
    operations = seen.pop("operations", ALL)
    hosted = seen.pop("hosted", ["t"])
    dirs = seen.pop("dirs", ({"log_dir": "/d"},))
    current = {Partition(topic, 0): Copy("/d", 1) for topic in hosted}
    usual = {
        "topics": {"t": {"error_code": 0, "partitions": []}},
        "topic_configs": {"t": {}},
        "cluster_configs": {"min.insync.replicas": "1"},
    }
    return Look(
        cluster={"authorized_operations": operations, "brokers": []},
        dirs={1: BrokerDirs(dirs, current, {}, 0.0)},
        **(usual | seen),
    )


@pytest.mark.parametrize(
    ("seen", "needs"),
    [
        pytest.param({}, [], id="all-is-seen"),
        pytest.param({"topics": {}, "hosted": []}, [], id="an-empty-cluster"),
        pytest.param(
            {"dirs": (), "hosted": []}, ["Describe on Cluster"], id="no-log-dirs"
        ),
        pytest.param({"hosted": ["t", "u"]}, ["Describe on Topic"], id="hidden-topic"),
        pytest.param(
            {"topics": {"t": {"error_code": 29, "partitions": []}}},
            ["Describe on Topic"],
            id="refused-topic",
        ),
        pytest.param(
            {"topic_configs": {}}, ["DescribeConfigs on Topic"], id="hidden-configs"
        ),
        pytest.param(
            {"cluster_configs": {}},
            ["DescribeConfigs on Cluster"],
            id="hidden-configs-of-brokers",
        ),
        pytest.param(
            {"topics": {}, "hosted": [], "operations": ["DESCRIBE"]},
            ["Describe on Topic"],
            id="nothing-at-all-for-a-user-bound-by-rules",
        ),
        pytest.param(
            {"refused": {"reassignments": "Describe on Cluster"}},
            ["Describe on Cluster"],
            id="refused-question",
        ),
    ],
)
def test_gaps_name_the_right_that_is_missing(seen: dict, needs: list[str]):
    gaps = find_gaps(make_look(**seen))

    assert [gap.needs for gap in gaps] == needs
    line = str(half_visible_error("k1:9092", gaps))
    assert all(need in line for need in needs)
    assert "\n" not in line


@pytest.mark.parametrize(
    ("operations", "bound"),
    [(ALL, False), (["DESCRIBE"], True), (None, False)],
)
def test_who_may_not_do_everything_is_bound_by_rules(operations, bound: bool):
    assert is_bound(make_look(operations=operations).cluster) is bound


P = Partition("t", 0)


@pytest.mark.parametrize(
    ("first", "last", "start", "expected"),
    [
        # 30 messages in 10 s; the 50 that are kept take 1000 bytes.
        pytest.param({P: 70}, {P: 100}, {P: 50}, {P: 60.0}, id="written"),
        pytest.param({P: 100}, {P: 100}, {P: 50}, {P: 0.0}, id="nothing-written"),
        pytest.param({P: 70}, {P: 100}, {P: 100}, {}, id="nothing-kept"),
        pytest.param({}, {P: 100}, {P: 50}, {}, id="not-seen-before"),
        pytest.param({P: 70}, {P: 60}, {P: 50}, {P: 0.0}, id="offsets-went-back"),
    ],
)
def test_a_log_that_shrank_is_rated_by_its_messages(first, last, start, expected):
    ends = (Ends(first, 0.0), Ends(last, 10.0))

    assert rates_by_messages({P: 1000}, *ends, start) == expected


def test_an_answer_is_heard_before_the_end_that_came_with_it():
    class Library:
        reads = iter([(b"one", None), (b"refused", "end")])

        def _sock_recv(self):
            return next(self.reads)

    class Transport(_Watched, Library):
        pass

    transport = Transport()
    heard = [transport._sock_recv() for _ in range(4)]

    assert heard == [(b"one", None), (b"refused", None), (b"", "end"), (b"", "end")]


class Cluster:
    """Brokers of which one is fenced after the first question."""

    def __init__(self, gone: set[int]) -> None:
        self.gone = gone

    def call(self, ask, *, needs: str):
        try:
            return ask(self)
        except ConnectionError:
            return ask(self)

    def describe_cluster(self) -> dict:
        return {
            "brokers": [
                {"broker_id": one, "is_fenced": one in self.gone} for one in (1, 2, 3)
            ]
        }

    def answer(self, broker_id: int) -> str:
        if broker_id in self.gone:
            raise ConnectionError
        return f"of {broker_id}"


def test_a_broker_that_is_fenced_meanwhile_is_left_out():
    found = ask_brokers(Cluster({2}), [1, 2, 3], Cluster.answer, needs="nothing")

    assert found == {1: "of 1", 3: "of 3"}


def test_rates_stand_in_the_snapshot_as_if_they_had_been_read_with_it():
    def topic(name: str, count: int) -> dict:
        partitions = [{"partition": n, "replicas": [1]} for n in range(count)]
        return {"name": name, "partitions": partitions}

    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": 1}],
        "topics": [topic("a", 3), topic("b", 1)],
    }
    rates = Rates({Partition("a", 1): 1.5, Partition("b", 0): 0.0}, 10.0004)

    found = with_rates(Snapshot.from_document(document), rates)

    expected = copy.deepcopy(document)
    expected["topics"][0]["partitions"][1]["in_bytes_per_s"] = 1.5
    expected["topics"][1]["partitions"][0]["in_bytes_per_s"] = 0.0
    expected["rates"] = {"source": "live-sample", "window_s": 10.0}
    assert found.equals(Snapshot.from_document(expected))


class TwoLooks:
    """A cluster of brokers whose only log grows by a byte from look to look."""

    def __init__(self) -> None:
        self.size_bytes = 0

    def call(self, ask, *, needs: str, timeout_s: float | None = None):
        return ask(self)

    def describe_log_dirs(self, brokers: list[int]) -> list[dict]:
        self.size_bytes += 1
        replica = {"partition_index": 0, "partition_size": self.size_bytes}
        replica["is_future_key"] = False
        topics = [{"name": "t", "partitions": [replica]}]
        return [{"log_dirs": [{"log_dir": "/d", "topics": topics}]}]

    def list_partition_offsets(self, wanted, timeout_ms: int) -> dict:
        return {}


def test_no_two_looks_at_a_broker_are_nearer_than_asked_for():
    cluster = TwoLooks()
    partition = {"partition_index": 0, "leader_id": 7}
    first = read_dirs(cluster, [7])
    topics = {"t": {"error_code": 0, "partitions": [partition]}}
    look = make_look(topics=topics)
    look = replace(look, dirs=first)

    rates = sample_rates(cluster, look, 0.05)

    assert rates.window_s >= 0.05
    assert rates.in_bytes_per_s == {Partition("t", 0): 1 / rates.window_s}


def test_topics_deleted_between_two_answers_are_no_gap():
    look = make_look(topics={"t": {"error_code": 0}}, topic_configs={}, hosted=["u"])
    assert suspects(look) == {"t", "u"}
    assert len(find_gaps(look)) == 2

    settled = without_topics(look, frozenset({"t", "u"}))

    assert settled.topics == {}
    assert find_gaps(settled) == []
