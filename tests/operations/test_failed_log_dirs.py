"""Replicas in failed log dirs, as the text of Kafka's tools shows them."""

import json
from pathlib import Path

import numpy as np
import pytest

from placement.model.cluster import BrokerState, ClusterState, LogDirState
from placement.model.reassignment import unchanged
from placement.operations.fix import Fix
from planner.plan.documents.plan_figures import survive
from planner.snapshot import Snapshot, read_snapshot
from support.clusters import Dir, make_state
from support.commands import run
from support.operations import lists_after, plan_checked

CASE = Path(__file__).parents[1] / "data" / "cases" / "c16"
SAMPLES = Path(__file__).parents[1] / "data" / "samples"
OFFSETS = "__consumer_offsets"


@pytest.fixture
def snapshot(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"topics": "topics.txt", "log-dirs": "dirs.txt", "brokers": "brokers.csv"}
    options = [
        word for name, file in texts.items() for word in (f"--{name}", str(CASE / file))
    ]
    assert run(capsys, "snapshot", "import", *options, "-o", "s.json").code == 0
    return "s.json"


def test_replicas_of_a_failed_dir_are_found_though_no_broker_lists_them(snapshot):
    state = read_snapshot(Path(snapshot)).to_state()

    rows = state.is_offline.nonzero()[0]
    names = [state.name_of(int(state.replicas.partition_idx[row])) for row in rows]
    assert names == [f"{OFFSETS}-{n}" for n in (0, 3, 6)]
    dirs = {int(row) for row in state.replicas.log_dir_idx[rows]}
    assert [state.log_dirs.paths[row] for row in dirs] == ["/disk1/kafka"]


def test_the_screens_count_them(capsys, snapshot):
    shown = run(capsys, "snapshot", "show", snapshot)
    scored = run(capsys, "score", snapshot, "--format", "json")

    assert "3 offline replicas" in shown.out
    assert scored.document["violations"]["offline_replicas"] == 3


def test_fix_says_how_kafka_makes_them_anew_where_no_broker_takes_them(
    capsys, snapshot
):
    made = run(capsys, "plan", "fix", snapshot, "-o", "p", "--format", "json")

    assert (made.code, made.document["status"]) == (4, "infeasible")
    notes = [one for one in made.document["notes"] if one["what"] == "failed-log-dir"]
    assert [one["where"] for one in notes] == [
        {"broker": 40003, "log_dir": "/disk1/kafka"}
    ]
    assert "restart broker 40003 without the directory" in notes[0]["message"]


def test_an_offline_dir_cannot_be_emptied_inside_its_broker(capsys, snapshot):
    what = ("--empty", "40003:/disk1/kafka", "--format", "json")

    made = run(capsys, "plan", "log-dirs", snapshot, *what)

    assert (made.code, made.document["status"]) == (4, "infeasible")
    [lacks] = made.document["shortfalls"]
    assert (lacks["what"], lacks["have"], lacks["need"]) == ("failed-log-dir", 0, 3)
    assert lacks["proven"]
    assert "Restart broker 40003 without the directory" in lacks["message"]


def half_failed() -> ClusterState:
    """Replica 0 of partition 0 in a failed log dir of broker 0, which is live."""
    dirs = [Dir("/a", 100, 50, LogDirState.OFFLINE), Dir("/b", 100, 50)]
    return make_state(
        [[0, 1], [1, 0]],
        log_dirs={0: dirs},
        dirs=[["/a", None], [None, "/b"]],
        isr=[[1], [1, 0]],
        leaders=[1, 1],
        size_bytes=10,
        racks="ab",
    )


def test_what_failed_is_not_elected_and_survives_no_loss():
    state = half_failed()

    after = unchanged(state).after()
    lost = survive(after, np.arange(2, dtype=np.int32))

    assert after.partitions.leader_idx.tolist() == [1, 1]
    assert (lost.most_offline, lost.offline_before) == (1, 0)


