"""Partitions of which no copy can be fetched, in every operation and in the checker."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.check import Target, check
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState, ClusterState, LogDirState
from placement.operations.demote import Demote
from placement.operations.fix import Fix
from placement.operations.leaders import Leaders
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.operations.replace_broker import ReplaceBroker
from placement.operations.set_replication_factor import SetReplicationFactor
from placement.planning.plan import plan
from planner.snapshot import Snapshot, read_snapshot
from support.clusters import Dir, make_state
from support.commands import run
from support.operations import lists_after, lists_of, newly_wrong, plan_checked

CASE = Path(__file__).parents[1] / "data" / "cases" / "c32"
OPERATIONS = [
    pytest.param(Fix(), id="fix"),
    pytest.param(Rebalance(), id="rebalance"),
    pytest.param(RemoveBrokers((2,)), id="remove-brokers"),
    pytest.param(ReplaceBroker(((2, 3),)), id="replace-broker"),
    pytest.param(SetReplicationFactor({"t": 1}), id="set-replication-factor"),
]


def _orphaned(**changes: object) -> ClusterState:
    """Broker 2 is dead, and holds the only replica in sync of partition 1."""
    options: dict[str, object] = {
        "ids": [0, 1, 2, 3],
        "states": {2: BrokerState.DEAD},
        "isr": [[0], [2]],
        "leaders": [0, None],
        "size_bytes": 10,
    }
    return make_state([[0, 2], [2, 1]], **{**options, **changes})


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_has_no_source_is_left_alone_and_named(operation):
    found = plan_checked(_orphaned(), operation)

    assert lists_after(found)[1] == [2, 1]
    assert found.solution.status is Status.INFEASIBLE
    named = [one for one in found.solution.shortfalls if one.what == "no-source"]
    assert [one.group for one in named] == [1]
    assert named[0].is_proven
    assert "broker 2 (dead)" in named[0].message
    assert "start broker 2" in named[0].message.lower()
    assert "broker 1 the leader" in named[0].message


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(Rebalance(), id="rebalance"),
        pytest.param(Leaders(), id="leaders"),
        pytest.param(Demote(broker_ids=(0,)), id="demote"),
    ],
)
def test_what_need_not_move_is_noted_and_does_not_change_the_status(operation):
    state = _orphaned(states={2: BrokerState.FENCED})

    found = plan_checked(state, operation)

    assert lists_after(found)[1] == [2, 1]
    assert found.has_met_rules or operation == Demote(broker_ids=(0,))
    assert any(note.what == "no-source" for note in found.notes)


def test_an_eligible_replica_is_a_source():
    state = _orphaned(isr=[[0], []], elr=[[], [1]])

    found = plan_checked(state, Fix())

    assert found.has_met_rules
    assert 2 not in lists_after(found)[1]


def test_an_eligible_replica_is_none_below_a_live_isr():
    state = make_state([[0, 1]], isr=[[0]], elr=[[1]])

    assert state.can_lead.tolist() == [True, False]


def test_a_failed_log_dir_holds_no_source():
    dirs = {1: [Dir("/a", state=LogDirState.OFFLINE), Dir("/b")]}
    state = make_state(
        [[1]], ids=[0, 1], log_dirs=dirs, dirs=[["/a"]], isr=[[1]], leaders=[None]
    )

    found = plan_checked(state, Fix())

    assert found.solution.status is Status.INFEASIBLE
    assert "Repair log dir /a of broker 1" in found.solution.shortfalls[0].message


def test_the_cluster_after_calls_nothing_in_sync_that_cannot_be_copied():
    found = plan(_orphaned(), Fix(), Settings())

    after = found.reassignment.after()
    assert after.has_source.tolist() == [True, False]
    assert after.partitions.leader_idx.tolist() == [0, -1]


def test_the_checker_names_a_copy_without_a_source():
    state = _orphaned()
    target = Target.from_lists(["t"], [1], [[1, 3]])

    findings = check(state, target)

    assert [(f.rule, f.existing) for f in findings if f.rule == "no-source"] == [
        ("no-source", False)
    ]


def test_the_checker_lists_what_lacked_a_source_before():
    state = _orphaned()
    target = Target.from_lists(["t"], [0], [[0, 3]])

    found = [one for one in check(state, target) if one.rule == "no-source"]

    assert [(one.where.partition, one.existing) for one in found] == [(1, True)]


@st.composite
def _troubled(draw: st.DrawFn) -> ClusterState:
    lists = draw(
        st.lists(
            st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True),
            min_size=1,
            max_size=5,
        )
    )
    states = draw(
        st.dictionaries(st.integers(0, 4), st.sampled_from(BrokerState), max_size=3)
    )
    subsets = [draw(st.lists(st.sampled_from(row), unique=True)) for row in lists]
    elr = [
        [b for b in row if b not in isr] if draw(st.booleans()) else []
        for row, isr in zip(lists, subsets, strict=True)
    ]
    failed = [
        draw(st.lists(st.sampled_from(row), unique=True, max_size=1)) for row in lists
    ]
    return make_state(
        lists, ids=range(5), states=states, isr=subsets, elr=elr, failed=failed
    )


def _naive_source(state: ClusterState, p: int) -> bool:
    live = set(state.brokers.ids[state.brokers.is_live].tolist())
    rows = range(*state.replicas.start[p : p + 2])
    ids = state.brokers_of(p)
    serving = [
        (row, broker)
        for row, broker in zip(rows, ids, strict=True)
        if broker in live and not state.replicas.is_failed[row]
    ]
    if any(state.replicas.is_in_sync[row] for row, _ in serving):
        return True
    return any(state.replicas.is_eligible[row] for row, _ in serving)


@given(_troubled(), st.sampled_from([Fix(), Rebalance(), RemoveBrokers((1, 2))]))
def test_no_plan_copies_what_no_replica_can_send(state, operation):
    found = plan(state, operation, Settings())

    # An eligible replica of a broker that is gone is dropped where a copy replaces it.
    assert {one.rule for one in newly_wrong(found)} <= {"min-isr"}
    sources = [_naive_source(state, p) for p in range(state.num_partitions)]
    assert state.has_source.tolist() == sources
    before, after = lists_of(state), lists_after(found)
    stays = np.nonzero(~np.array(sources))[0]
    assert [after[p] for p in stays] == [before[p] for p in stays]
    lacking = {
        one.group for one in found.solution.shortfalls if one.what == "no-source"
    }
    assert not lacking or found.solution.status is Status.INFEASIBLE


def test_the_case_from_the_field(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = (
        "--topics",
        str(CASE / "topics.txt"),
        "--brokers",
        str(CASE / "brokers.csv"),
    )
    assert run(capsys, "snapshot", "import", *texts, "-o", "s.json").code == 0

    made = run(capsys, "plan", "fix", "s.json", "-o", "p", "--format", "json")

    assert (made.code, made.document["status"]) == (4, "infeasible")
    lacking = [one for one in made.document["shortfalls"] if one["what"] == "no-source"]
    where = [(one["where"]["topic"], one["where"]["partition"]) for one in lacking]
    assert where == [("ops-crm", 1), ("ops-two", 1)]
    assert made.document["moves"]["replicas"] == 1
    assert run(capsys, "check", "p", "--snapshot", "s.json").code == 0
    assert run(capsys, "snapshot", "apply", "p", "s.json", "-o", "after.json").code == 0
    after = read_snapshot(Path("after.json")).to_state()
    assert after.has_source.tolist() == [True, False, True, True, False]
    assert after.partitions.leader_idx.tolist() == [0, -1, 1, 0, -1]


def test_a_snapshot_with_offline_replicas_keeps_them(tmp_path):
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": 1}, {"id": 2}],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {
                        "partition": 0,
                        "replicas": [1, 2],
                        "leader": 1,
                        "isr": [1],
                        "offline_replicas": [2],
                    }
                ],
            }
        ],
    }

    state = Snapshot.from_document(document).to_state()

    assert state.is_offline.tolist() == [False, True]
    assert state.replicas.is_failed.tolist() == [False, True]
