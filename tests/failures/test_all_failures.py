"""Every failure and every pair at once, against losing them one after the other."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failures.clusters import Case, cases
from placement.failures.controller_decision import is_usable
from placement.failures.controller_events import Loss, lose
from placement.failures.failover import CARRIED_COLUMNS, ON_RETURN
from placement.failures.failure_domains import DomainKind, Domains, domains_of
from placement.failures.failure_outlook import Outlook, outlook
from placement.failures.failure_table import Failures
from placement.failures.pair_failures import pair_failures
from placement.failures.partition_damage import KINDS
from placement.failures.partition_health import health_of
from placement.failures.rebuilt_use import is_rebuilt, levels_after
from placement.failures.single_failures import single_failures
from placement.model.cluster import ABSENT, BrokerState, ClusterState
from placement.model.load import Resource
from support.clusters import Dir, make_state

MASKS = {
    "offline": "is_offline",
    "gone": "is_gone",
    "under_min_isr": "is_under_min_isr",
    "at_min_isr": "is_at_min_isr",
    "under_replicated": "is_under_replicated",
}
THRESHOLDS = {Resource.OUT: 0.8, Resource.CPU: 0.7, Resource.DISK: 0.8}


def loss_with(state: ClusterState, domains: Domains, chosen: list[int]) -> Loss:
    """Return the loss of some domains as brokers and log dirs."""
    rows = [int(domains.row[d]) for d in chosen]
    if domains.kind is DomainKind.LOG_DIR:
        whole = np.isin(domains.of_broker, chosen)
        owners = domains.part_of[chosen].tolist()
        if len(owners) == 2 and owners[0] == owners[1] != ABSENT:
            # Kafka stops without a log dir: these brokers have two.
            whole[owners[0]] = domains.part_of.tolist().count(owners[0]) == 2
        return Loss(
            broker_idx=np.nonzero(whole)[0].astype(np.int32),
            log_dir_idx=np.array(rows, dtype=np.int32),
        )
    of = np.arange(state.num_brokers)
    if domains.kind is DomainKind.RACK:
        of = state.brokers.rack_idx
    brokers = np.nonzero(np.isin(of, rows) & state.brokers.is_live)[0]
    return Loss(broker_idx=brokers.astype(np.int32), log_dir_idx=np.zeros(0, np.int32))


def expected_damage(state: ClusterState, after: ClusterState) -> dict[str, int]:
    before, now = health_of(state), health_of(after)
    return {
        name: int((getattr(now, mask) & ~getattr(before, mask)).sum())
        for name, mask in MASKS.items()
    }


def check_row(given: Outlook, case: Case, found: Failures, row: int) -> None:
    """Hold one row against the cluster that is left."""
    state, domains = case.state, found.domains
    chosen = [int(found.first[row]), int(found.second[row])]
    chosen = [d for d in chosen if d != ABSENT]
    after = lose(state, loss_with(state, domains, chosen), case.rules)

    assert {name: int(found.damage[name][row]) for name in KINDS} == expected_damage(
        state, after
    )
    leads, led = after.partitions.leader_idx, state.partitions.leader_idx
    moved = (leads != ABSENT) & (led != ABSENT) & (leads != led)
    assert found.leaders_moved[row] == moved.sum()
    check_peaks(given, found, row, after)
    check_rebuilt(given, found, row, (state, after))
    levels = pytest.approx(found.levels[row], nan_ok=True)
    assert levels_after(given, after) == levels


def check_peaks(given: Outlook, found: Failures, row: int, after: ClusterState) -> None:
    left = np.nonzero(after.brokers.is_live)[0].tolist()
    before = naive_loads(given.state), naive_loads(after)
    over: list[set[int]] = [set(), set()]
    for y, r in enumerate(CARRIED_COLUMNS):
        then, now = (load[y] / given.scale.unit[:, r] for load in before)
        if not left:
            assert found.peaks.broker_idx[row, y] == ABSENT
            continue
        value = found.peaks.value[row, y]
        assert value == pytest.approx(now[left].max())
        assert now[found.peaks.broker_idx[row, y]] == pytest.approx(value)
        pushed = {b for b in left if now[b] > then[b] and now[b] > given.scale.most[r]}
        over[0] |= pushed if y != ON_RETURN else set()
        over[1] |= pushed if y != 0 else set()
    assert found.peaks.num_over[row] == len(over[0])
    assert found.peaks.num_over_on_return[row] == len(over[1])


def naive_loads(state: ClusterState) -> np.ndarray:
    """
    Return out, CPU, leaders, and out with all followers, of each broker.

    Summed one partition after the other from what is in front of it, in the units of
    the planner's integers.
    """
    loads = np.zeros((len(CARRIED_COLUMNS), state.num_brokers))
    partitions, replicas = state.partitions, state.replicas
    for p in range(state.num_partitions):
        rows = range(*replicas.start[p : p + 2].tolist())
        online = [row for row in rows if not state.is_offline[row]]
        counted = [row for row in rows if not replicas.is_adding[row]]
        for row in online:
            loads[1, replicas.broker_idx[row]] += partitions.follower_cpu_cores[p] * (
                len(counted) > 1
            )
        leader = partitions.leader_idx[p]
        leads = [row for row in online if replicas.broker_idx[row] == leader]
        reads, writes = partitions.out_bytes_per_s[p], partitions.in_bytes_per_s[p]
        if leader != ABSENT:
            loads[3, leader] += reads + (len(counted) - 1) * writes
        if leads:
            # A leader that is still being added is not among those counted.
            live = min(len([row for row in counted if row in online]), len(counted))
            loads[0, leader] += reads + max(live - 1, 0) * writes
            follower = partitions.follower_cpu_cores[p] * (len(counted) > 1)
            loads[1, leader] += partitions.leader_cpu_cores[p] - follower
            loads[2, leader] += 1
    return loads * np.array([[1000], [10**9], [1], [1000]])


def check_rebuilt(
    given: Outlook,
    found: Failures,
    row: int,
    states: tuple[ClusterState, ClusterState],
) -> None:
    before, after = states
    live = set(np.nonzero(after.brokers.is_live)[0].tolist())
    size, rebuilt, unplaced = given.weights.copy_bytes, 0, 0
    for p in range(after.num_partitions):
        rows = range(*before.replicas.start[p : p + 2].tolist())
        kept = [r for r in rows if is_usable(after)[r]]
        lost = [r for r in rows if is_usable(before)[r] and r not in kept]
        free = live - {int(before.replicas.broker_idx[r]) for r in kept}
        if has_source(after, p):
            rebuilt += size[p] * min(len(lost), len(free))
            unplaced += max(len(lost) - len(free), 0)
    assert found.rebuilt_bytes[row] == rebuilt
    assert found.unplaced[row] == unplaced
    size = size[before.replicas.partition_idx[is_rebuilt(before, after)]]
    assert size.sum() == rebuilt


def has_source(state: ClusterState, p: int) -> bool:
    """Tell whether some replica has every committed record and can be read."""
    rows = np.arange(*state.replicas.start[p : p + 2])
    rows = rows[~state.is_offline[rows]]
    isr, elr = state.replicas.is_in_sync[rows], state.replicas.is_eligible[rows]
    return bool(isr.any() or elr.any())


@pytest.mark.parametrize("kind", DomainKind)
@given(case=cases(is_settled=True), has_capacities=st.booleans())
def test_every_single_failure_is_what_losing_it_does(
    kind: DomainKind, case: Case, has_capacities: bool
):
    case, given = weighed(case, has_capacities)

    found = single_failures(given, kind)

    assert len(found) == found.num_possible == len(found.domains)
    for row in range(len(found)):
        check_row(given, case, found, row)


@pytest.mark.parametrize("kind", DomainKind)
@given(case=cases(is_settled=True), has_capacities=st.booleans())
def test_every_pair_of_failures_is_what_losing_both_does(
    kind: DomainKind, case: Case, has_capacities: bool
):
    case, given = weighed(case, has_capacities)

    found = pair_failures(given, kind)

    count = len(found.domains)
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert pairs == list(combinations(range(count), 2))
    for row in range(len(pairs)):
        check_row(given, case, found, row)


def weighed(case: Case, has_capacities: bool) -> tuple[Case, Outlook]:
    state = case.state
    if has_capacities:
        count = state.num_brokers
        state = state.with_brokers(
            disk_bytes=np.full(count, 200),
            out_bytes_per_s=np.full(count, 200.0),
            cpu_cores=np.full(count, 10.0),
        )
    return replace(case, state=state), outlook(state, thresholds=THRESHOLDS)


@given(cases(is_settled=True), st.integers(0, 9))
def test_drawn_pairs_are_rows_of_all_pairs(case: Case, seed: int):
    given = outlook(case.state)
    every = pair_failures(given, DomainKind.BROKER)
    sample = max(len(every) // 2, 1) if len(every) else 0

    drawn = pair_failures(
        given, DomainKind.BROKER, most_domains=0, sample=sample, seed=seed
    )

    assert drawn.num_possible == len(every)
    pairs = list(zip(every.first.tolist(), every.second.tolist(), strict=True))
    rows = [
        pairs.index(pair)
        for pair in zip(drawn.first.tolist(), drawn.second.tolist(), strict=True)
    ]
    assert len(set(rows)) == len(rows) == sample
    for name in KINDS:
        assert drawn.damage[name].tolist() == every.damage[name][rows].tolist()
    assert drawn.peaks.value.tolist() == every.peaks.value[rows].tolist()
    assert drawn.rebuilt_bytes.tolist() == every.rebuilt_bytes[rows].tolist()


def test_pairs_of_more_than_2000_brokers_are_drawn():
    given = outlook(make_state([[0, 1], [1, 2]], ids=range(2001)))

    found = pair_failures(given, DomainKind.BROKER, sample=10)

    assert found.num_possible == 2001 * 2000 // 2
    assert len(found) == 10


def test_domains_are_what_serves():
    state = make_state(
        [[0, 1], [2, 3]],
        racks="aab-",
        states={1: BrokerState.FENCED},
        log_dirs={0: [Dir("/d1"), Dir("/d2")], 2: [Dir("/d1")]},
        dirs=[["/d2", None], [None, None]],
    )

    def names(kind: DomainKind) -> list[str]:
        found = domains_of(state, kind)
        return [found.name(state, d) for d in range(len(found))]

    assert names(DomainKind.BROKER) == ["0", "2", "3"]
    assert names(DomainKind.RACK) == ["a", "b"]
    assert names(DomainKind.LOG_DIR) == ["0:/d1", "0:/d2", "2:/d1"]
    dirs = domains_of(state, DomainKind.LOG_DIR)
    # Broker 2 has one log dir: what it holds lies there, and it stops without it.
    assert dirs.of_replica.tolist() == [1, ABSENT, 2, ABSENT]
    assert dirs.of_broker.tolist() == [ABSENT, ABSENT, 2, ABSENT]


@pytest.mark.parametrize("has_pairs", [False, True], ids=["one", "two"])
@given(case=cases(is_settled=True))
def test_a_broker_is_lost_with_its_last_log_dirs(case: Case, has_pairs: bool):
    given = outlook(case.state)
    try_all = pair_failures if has_pairs else single_failures
    found = try_all(given, DomainKind.LOG_DIR)

    for row in range(len(found)):
        lost = [d for d in (found.first[row], found.second[row]) if d != ABSENT]
        rows = found.domains.row[lost]
        alone = Loss(broker_idx=np.zeros(0, np.int32), log_dir_idx=rows)

        stopped = alone.with_stopped(case.state).broker_idx.tolist()

        expected = loss_with(case.state, found.domains, [int(d) for d in lost])
        assert stopped == expected.broker_idx.tolist()


def test_the_worst_failures_come_first():
    state = make_state([[0, 1], [1, 0], [2]], min_isr=1)

    found = single_failures(outlook(state), DomainKind.BROKER)

    assert found.damage["offline"].tolist() == [0, 0, 1]
    assert found.ranked().tolist()[0] == 2
    assert found.is_survived.tolist() == [True, True, False]


def test_rebuilding_takes_as_long_as_its_busiest_sender():
    lists = [[0, 1], [0, 1], [0, 2]]
    state = make_state(lists, size_bytes=[100, 200, 50], leaders=[1, 1, 2])

    found = single_failures(outlook(state, bandwidth_bytes_per_s=10), DomainKind.BROKER)

    # Broker 1 sends 300 of the 350 bytes that were on broker 0; two can receive them.
    assert found.rebuilt_bytes.tolist() == [350, 300, 50]
    assert found.rebuild_s.tolist() == [30.0, 30.0, 5.0]


def test_pairs_are_rebuilt_at_least_as_long_as_all_the_others_receive():
    state = make_state([[0, 1, 2], [0, 3, 2]], size_bytes=[100, 200])

    found = pair_failures(outlook(state, bandwidth_bytes_per_s=10), DomainKind.BROKER)

    # Two of four are left: one replica is rebuilt of a partition that kept only one.
    assert found.rebuilt_bytes.tolist() == [100, 300, 200, 100, 0, 200]
    assert found.unplaced.tolist() == [2, 2, 2, 2, 2, 2]
    assert found.rebuild_s.tolist() == [5.0, 15.0, 10.0, 5.0, 0.0, 10.0]


@pytest.mark.parametrize("kind", [DomainKind.BROKER, DomainKind.RACK])
def test_three_replicas_on_three_brokers_are_not_rebuilt_on_two(kind: DomainKind):
    state = make_state(
        [[0, 1, 2]] * 2, racks="abc", size_bytes=[100, 200], disk_bytes=[500] * 3
    )

    found = single_failures(outlook(state, thresholds=THRESHOLDS), kind)

    assert found.unplaced.tolist() == [2, 2, 2]
    assert found.rebuilt_bytes.tolist() == [0, 0, 0]
    assert found.rebuild_s.tolist() == [0.0, 0.0, 0.0]
    assert found.levels[:, 0].tolist() == [0.6, 0.6, 0.6]
    assert not found.is_overfull.any()


def test_an_unreadable_bandwidth_is_refused():
    with pytest.raises(ValueError, match="bandwidth must be positive"):
        outlook(make_state([[0]]), bandwidth_bytes_per_s=0)
