"""How fast copies may pass beside what networks carry anyway."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.model.load import Resource
from placement.model.reassignment import Reassignment
from placement.waves.wave_settings import WaveSettings
from support.clusters import make_state
from waves.reassignments import cut_up, judge, reassignment_to, reassignments


def settings_for(bandwidth: float, threshold: float = 0.8) -> WaveSettings:
    thresholds = dict.fromkeys((Resource.DISK, Resource.IN, Resource.OUT), threshold)
    return WaveSettings(
        max_in=2, max_out=2, bandwidth_bytes_per_s=bandwidth, thresholds=thresholds
    )


DRAWN = reassignments(most_dead=1, resizes=True, has_rates=True)


@given(DRAWN, st.sampled_from([1.0, 30.0, 400.0]))
def test_no_wave_overloads_a_network(change: Reassignment, bandwidth: float):
    found = cut_up(change, settings_for(bandwidth))

    assert judge(found) == ()
    assert np.all(found.paces.bytes_per_s <= bandwidth)
    is_slowed = found.paces.slowed_by >= 0
    assert np.array_equal(is_slowed, found.paces.bytes_per_s < bandwidth)


@given(DRAWN)
def test_a_wave_that_is_slowed_could_go_no_faster(change: Reassignment):
    found = cut_up(change, settings_for(400.0))

    faster = judge(found, faster=1.01)

    named = {one.message.split(":")[0] for one in faster if one.rule == "wave-network"}
    slowed = np.nonzero(found.paces.slowed_by >= 0)[0] + 1
    assert {f"wave {number}" for number in slowed} == named


def test_what_moves_first_makes_room_for_what_follows():
    # Broker 1 gets two copies, one a wave; the first one's rate in counts in the next.
    state = make_state(
        [[0], [0]],
        racks="ab",
        size_bytes=100,
        in_rate=[10.0, 10.0],
        out_rate=0.0,
        broker_in=100.0,
        broker_out=1000.0,
    )
    settings = WaveSettings(
        max_in=1,
        bandwidth_bytes_per_s=90,
        thresholds={Resource.IN: 0.8, Resource.OUT: 0.8},
    )

    found = cut_up(reassignment_to(state, [[1], [1]]), settings)

    assert found.paces.bytes_per_s.tolist() == [70, 60]
    assert found.paces.seconds == pytest.approx([100 / 70, 100 / 60])
    assert found.paces.slowed_by.tolist() == [1, 1]
    assert found.paces.load_bytes_per_s.tolist() == [10, 20]
    assert not found.paces.is_out.any()


def test_a_broker_with_nothing_left_is_still_relieved():
    state = make_state(
        [[0], [0]],
        racks="ab",
        size_bytes=100,
        in_rate=1.0,
        out_rate=[500.0, 499.0],
        broker_in=1000.0,
        broker_out=1000.0,
    )

    found = cut_up(reassignment_to(state, [[1], [0]]), settings_for(50.0))

    assert found.paces.bytes_per_s.tolist() == [10]
    assert found.paces.is_out.tolist() == [True]
    assert judge(found) == ()


def test_where_no_capacity_is_known_waves_copy_at_the_bandwidth():
    state = make_state([[0]], racks="ab", size_bytes=100, in_rate=1e9, out_rate=1e9)

    found = cut_up(reassignment_to(state, [[1]]), settings_for(50.0))

    assert found.paces.bytes_per_s.tolist() == [50]
    assert found.paces.seconds.tolist() == [2]
