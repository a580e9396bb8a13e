"""`from_state` is the way back from `to_state`."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.model.cluster import BrokerState, ClusterState
from placement.synthetic import SIZES, Size, make_instance
from planner.errors import BadInputError
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from planner.snapshot.tables.table_facts import MIN_ISR
from support.clusters import Dir, make_state
from support.snapshots import documents
from support.states import differences


def _there_and_back(state: ClusterState) -> ClusterState:
    return Snapshot.from_state(state).to_state()


@settings(max_examples=100)
@given(documents())
def test_any_cluster_of_a_snapshot_comes_back(document: dict[str, Any]):
    state = Snapshot.from_document(document).to_state()

    assert not differences(_there_and_back(state), state)


def test_a_partition_whose_leader_is_not_given_and_has_no_isr_comes_back():
    failed = {"id": 1, "log_dirs": [{"path": "/d", "state": "offline"}]}
    partition = {"partition": 0, "replicas": [0, 1], "isr": []}
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": 0}, failed],
        "topics": [{"name": "t", "partitions": [partition]}],
    }
    state = Snapshot.from_document(document).to_state()

    # Without a leader, what no log dir lists is in the failed one.
    assert state.replicas.log_dir_idx.tolist() == [-1, 0]
    assert not differences(_there_and_back(state), state)


@settings(max_examples=25, deadline=None)
@given(
    family=st.sampled_from(["a'", "c", "d", "e", "f", "g"]),
    brokers=st.integers(4, 20),
    replicas=st.integers(30, 900),
    seed=st.integers(0, 1000),
)
def test_any_synthetic_cluster_comes_back(family, brokers, replicas, seed):
    size = Size(brokers, min(4, brokers), replicas, 16)
    state = make_instance(family, size, seed).state

    assert not differences(_there_and_back(state), state)


@pytest.mark.parametrize("family", ["a'", "f"])
@pytest.mark.parametrize("suffix", [".json", ".json.gz", ""])
def test_synthetic_clusters_come_back_from_files(tmp_path, family, suffix):
    state = make_instance(family, SIZES["XS"], 1).state
    write_snapshot(Snapshot.from_state(state), tmp_path / f"s{suffix}")

    assert not differences(read_snapshot(tmp_path / f"s{suffix}").to_state(), state)


def test_a_difference_is_seen():
    state = make_state([[0, 1]], size_bytes=1, in_rate=np.nan)
    other = make_state([[1, 0]], size_bytes=2, in_rate=1.0, cluster_id="other")

    assert differences(state, other) == [
        "cluster_id",
        "partitions.leader_idx",
        "partitions.size_bytes",
        "partitions.in_bytes_per_s",
        "replicas.broker_idx",
    ]


def test_the_header_says_what_the_cluster_does_not():
    state = make_state([[0, 1]], cluster_id="own")

    given = Snapshot.from_state(state, {"rates": {"source": "guess"}})

    assert given.cluster_id == "own"
    assert given.rates == {"source": "guess"}
    assert Snapshot.from_state(state, {"cluster_id": "x"}).cluster_id == "x"


@pytest.mark.parametrize(
    ("min_isr", "header", "of_cluster", "of_topics"),
    [
        pytest.param([1, 1], {}, None, [None, None], id="default"),
        pytest.param([2, 2], {}, "2", [None, None], id="same"),
        pytest.param([2, 1], {}, "2", [None, "1"], id="one-differs"),
        pytest.param([2, 3], {}, None, ["2", "3"], id="all-differ"),
        pytest.param([2, 3], {MIN_ISR: "3"}, "3", ["2", None], id="given"),
    ],
)
def test_min_isr_is_said_once_or_by_topics(min_isr, header, of_cluster, of_topics):
    state = make_state({"a": [[0, 1]], "b": [[1, 0]]}, min_isr=min_isr)

    snapshot = Snapshot.from_state(state, {"configs": header} if header else None)

    configs = map(dict, snapshot.topics.column("configs").to_pylist())
    assert snapshot.configs.get(MIN_ISR) == of_cluster
    assert [config.get(MIN_ISR) for config in configs] == of_topics
    assert snapshot.to_state().topics.min_insync_replicas.tolist() == min_isr


def test_nothing_unknown_is_said():
    state = make_state([[0, 1]], states={1: BrokerState.DEAD})

    snapshot = Snapshot.from_state(state)

    (partition,) = snapshot.to_document()["topics"][0]["partitions"]
    assert partition == {"partition": 0, "replicas": [0, 1], "leader": 0, "isr": [0]}


def test_a_cluster_that_no_snapshot_may_say_is_refused():
    log_dirs = {0: [Dir("/d1", size_bytes=10)]}
    state = make_state([[0]], disk_bytes=20, log_dirs=log_dirs)

    with pytest.raises(BadInputError) as refused:
        Snapshot.from_state(state, file="mine")

    assert [problem.file for problem in refused.value.problems] == ["mine"]
