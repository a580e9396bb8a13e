"""Inputs that are heavy or uneven in one way: in band, or the plan says why not."""

import numpy as np
import pytest

from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.load import Resource
from placement.operations.add_brokers import AddBrokers
from placement.operations.rebalance import Rebalance
from support.clusters import make_state
from support.operations import lists_after, plan_checked
from support.profile import sampled

QUICK = Settings(effort="quick")


@pytest.mark.slow
@pytest.mark.parametrize("has_rates", sampled([False, True]))
def test_capacities_a_hundred_times_apart_are_never_out_of_band_silently(has_rates):
    rng = np.random.default_rng(1)
    size = (1e6 * np.exp(rng.normal(0, 0.7, 200))).astype(int)
    disk = 1e8 * 100 ** (np.arange(12) / 11)
    state = make_state(
        [rng.choice(12, 2, replace=False).tolist() for _ in size],
        racks="abc" * 4,
        size_bytes=size.tolist(),
        disk_bytes=disk.astype(int).tolist(),
        in_rate=(size / 10).tolist() if has_rates else np.nan,
    )

    found = plan_checked(state, Rebalance())

    deviation = found.solution.certificate.deviation
    # What is out of band has to be, all but a twentieth of it.
    assert deviation.value <= 1.05 * deviation.lower_bound
    as_it_was = plan_checked(state, Rebalance(), Settings(max_moves=0))
    assert deviation.value < as_it_was.solution.certificate.deviation.value


@pytest.mark.slow
def test_a_rack_that_is_almost_full_gets_nothing_more():
    # Two of three racks share what there is; brokers of c are at 78 of 80 %.
    state = make_state(
        [[0, 4], [1, 5], [0, 4], [1, 5], [0, 4]] * 4,
        racks="aabbcc",
        size_bytes=10,
        disk_bytes=[2000, 2000, 51, 2000, 154, 103],
    )
    full = [2, 4, 5]

    found = plan_checked(state, Rebalance(), Settings(effort="normal"))

    lists = lists_after(found)
    used = np.bincount(np.concatenate(lists), minlength=6) * 10
    assert all(used[b] <= 0.8 * state.brokers.disk_bytes[b] for b in full)
    assert found.has_met_rules


def test_topics_of_512_partitions_are_spread_over_few_brokers():
    lists = [[b % 6, (b + 1) % 6, (b + 2) % 6] for b in range(512)]
    state = make_state(
        dict.fromkeys("abc", lists), ids=range(9), racks="abc" * 3, size_bytes=10
    )

    found = plan_checked(state, AddBrokers((6, 7, 8)))

    assert found.solution.status == Status.OPTIMAL
    assert found.solution.certificate.deviation.value == 0
    held = np.array(lists_after(found)).reshape(3, -1)
    each = np.array([np.bincount(one, minlength=9) for one in held])
    # A ninth of the 1,536 copies of each topic, rounded up, and two more.
    assert each[:, 6:].max() <= 171 + 2


@pytest.mark.slow
def test_a_hundred_thousand_topics_of_one_partition_are_planned():
    first = np.random.default_rng(2).integers(0, 9, 100_000).tolist()
    lists = {f"t{i:06}": [[a, (a + 1 + i % 8) % 9]] for i, a in enumerate(first)}
    state = make_state(lists, ids=range(12), racks="abc" * 4, size_bytes=1000)

    found = plan_checked(state, Rebalance(), QUICK)

    assert found.solution.status == Status.OPTIMAL
    assert found.solution.certificate.deviation.value == 0
    held = np.bincount(np.concatenate(lists_after(found)), minlength=12)
    assert held.max() <= 1.1 * 200_000 / 12
    assert Resource.REPLICAS in found.balanced
