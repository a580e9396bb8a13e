"""Why moves are made: every reason in a small case, and each undone by hand."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.draft.draft import Settings
from placement.explain.move_reasons import REASONS, Consequence, Reason
from placement.explain.move_table import list_moves
from placement.explain.planned_moves import explain_planned, explain_reassignment
from placement.model.cluster import BrokerState, LogDirState
from placement.model.load import RESOURCES, UNIT_ROW
from placement.operations.add_brokers import AddBrokers
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.operations.set_replication_factor import SetReplicationFactor
from placement.planning.plan import draft_shares, loads_of, make_draft, plan
from placement.rules.broker_sets import BrokerSets
from planner.explain.explain_file import explain_file
from planner.kafka_files.reassignment_file import ReassignmentFile
from support.clusters import Dir, clusters, make_state
from support.naive import is_rack_broken, lists_of, naive_loads

COUNTS = Settings(resources=(RESOURCES[4],))


def lists(*replicas):
    count = range(len(replicas))
    return ReassignmentFile(
        tuple("t" for _ in count), tuple(count), replicas, tuple(None for _ in count)
    )


def explained(state, target, operation, options):
    from planner.explain.explain_file import _names, _reassignment

    rows = dict(zip(_names(state), range(state.num_partitions), strict=True))
    draft = make_draft(state, operation, options)
    balanced = draft.balanced_resources()
    return explain_reassignment(
        draft, _reassignment(target, state, rows), draft_shares(draft), balanced
    )


CASES = [
    pytest.param(
        make_state([[0], [1]], racks="abc", states={0: BrokerState.DEAD}),
        lists((2,)), Rebalance(),
        [(Reason.BROKER_DEAD, Consequence.NOT_EMPTY)], id="dead",
    ),
    pytest.param(
        make_state([[0], [1]], racks="abc"),
        lists((2,)), RemoveBrokers((0,)),
        [(Reason.BROKER_LEAVES, Consequence.NOT_EMPTY)], id="removed",
    ),
    pytest.param(
        make_state(
            [[0], [1]], racks="abc", dirs=[["/d"], [None]],
            log_dirs={0: [Dir("/d", state=LogDirState.OFFLINE)]},
        ),
        lists((2,)), Rebalance(),
        [(Reason.LOG_DIR_OFFLINE, Consequence.NOTHING)], id="offline-log-dir",
    ),
    pytest.param(
        make_state([[0, 1], [2, 3]], racks="aabb", states={2: BrokerState.DEMOTED}),
        lists((0, 1), (3, 2)), Rebalance(),
        [(Reason.DEMOTED, Consequence.STILL_LEADS)], id="demoted",
    ),
    pytest.param(
        make_state([[0, 1], [1, 2]], racks="aabb"),
        lists((0, 3), (1, 2)), Rebalance(),
        [(Reason.RACK, Consequence.RACK)], id="two-in-a-rack",
    ),
    pytest.param(
        make_state([[0], [0], [1]], racks="abc", size_bytes=[50, 40, 80],
                   disk_bytes=100),
        lists((0,), (2,)), Rebalance(),
        [(Reason.OVER_THRESHOLD, Consequence.OVER_CAPACITY)], id="over-its-threshold",
    ),
    pytest.param(
        make_state([[0], [0], [1], [1]], racks="abc", states={2: BrokerState.NEW}),
        lists((2,)), Rebalance(),
        [(Reason.FILLS_NEW, Consequence.OUT_OF_BAND)], id="new",
    ),
    pytest.param(
        make_state([[0], [0], [0], [1]], racks="ab"),
        lists((1,)), Rebalance(),
        [(Reason.OVER_BAND, Consequence.OUT_OF_BAND)], id="above-its-band",
    ),
    pytest.param(
        make_state([[0]] * 4 + [[1]] * 4 + [[2]] * 2, racks="abc"),
        lists((2,)), Rebalance(),
        [(Reason.BELOW_BAND, Consequence.OUT_OF_BAND)], id="below-its-band",
    ),
    pytest.param(
        make_state([[0], [1]], racks="ab"),
        lists((1,), (0,)), Rebalance(),
        [(Reason.MAKES_ROOM, Consequence.OUT_OF_BAND)] * 2, id="a-swap-for-nothing",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("state", "target", "operation", "wanted"), CASES)
def test_reasons(state, target, operation, wanted):
    moves, found = explained(state, target, operation, COUNTS)

    told = zip(found.reason, found.undone, moves.is_copy, strict=True)
    assert [
        (REASONS[reason], undone)
        for reason, undone, is_copy in told
        if is_copy or not moves.is_copy.any()
    ] == wanted


def test_a_replica_on_another_set_than_its_topic():
    sets = {0: "gold", 1: "silver"}
    state = make_state([[0], [1]], racks="ab", broker_sets=sets)
    options = Settings(resources=(RESOURCES[4],), rules=(BrokerSets(np.array([1])),))

    _, found = explained(state, lists((1,)), Rebalance(), options)

    assert REASONS[found.reason[0]] == Reason.BROKER_SET


def test_leadership_goes_with_its_replica():
    state = make_state([[0, 1], [1, 0]], racks="abc")

    moves, found = explained(state, lists((2, 1)), AddBrokers((2,)), COUNTS)

    assert moves.is_copy.tolist() == [True, False]
    assert moves.is_free.tolist() == [True, False]
    assert REASONS[found.reason[1]] == Reason.REPLICA_LEFT
    assert found.undone[1] == Consequence.NOTHING


def test_a_replication_factor_explains_what_comes_and_what_goes():
    state = make_state({"a": [[0]], "b": [[0, 1]]}, racks="ab")

    moves, found = explain_planned(
        plan(state, SetReplicationFactor({"a": 2, "b": 1}), COUNTS)
    )

    assert {REASONS[reason] for reason in found.reason[moves.is_resizing]} == {
        Reason.NEW_FACTOR
    }
    assert moves.is_copy.sum() == moves.is_drop.sum() == 1
    assert set(found.undone[moves.is_resizing]) == {Consequence.OLD_FACTOR}


def test_every_reason_has_a_case_here_or_with_its_rule():
    named = {reason for case in CASES for reason, _ in case.values[3]}
    named |= {Reason.NEW_FACTOR}

    assert set(Reason) - named == {
        Reason.BROKER_SET,
        Reason.REPLICA_LEFT,
        Reason.TOPICS_APART,
        Reason.TOPICS_TOGETHER,
        Reason.WITH_OTHERS,
    }


def test_moves_that_could_each_be_left_out():
    wide = Settings(resources=(RESOURCES[4],), bands={RESOURCES[4]: 0.9})
    state = make_state([[0], [0], [1], [1]], racks="ab")

    _, found = explained(state, lists((1,)), Rebalance(), wide)

    assert [REASONS[reason] for reason in found.reason] == [
        Reason.WITH_OTHERS, Reason.REPLICA_LEFT,
    ]  # fmt: skip
    assert set(found.undone) == {Consequence.NOTHING}


OPERATIONS = st.sampled_from([Rebalance(), AddBrokers(), RemoveBrokers((0, 1, 2, 3))])


@settings(max_examples=40)
@given(clusters(min_brokers=2), OPERATIONS)
def test_each_move_undone_by_hand(state, operation):
    placed = plan(state, operation, Settings(effort="quick"))
    moves, found = explain_planned(placed)
    after = placed.reassignment.after()
    now, (load, _) = lists_of(after), loads_of(after)
    base = as_table(state, naive_loads(state, now))
    leaving = frozenset(state.brokers.ids[placed.draft.leaves].tolist())

    for m in range(len(moves)):
        undone = undo(state, now, moves, m)
        if undone is None:
            assert REASONS[found.reason[m]] == Reason.REPLICA_LEFT
            assert found.undone[m] == Consequence.NOTHING
            continue
        key = key_at(state, moves, m)
        changed = as_table(state, naive_loads(state, now | {key: undone})) - base
        again = load + np.rint(changed * UNIT_ROW).astype(np.int64)
        worse = worsened(placed, load, again)
        kind = Consequence(found.undone[m])
        if kind == Consequence.OUT_OF_BAND:
            place = found.undone_broker[m], found.undone_resource[m]
            assert worse[place] == pytest.approx(found.undone_outside[m], abs=1e-6)
            assert worse.max() == pytest.approx(worse[place], abs=1e-6)
        elif kind == Consequence.NOTHING:
            assert worse.max(initial=0.0) <= 1e-6
        elif kind == Consequence.NOT_EMPTY:
            assert int(state.brokers.ids[moves.source[m]]) in leaving
        elif kind == Consequence.STILL_LEADS:
            assert placed.draft.must_release[moves.source[m]]
        elif kind == Consequence.RACK:
            assert is_rack_broken(state, undone, leaving)
            assert not is_rack_broken(state, now[key], leaving)


def key_at(state, moves, m):
    p = moves.partition_idx[m]
    topic = state.topics.names[state.partitions.topic_idx[p]]
    return topic, int(state.partitions.partition[p])


def undo(state, now, moves, m):
    """Return the list of a partition without one move, where that can be."""
    ids = state.brokers.ids
    source, target = int(ids[moves.source[m]]), int(ids[moves.target[m]])
    listed = now[key_at(state, moves, m)]
    if moves.is_copy[m]:
        assert target in listed
        assert source not in listed
        return [source if broker == target else broker for broker in listed]
    assert listed[0] == target
    if source not in listed:
        return None
    return [source, *(broker for broker in listed if broker != source)]


def as_table(state, loads):
    ids = state.brokers.ids.tolist()
    return np.array([[loads[str(r)][b] for r in RESOURCES] for b in ids])


def worsened(placed, load, again):
    """Return how much further each broker would be outside its bands."""
    targets, draft = placed.targets, placed.draft
    unit = np.where(targets.target > 0, targets.target, np.inf)
    slack = 1e-9 * np.maximum(targets.target, 1.0)

    def outside(distance):
        return np.where(distance > slack, distance / unit, 0.0)

    above = outside(again - targets.upper) - outside(load - targets.upper)
    below = outside(targets.lower - again) - outside(targets.lower - load)
    if draft.old_may_be_low:
        below *= draft.is_new[:, None]
    balanced = [resource in placed.balanced for resource in RESOURCES]
    return np.maximum(above, below) * balanced


@settings(max_examples=20)
@given(clusters(min_brokers=2))
def test_moves_are_those_of_the_reassignment(state):
    placed = plan(state, Rebalance(), Settings(effort="quick"))

    moves = list_moves(placed.reassignment, placed.draft.weights)

    assert moves.copied_bytes.sum() == placed.reassignment.copied_bytes(
        placed.draft.weights
    )
    assert moves.is_copy.sum() == placed.reassignment.is_copied.sum()
    assert (~moves.is_copy).sum() == placed.reassignment.is_led_anew.sum()
    assert (np.diff(moves.partition_idx) >= 0).all()


@pytest.mark.parametrize(
    ("file", "rule"),
    [
        pytest.param(
            ReassignmentFile(("u",), (0,), ((0,),), (None,)), "no such partition",
            id="unknown-partition",
        ),
        pytest.param(
            ReassignmentFile(("t", "t"), (0, 0), ((0,), (0,)), (None, None)),
            "must be listed once", id="twice",
        ),
        pytest.param(
            ReassignmentFile(("t",), (0,), ((0, 1),), (None,)), "must have 1 replicas",
            id="longer",
        ),
        pytest.param(
            ReassignmentFile(("t",), (0,), ((9,),), (None,)), "brokers of the snapshot",
            id="unknown-broker",
        ),
    ],
)  # fmt: skip
def test_files_that_do_not_fit(file, rule):
    state = make_state([[0], [1]], racks="ab")

    with pytest.raises(ValueError, match="does not fit the snapshot") as refused:
        explain_file(Path("r.json"), file, state)

    (problem,) = refused.value.problems
    assert rule in problem.rule
