"""What is written to disks while waves run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.check.waves.throttle_lists import WaveProperties
from placement.check.waves.wave_checker import check_waves
from placement.check.waves.wave_limits import WaveLimits
from placement.model.cluster import UNKNOWN, Storage
from placement.model.load import Resource
from placement.model.reassignment import Reassignment
from placement.waves.edge_colouring import COMPILED_FROM
from placement.waves.wave_cut import Cut
from placement.waves.wave_settings import WaveSettings
from support.clusters import make_state
from waves.reassignments import cut_up, judge, reassignment_to, reassignments

DRAWN = reassignments(most_dead=1, resizes=True, has_dirs=True, has_rates=True)


def settings_for(bandwidth: float, cap: int = 5) -> WaveSettings:
    return WaveSettings(
        max_in=cap,
        max_out=cap,
        bandwidth_bytes_per_s=bandwidth,
        thresholds={Resource.DISK: 0.8},
    )


@given(DRAWN, st.integers(1, 600), st.sampled_from([1.0, 30.0, 400.0]))
def test_no_disk_fills_up_while_a_wave_runs(
    change: Reassignment, disk: int, bandwidth: float
):
    before = change.before
    state = before.with_brokers(disk_bytes=np.full(before.num_brokers, disk))
    tight = Reassignment(
        before=state,
        broker_idx=change.broker_idx,
        origin=change.origin,
        target_start=change.target_start,
    )

    found = cut_up(tight, settings_for(bandwidth))

    findings = judge(found)
    assert {finding.rule for finding in findings} <= {"wave-end"}
    if found.stuck is None:
        assert findings == ()
    else:
        assert found.stuck.short_bytes > 0


def two_come_to_a_disk(rate: float, storage: Storage = Storage.LOCAL) -> Cut:
    """Two copies of 100 bytes at 10 bytes/s come to an empty disk, two more leave."""
    state = make_state(
        {"s": [[2], [2], [0], [1]]},
        racks="abc",
        size_bytes=[200, 200, 100, 100],
        in_rate=[0.0, 0.0, rate, rate],
        disk_bytes=1000,
        storage=storage,
    )
    # Broker 2 has 400, may have 800, and ends with 200.
    return cut_up(
        reassignment_to(state, [[0], [1], [2], [2]]), settings_for(10.0, cap=2)
    )


@pytest.mark.parametrize(
    ("rate", "waves"),
    [
        # Broker 2 sends for 40 s; two replicas may take the 200 bytes it has left.
        pytest.param(2.4, 1, id="fits-together"),
        pytest.param(2.6, 2, id="one-by-one"),
        pytest.param(0.0, 1, id="nothing-written"),
    ],
)
def test_what_is_written_meanwhile_needs_room_too(rate, waves):
    found = two_come_to_a_disk(rate)

    assert found.num_waves == waves
    assert found.is_limited_by_disk is (waves > 1)
    assert found.stuck is None
    assert judge(found) == ()


def test_what_is_on_shared_storage_fills_no_disk():
    assert two_come_to_a_disk(1e6, storage=Storage.SHARED).num_waves == 1


def test_a_disk_that_fills_up_before_one_copy_is_done_is_named():
    state = make_state(
        [[0]], racks="ab", size_bytes=100, in_rate=100.0, disk_bytes=1000
    )

    found = cut_up(reassignment_to(state, [[1]]), settings_for(10.0))

    # 100 bytes take 10 s, and 1,000 are written meanwhile to a disk with 900 left.
    assert found.stuck is not None
    assert found.stuck.short_bytes == 100
    assert {one.rule for one in judge(found)} == {"wave-end"}


@pytest.mark.parametrize("rate", [1.0, 10.0])
def test_nothing_is_put_aside_where_that_fills_up(rate):
    # Two swap places, and neither has room first; only broker 2 has, 140 bytes more.
    state = make_state(
        [[3, 0], [3, 1]],
        racks="aaaa",
        size_bytes=500,
        in_rate=rate,
        disk_bytes=[800, 800, 800, 10**6],
    )

    found = cut_up(reassignment_to(state, [[3, 1], [3, 0]]), settings_for(10.0))

    # A copy takes 50 s: 50 bytes are written to it meanwhile, or 500.
    if rate == 1.0:
        assert [hop.via_idx for hop in found.hops] == [2]
        assert found.stuck is None
        assert judge(found) == ()
    else:
        assert found.hops == ()
        assert found.stuck is not None
        assert found.stuck.brokers in {(0, 1), (1, 0)}


def test_an_unknown_disk_never_fills_up():
    # What is written for years goes beyond the disk of broker 2, and any integer.
    state = make_state(
        [[0], [2]],
        racks="abc",
        size_bytes=[0, 10**10],
        in_rate=1e12,
        disk_bytes=[10**15, UNKNOWN, 10**15],
    )

    found = cut_up(reassignment_to(state, [[1], [1]]), settings_for(1.0))

    assert found.stuck is None
    assert not found.is_limited_by_disk
    assert judge(found) == ()


@pytest.mark.slow
def test_many_copies_are_packed_as_few_are():
    # Compiled from some number of copies on: each of the same small clusters alone.
    lists, sizes, target = [], [], []
    for n in range(0, 3 * COMPILED_FROM, 3):
        lists += [[n + 2], [n + 2], [n], [n + 1]]
        sizes += [200, 200, 100, 100]
        target += [[n], [n + 1], [n + 2], [n + 2]]
    rates = [0.0, 0.0, 2.6, 2.6] * COMPILED_FROM
    racks = "abc" * COMPILED_FROM
    # Topics that Kafka can throttle by a list.
    topics = {f"t{n:06}": lists[n : n + 1000] for n in range(0, len(lists), 1000)}
    state = make_state(
        topics, racks=racks, size_bytes=sizes, in_rate=rates, disk_bytes=1000
    )

    found = cut_up(reassignment_to(state, target), settings_for(10.0, cap=2))

    assert found.is_limited_by_disk
    assert found.num_waves == 2
    assert found.stuck is None
    assert judge(found) == ()


def test_the_checker_finds_a_disk_that_fills_up():
    state = make_state(
        [[0]], racks="ab", size_bytes=100, in_rate=100.0, disk_bytes=1000
    )
    lists = {("t", 0): [1]}
    limits = WaveLimits(max_in=5, max_out=5)

    slow, fast = (
        check_waves(
            state, [lists], lists, limits, None, [WaveProperties(bytes_per_s=rate)]
        )
        for rate in (10.0, 100.0)
    )

    assert [one.rule for one in slow] == ["wave-disk"]
    assert "written meanwhile" in slow[0].message
    assert fast == ()


def test_a_broker_no_fuller_than_the_plan_has_it_may_pass_its_threshold():
    # It ends at 790 of 800: 50 are written meanwhile, which any wave would see.
    state = make_state(
        [[0], [1]],
        racks="ab",
        size_bytes=[90, 700],
        in_rate=[0.0, 50 / 9],
        disk_bytes=1000,
    )

    found = cut_up(reassignment_to(state, [[1], [1]]), settings_for(10.0))

    assert found.num_waves == 1
    assert not found.is_limited_by_disk
    assert judge(found) == ()
