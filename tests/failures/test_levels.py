"""How full survivors are at least when what was lost is rebuilt."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.failures.failover import ON_RETURN
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_outlook import outlook
from placement.failures.single_failures import single_failures
from placement.failures.survivor_loads import Pools, even_levels
from placement.model.load import Resource
from support.clusters import make_state

RACKS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 40)), min_size=1, max_size=4
)


@given(RACKS, st.integers(1, 4), st.integers(0, 60), st.integers(0, 500))
def test_the_level_is_where_racks_hold_everything(
    racks: list[tuple[int, int]], factor: int, weight: int, total: int
):
    brokers = np.array([[count for count, _ in racks]])
    capacity = np.array([[float(count * each) for count, each in racks]])
    pools = Pools(
        of_broker=np.zeros(0, dtype=np.int32),
        num=len(racks),
        factors=np.array([factor]),
        weight=np.array([[float(weight), 0.0]]),
        fixed=np.zeros(len(racks)),
    )
    most = [weight * min(kappa(brokers[0], factor), n) for n in brokers[0]]
    total = min(total, sum(most))

    level = even_levels(pools, brokers, capacity, np.array([float(total)]), 0)[0]

    if not brokers.any():
        assert np.isnan(level)
        return
    held = sum(min(level * c, m) for c, m in zip(capacity[0], most, strict=True) if c)
    assert held == pytest.approx(total, abs=1e-6)


def kappa(brokers: np.ndarray, factor: int) -> int:
    """Return the least number per rack that makes room for every replica."""
    for most in range(1, factor + 1):
        if np.minimum(most, brokers).sum() >= factor:
            return most
    return max(int(brokers.max()), 1)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.lists(st.integers(5, 20), min_size=4, max_size=4),
)
def test_no_rebuilding_leaves_everybody_below_the_level(
    sizes: list[int], capacities: list[int]
):
    lists = [[p % 2, 2 + p % 2] for p in range(len(sizes))]
    state = make_state(
        lists, racks="aabb", size_bytes=sizes, disk_bytes=[10 * c for c in capacities]
    )

    found = single_failures(outlook(state), DomainKind.BROKER)

    for broker in range(4):
        lost = [p for p, row in enumerate(lists) if broker in row]
        best = min(
            fullest(state, lists, broker, dict(zip(lost, places, strict=True)))
            for places in product(range(4), repeat=len(lost))
        )
        level = found.levels[broker, 0]
        assert level <= best * (1 + 1e-9)


def fullest(state, lists, broker: int, place: dict[int, int]) -> float:
    """Return the fullest disk with the lost replicas put there, infinite if illegal."""
    used = np.zeros(4)
    for p, row in enumerate(lists):
        kept = [b for b in row if b != broker]
        now = [*kept, place[p]] if p in place else kept
        if broker in now or len(set(now)) < 2 or len({b // 2 for b in now}) < 2:
            return np.inf
        used[now] += state.partitions.size_bytes[p]
    return float((used / state.brokers.disk_bytes).max())


def test_what_is_full_already_is_no_fault_of_the_failure():
    state = make_state(
        [[0, 1], [2]],
        size_bytes=[10, 95],
        disk_bytes=[100, 100, 100, 100],
        ids=range(4),
    )

    found = single_failures(
        outlook(state, thresholds={Resource.DISK: 0.8}), DomainKind.BROKER
    )

    assert found.levels[0, 0] == pytest.approx(0.95)
    assert found.even_levels[0, 0] < 0.8
    assert not found.is_overfull[0]


def test_without_capacities_loads_are_absolute():
    state = make_state([[0, 1], [1, 0]], in_rate=[100.0, 10.0], out_rate=[0.0, 0.0])

    found = single_failures(outlook(state), DomainKind.BROKER)

    assert not found.scale.is_use.any()
    # Nobody is left to fetch; both fetch from the survivor again on return.
    assert found.peaks.value[:, 0].tolist() == [0.0, 0.0]
    assert found.peaks.value[:, ON_RETURN].tolist() == [110.0, 110.0]
    assert found.is_survived.tolist() == [True, True]
