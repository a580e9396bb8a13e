"""Plans of log dirs: what stays, what is emptied, what is least."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, Target, check, is_ok
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import ABSENT, UNKNOWN, BrokerState, LogDirState
from placement.model.load import Resource
from placement.operations.fix import Fix
from placement.operations.log_dirs import LogDirs
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.operations.replace_broker import ReplaceBroker
from placement.operations.set_replication_factor import SetReplicationFactor
from placement.planning.plan import plan
from planner.plan.documents.infeasibility import shortfall_text
from support.clusters import Dir, clusters, make_state


def target_of(placed):
    """The lists that the plan would write, with the log dirs it names."""
    reassignment = placed.reassignment
    state = reassignment.before
    paths = (*state.log_dirs.paths, None)
    changed = np.nonzero(reassignment.is_changed)[0].tolist()
    start = state.replicas.start.tolist()
    return Target.from_lists(
        [state.topics.names[state.partitions.topic_idx[p]] for p in changed],
        [int(state.partitions.partition[p]) for p in changed],
        [state.brokers_of(p) for p in changed],
        [
            [paths[d] for d in reassignment.log_dir_idx[start[p] : start[p + 1]]]
            for p in changed
        ],
    )


@st.composite
def cases(draw, **kwargs):
    state = draw(clusters(reassigning=True, **kwargs))
    count = len(state.log_dirs)
    rows = draw(st.sets(st.integers(0, count - 1), max_size=2)) if count else set()
    band = draw(st.sampled_from([0.02, 0.1, 0.5]))
    return state, LogDirs(tuple(sorted(rows))), Settings(bands={Resource.DISK: band})


@settings(max_examples=80)
@given(cases())
def test_replicas_keep_their_brokers_and_the_checker_agrees(case):
    state, operation, options = case

    placed = plan(state, operation, options)

    before, after = state, placed.reassignment.after()
    assert (after.replicas.broker_idx == before.replicas.broker_idx).all()
    moved = placed.log_dirs.is_moved
    goes = placed.log_dirs.log_dir_idx[moved]
    assert (state.log_dirs.broker_idx[goes] == before.replicas.broker_idx[moved]).all()
    assert (state.log_dirs.state[goes] == LogDirState.ONLINE).all()
    assert not set(goes.tolist()) & set(operation.to_empty)
    # Only what the plan itself does to log dirs and lists is in question here.
    caused = check(state, target_of(placed), CheckSettings())
    assert is_ok(
        tuple(
            finding
            for finding in caused
            if finding.rule not in {"rack", "max-replicas", "min-isr", "capacity"}
            and not (finding.rule == "log-dir" and "no log dir of" in finding.message)
        )
    )


@settings(max_examples=80)
@given(cases())
def test_emptied_log_dirs_are_empty_or_what_stays_is_named(case):
    state, operation, options = case

    placed = plan(state, operation, options)

    home = placed.reassignment.after().replicas.log_dir_idx
    stays = np.nonzero(np.isin(home, operation.to_empty) & (home != ABSENT))[0]
    settled = state.replicas.future_log_dir_idx[stays] == ABSENT
    lacks = placed.solution.shortfalls
    failed = {one.bin for one in lacks if one.what == "failed-log-dir"}
    named = {one.item for one in lacks if one.what != "failed-log-dir"}
    known = {int(row) for row in stays if int(home[row]) in failed or int(row) in named}
    assert set(stays[settled].tolist()) <= known
    if stays[settled].size:
        assert placed.solution.status in {Status.PARTIAL, Status.INFEASIBLE}


@settings(max_examples=80)
@given(cases())
def test_planning_twice_finds_nothing_more(case):
    state, operation, options = case
    once = plan(state, operation, options)

    again = plan(once.reassignment.after(), operation, options)

    assert not again.reassignment.is_changed.any()


@settings(max_examples=80)
@given(cases())
def test_nothing_is_pushed_over_the_threshold(case):
    state, operation, options = case

    dirs = plan(state, operation, options).log_dirs

    size = state.log_dirs.size_bytes
    over = (size != UNKNOWN) & (dirs.after > 0.8 * size * (1 + 1e-9))
    assert (dirs.after <= dirs.before)[over].all()


def naive_bands(loads, sizes, heaviest, band):
    """Ends of the bands of one broker's log dirs, by docs/theory.md."""
    aside = set()
    while True:
        total = sum(load for d, load in enumerate(loads) if d not in aside)
        whole = sum(size for d, size in enumerate(sizes) if d not in aside)
        target = [
            Fraction(loads[d]) if d in aside else Fraction(total * sizes[d], whole)
            for d in range(len(loads))
        ]
        heavy = {
            d
            for d in range(len(loads))
            if d not in aside and heaviest[d] > (1 + band) * target[d] and loads[d] > 0
        }
        if not heavy:
            break
        aside |= heavy
    return [
        (0, 0)
        if target[d] == 0
        else ((1 - band) * target[d], max(target[d], heaviest[d]) + band * target[d])
        for d in range(len(loads))
    ]