def test_no_election_is_asked_for_a_replica_that_failed(capsys, tmp_path):
    document = Snapshot.from_state(half_failed()).to_document()
    path = tmp_path / "s.json"
    path.write_text(json.dumps(document))

    made = run(capsys, "plan", "leaders", path, "-o", tmp_path / "p")

    elected = json.loads((tmp_path / "p" / "preferred-election.json").read_text())
    assert [one["partition"] for one in elected["partitions"]] in ([], [1])
    assert "no, 1 offline" in made.out


def test_losing_a_dir_that_failed_loses_nothing_more(capsys, snapshot):
    what = ("--log-dir", "40003:/disk1/kafka", "--format", "json")

    lost = run(capsys, "failures", snapshot, *what)

    assert lost.code == 0
    stages = lost.document["stages"]
    counts = [stages[step]["under_replicated"] for step in ("now", "lost")]
    assert counts == [3, 3]


def test_a_spare_broker_takes_what_the_failed_dir_held():
    failed = Dir("/a", 100, 50, LogDirState.OFFLINE)
    state = make_state(
        [[0, 1]],
        ids=[0, 1, 2],
        log_dirs={1: [failed, Dir("/b", 100, 50)]},
        dirs=[[None, "/a"]],
        isr=[[0]],
        size_bytes=10,
    )

    found = plan_checked(state, Fix())

    assert lists_after(found) == [[0, 2]]
    assert not any(note.what == "failed-log-dir" for note in found.notes)


def test_a_replica_of_several_failed_dirs_is_in_an_unknown_one():
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [
            {
                "id": 1,
                "log_dirs": [
                    {"path": "/a", "state": "offline"},
                    {"path": "/b", "state": "offline"},
                    {"path": "/c"},
                ],
            },
            {"id": 2, "log_dirs": [{"path": "/a"}]},
        ],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {
                        "partition": 0,
                        "replicas": [1, 2],
                        "leader": 2,
                        "isr": [2],
                        "log_dirs": [None, "/a"],
                    },
                    {
                        "partition": 1,
                        "replicas": [1, 2],
                        "leader": 1,
                        "isr": [1, 2],
                        "log_dirs": ["/c", "/a"],
                    },
                ],
            }
        ],
    }

    state = Snapshot.from_document(document).to_state()

    assert state.is_offline.tolist() == [True, False, False, False]
    assert state.replicas.is_failed.tolist() == [True, False, False, False]


def test_a_cluster_with_a_fenced_broker_is_not_called_fixed(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": 1}, {"id": 2}, {"id": 3, "state": "fenced"}, {"id": 4}],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {
                        "partition": 0,
                        "replicas": [1, 3],
                        "leader": 1,
                        "isr": [1],
                        "size_bytes": 10,
                    }
                ],
            }
        ],
    }
    Path("s.json").write_text(json.dumps(document))

    waits = run(capsys, "plan", "fix", "s.json", "--format", "json")
    gone = run(
        capsys, "plan", "fix", "s.json", "--lost", "3", "-o", "p", "--format", "json"
    )
    live = run(capsys, "plan", "fix", "s.json", "--lost", "1", "--format", "json")

    assert (waits.code, waits.document["status"]) == (3, "left-alone")
    (note,) = (one for one in waits.document["notes"] if one["what"] == "left-offline")
    assert note["where"] == {"broker": 3}
    for choice in ("start it", "fix --lost 3", "remove-brokers --broker-list 3"):
        assert choice in note["message"]
    assert (gone.code, gone.document["moves"]["replicas"]) == (0, 1)
    assert run(capsys, "check", "p", "--snapshot", "s.json").code == 0
    assert live.code == 2
    assert "remove-brokers --broker-list 1" in live.document["problems"][0]["remedy"]


@pytest.mark.parametrize("state", [BrokerState.FENCED, BrokerState.SHUTTING_DOWN])
def test_lost_brokers_are_emptied_whatever_kafka_calls_them(state):
    cluster = make_state([[0, 1]], ids=[0, 1, 2], states={1: state}, size_bytes=10)

    assert lists_after(plan_checked(cluster, Fix(lost=frozenset({1})))) == [[0, 2]]