def is_in_band(place, sizes_of, sizes, band):
    held = [
        [size for size, at in zip(sizes_of, place, strict=True) if at == d]
        for d in range(len(sizes))
    ]
    loads = [sum(one) for one in held]
    heaviest = [max(one, default=0) for one in held]
    ends = naive_bands(loads, sizes, heaviest, band)
    return all(
        low <= load <= high
        for load, (low, high) in zip(loads, ends, strict=True)
        if high
    )


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=7),
    st.lists(st.sampled_from([100, 200]), min_size=2, max_size=3),
    st.sampled_from([Fraction(1, 10), Fraction(3, 10)]),
    st.data(),
)
def test_no_way_to_be_in_band_is_cheaper(sizes_of, sizes, band, data):
    paths = [f"/d{d}" for d in range(len(sizes))]
    at = [data.draw(st.integers(0, len(sizes) - 1)) for _ in sizes_of]
    state = make_state(
        [[0]] * len(sizes_of),
        log_dirs={0: [Dir(p, 10 * s) for p, s in zip(paths, sizes, strict=True)]},
        dirs=[[paths[d]] for d in at],
        size_bytes=sizes_of,
    )

    dirs = plan(state, LogDirs(), Settings(bands={Resource.DISK: float(band)})).log_dirs

    costs = [
        sum(s for s, a, b in zip(sizes_of, at, way, strict=True) if a != b)
        for way in product(range(len(sizes)), repeat=len(sizes_of))
        if is_in_band(way, sizes_of, sizes, band)
    ]
    if dirs.deviation.value == 0:
        # Bands go by the heaviest replica where it ends: the bound is for these.
        assert dirs.cost.value >= min(costs)
        assert dirs.cost.lower_bound <= dirs.cost.value
        if is_in_band(at, sizes_of, sizes, band):
            assert dirs.cost.value == 0
    else:
        assert not is_in_band(at, sizes_of, sizes, band)


TWO = {0: [Dir("/d1", 1000), Dir("/d2", 1000)]}


@pytest.mark.parametrize(
    ("dirs", "sizes", "empty", "moved"),
    [
        pytest.param("1111", [10, 10, 10, 10], (), 2, id="half-of-them"),
        pytest.param("1122", [10, 10, 10, 10], (), 0, id="even"),
        pytest.param("1122", [10, 10, 10, 10], (0,), 2, id="one-is-emptied"),
        pytest.param("1112", [40, 10, 10, 20], (), 1, id="the-cheaper-side"),
        pytest.param(
            "1111", [10, 10, 10, None], (), 1, id="unknown-sizes-weigh-naught"
        ),
    ],
)
def test_by_hand(dirs, sizes, empty, moved):
    state = make_state(
        [[0]] * 4,
        log_dirs=TWO,
        dirs=[[f"/d{d}"] for d in dirs],
        size_bytes=[UNKNOWN if size is None else size for size in sizes],
    )

    placed = plan(state, LogDirs(empty), Settings(bands={Resource.DISK: 0.34}))

    assert int(placed.log_dirs.is_moved.sum()) == moved
    assert placed.solution.status in {Status.OPTIMAL, Status.FEASIBLE}


def test_what_a_cordoned_log_dir_holds_stays_and_nothing_comes():
    dirs = {
        0: [
            Dir("/d1", 1000),
            Dir("/d2", 1000, state=LogDirState.CORDONED),
            Dir("/d3", 1000),
        ]
    }
    state = make_state(
        [[0]] * 6, log_dirs=dirs, dirs=[["/d1"]] * 4 + [["/d2"]] * 2, size_bytes=10
    )

    after = plan(state, LogDirs()).reassignment.after()

    assert np.bincount(after.replicas.log_dir_idx).tolist() == [2, 2, 2]


def test_a_partition_with_a_replica_on_a_dead_broker_is_left_alone():
    state = make_state(
        [[0, 1]] * 2,
        states={1: BrokerState.DEAD},
        log_dirs=TWO,
        dirs=[["/d1", None]] * 2,
        size_bytes=10,
    )

    placed = plan(state, LogDirs((0,)))

    assert not placed.reassignment.is_changed.any()
    assert placed.solution.status == Status.PARTIAL
    assert any(note.what == "left-alone" for note in placed.notes)


def test_what_keeps_a_dead_replica_stays_in_its_log_dirs():
    # No copy may cross racks, so that broker 1 keeps what it holds of t-2: a file that
    # moved the other replica to another log dir would name a dead broker.
    log_dirs = {
        0: [Dir("/d1", 145, 130), Dir("/d2", 70, 70)],
        1: [Dir("/d1", 175, 150)],
        2: [Dir("/d1", 160, 140), Dir("/d2", 220, 220)],
    }
    state = make_state(
        [[0, 1], [1, 2], [1, 0]], racks="abc", states={1: BrokerState.DEAD},
        leaders=[0, 2, 0], size_bytes=[0, 10, 5], log_dirs=log_dirs,
        dirs=[["/d2", "/d1"], ["/d1", "/d1"], ["/d1", "/d1"]],
    )  # fmt: skip
    settings = Settings(names_log_dirs=True, max_cross_rack_bytes=0)

    found = plan(state, Rebalance(), settings).reassignment

    assert found.after().brokers_of(2) == [1, 0]
    assert not found.is_changed[2]


def test_caps_hold_for_all_brokers_together():
    state = make_state(
        [[0], [0], [0], [1], [1], [1]],
        log_dirs={b: [Dir("/d1", 1000), Dir("/d2", 1000)] for b in (0, 1)},
        dirs=[["/d1"]] * 6,
        size_bytes=10,
    )

    placed = plan(state, LogDirs((0, 2)), Settings(max_moves=4))

    assert int(placed.log_dirs.is_moved.sum()) <= 4
    assert placed.solution.status in {Status.PARTIAL, Status.INFEASIBLE}
    for shortfall in placed.solution.shortfalls:
        assert shortfall_text(placed, shortfall)


OPERATIONS = st.one_of(
    st.just(Rebalance()),
    st.builds(RemoveBrokers, st.just((1, 3, 5, 7, 9))),
    st.just(Fix()),
    st.builds(SetReplicationFactor, st.just({"t0": 3, "t1": 2})),
)


@settings(max_examples=60)
@given(clusters(), OPERATIONS, st.sampled_from([0.05, 0.3]))
def test_copies_get_a_log_dir_that_may_have_them(state, operation, band):
    options = Settings(bands={Resource.DISK: band}, names_log_dirs=True)

    placed = plan(state, operation, options)

    reassignment = placed.reassignment
    goes = reassignment.log_dir_idx
    named = goes != ABSENT
    owner = state.log_dirs.broker_idx
    assert (owner[goes[named]] == reassignment.broker_idx[named]).all()
    assert (state.log_dirs.state[goes[named]] == LogDirState.ONLINE).all()
    lost = {shortfall.item for shortfall in placed.solution.shortfalls}
    for row in np.nonzero(reassignment.is_copied & ~named)[0].tolist():
        broker = int(reassignment.broker_idx[row])
        assert row in lost or not (owner == broker).any()
    size = state.log_dirs.size_bytes
    dirs = placed.log_dirs
    over = (size != UNKNOWN) & (dirs.after > 0.8 * size * (1 + 1e-9))
    came = np.isin(np.arange(len(size)), goes[named])
    if placed.has_met_rules:
        assert (dirs.after <= dirs.before)[over & came].all()


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(SetReplicationFactor({"t": 2}), id="factor"),
        pytest.param(ReplaceBroker(((3, 2),)), id="replace"),
        pytest.param(Fix(), id="fix"),
    ],
)
def test_copies_lie_evenly_in_the_log_dirs_of_their_broker(operation):
    # Broker 2 has one log dir half full, and one with room for all that comes.
    dead = {3: BrokerState.DEAD} if isinstance(operation, Fix) else {}
    # What a dead broker held is fetched from broker 0.
    held = [[3, 0]] if dead else [[3]]
    is_raised = isinstance(operation, SetReplicationFactor)
    rows = [[0], [1], [0]] if is_raised else held * 3
    state = make_state(
        [*rows, [2]], racks="abcd", states=dead, size_bytes=[20, 20, 20, 60],
        log_dirs={b: [Dir("/d1", 200), Dir("/d2", 200)] for b in range(4)},
        dirs=[["/d1"] * len(row) for row in [*rows, [2]]],
    )  # fmt: skip
    options = Settings(
        names_log_dirs=True,
        destination_brokers=frozenset({2}),
        resources=(Resource.DISK,),
    )

    placed = plan(state, operation, options)

    reassignment = placed.reassignment
    rows = np.nonzero(reassignment.is_copied)[0]
    assert reassignment.partition_idx[rows].tolist()[:3] == [0, 1, 2]
    named = [state.log_dirs.paths[d] for d in reassignment.log_dir_idx[rows]]
    owners = state.log_dirs.broker_idx[reassignment.log_dir_idx[rows]]
    assert set(owners.tolist()) == {2}
    assert named == ["/d2"] * len(rows)
    # Of 120 bytes in two log dirs of one size each has half.
    assert placed.log_dirs.after[4:6].tolist() == [60, 60]


@settings(max_examples=40)
@given(clusters(), OPERATIONS)
def test_planning_twice_with_log_dirs_finds_nothing_more(state, operation):
    options = Settings(names_log_dirs=True)
    once = plan(state, operation, options)

    again = plan(once.reassignment.after(), operation, options)

    if once.has_met_rules:
        assert not again.reassignment.is_changed.any()
