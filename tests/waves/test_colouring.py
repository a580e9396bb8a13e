"""The least number of waves, and copies that start as soon as they can."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.waves import edge_colouring
from placement.waves.copy_timeline import schedule_bound, schedule_copies
from placement.waves.edge_colouring import (
    all_free,
    colour_copies,
    colour_shared_copies,
    least_waves,
    stable_order,
)
from placement.waves.kernels import bit_sets

GRAPHS = st.lists(
    st.tuples(st.integers(-1, 6), st.integers(0, 6)).filter(lambda e: e[0] != e[1]),
    max_size=60,
)
CAPS = st.integers(1, 4)


def columns(graph: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    edges = np.array(graph, dtype=np.int64).reshape(-1, 2)
    return edges[:, 0].copy(), edges[:, 1].copy()


def shared_bound(source, target, cap):
    """The waves that the busiest broker needs for copies in and out together."""
    return least_waves(np.concatenate([source[source >= 0], target]), cap)


@pytest.fixture(params=["lists", "compiled"])
def way(request, monkeypatch):
    """Both ways that kernels run give the same."""
    limit = 10**9 if request.param == "lists" else 1
    monkeypatch.setattr(edge_colouring, "COMPILED_FROM", limit)


def check_caps(source, target, wave, cap_out, cap_in):
    sent = Counter(
        (w, s) for w, s in zip(wave.tolist(), source.tolist(), strict=True) if s >= 0
    )
    received = Counter(zip(wave.tolist(), target.tolist(), strict=True))
    assert max(sent.values(), default=0) <= cap_out
    assert max(received.values(), default=0) <= cap_in


@given(GRAPHS, CAPS, CAPS)
def test_waves_are_as_few_as_the_busiest_broker_allows(graph, cap_out, cap_in):
    source, target = columns(graph)

    wave = colour_copies(source, target, cap_out, cap_in)

    check_caps(source, target, wave, cap_out, cap_in)
    bound = max(least_waves(source[source >= 0], cap_out), least_waves(target, cap_in))
    assert len(set(wave.tolist())) == bound


@pytest.mark.usefixtures("way")
def test_a_large_plan_is_cut_as_exactly():
    rng = np.random.default_rng(7)
    source = rng.integers(0, 40, 4000)
    target = (source + rng.integers(1, 40, 4000)) % 40

    wave = colour_copies(source, target, 3, 2)

    check_caps(source, target, wave, 3, 2)
    assert wave.max() + 1 == max(least_waves(source, 3), least_waves(target, 2))


def test_lists_and_machine_code_colour_alike(monkeypatch):
    rng = np.random.default_rng(8)
    source = rng.integers(0, 9, 300)
    target = (source + rng.integers(1, 9, 300)) % 9
    size = rng.integers(0, 1000, 300)

    def outcome() -> list:
        return [
            colour_copies(source, target, 2, 3).tolist(),
            colour_shared_copies(source, target, 3).tolist(),
            schedule_copies(source, target, size, (1, 1), 10.0)[0].tolist(),
        ]

    plain = outcome()
    monkeypatch.setattr(edge_colouring, "COMPILED_FROM", 1)

    assert outcome() == plain


@given(GRAPHS, CAPS)
def test_a_shared_cap_counts_both_directions(graph, cap):
    source, target = columns(graph)

    wave = colour_shared_copies(source, target, cap)

    both = Counter(
        (w, node)
        for w, s, t in zip(wave.tolist(), source.tolist(), target.tolist(), strict=True)
        for node in (s, t)
        if node >= 0
    )
    assert max(both.values(), default=0) <= cap
    bound = shared_bound(source, target, cap)
    used = len(set(wave.tolist()))
    # Half as many again may be needed (Shannon), where one copy runs at a time.
    assert bound <= used <= max(bound + 1, int(1.5 * bound))


@pytest.mark.parametrize("shared", [True, False])
def test_a_copy_runs_after_the_one_before_it_where_that_costs_no_wave(shared: bool):
    # Three copies between two others need two waves anyway.
    source, target = columns([(3, 4), (3, 4), (3, 4), (0, 1), (0, 2)])
    previous = np.array([-1, -1, -1, -1, 3])

    wave = (
        colour_shared_copies(source, target, 2, previous)
        if shared
        else colour_copies(source, target, 2, 2, previous)
    )

    assert wave[3:].tolist() == [0, 1]
    assert wave.max() == 1


@pytest.mark.parametrize("cap", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_a_shared_cap_comes_within_an_eighth(cap: int, seed: int):
    rng = np.random.default_rng(seed)
    source = rng.integers(0, 30, 1500)
    target = (source + rng.integers(1, 30, 1500)) % 30

    wave = colour_shared_copies(source, target, cap)

    assert wave.max() + 1 <= 1.12 * shared_bound(source, target, cap)


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 50)).filter(
            lambda copy: copy[0] != copy[1]
        ),
        max_size=25,
    ),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_copies_start_when_both_ends_are_free(copies, cap_out, cap_in):
    edges = np.array(copies, dtype=np.int64).reshape(-1, 3)
    source, target, size = (edges[:, k].copy() for k in range(3))
    caps = (cap_out, cap_in)

    began, end = schedule_copies(source, target, size, caps, 10.0)

    duration = size / (10.0 / max(caps))
    assert end == pytest.approx((began + duration).max(initial=0.0))
    assert (began >= 0).all()
    bound = schedule_bound(source, target, size, caps, 10.0)
    assert end >= bound - 1e-9
    # While a copy waits, one of its ends is busy: Graham's argument.
    assert end <= waiting_bound(source, target, duration, caps) + 1e-9
    for time in began.tolist():
        runs = (began <= time) & (time < began + duration)
        assert np.bincount(source[runs], minlength=1).max() <= cap_out
        assert np.bincount(target[runs], minlength=1).max() <= cap_in


def waiting_bound(source, target, duration, caps) -> float:
    """Return when the last copy ends at most, if no copy waits for nothing."""
    if not len(source):
        return 0.0
    sent = np.bincount(source, weights=duration)
    received = np.bincount(target, weights=duration)
    return max(
        sent[s] / caps[0] + received[t] / caps[1] + d
        for s, t, d in zip(source, target, duration, strict=True)
    )


@pytest.mark.parametrize(("brokers", "copies"), [(12, 300), (100, 5000)])
@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_one_copy_at_a_time_ends_within_two_percent(brokers, copies, spread):
    rng = np.random.default_rng(3)
    source = rng.integers(0, brokers, copies)
    target = (source + rng.integers(1, brokers, copies)) % brokers
    size = rng.lognormal(22, spread, copies).astype(np.int64)

    _, end = schedule_copies(source, target, size, (1, 1), 5e7)

    assert end <= 1.02 * schedule_bound(source, target, size, (1, 1), 5e7)


@pytest.mark.parametrize("caps", [(0, 1), (1, 0)])
def test_a_cap_of_nothing_is_refused(caps):
    one = np.array([0])
    with pytest.raises(ValueError, match="at least 1"):
        colour_copies(one, one + 1, *caps)
    with pytest.raises(ValueError, match="at least 1"):
        colour_shared_copies(one, one + 1, 0)


@given(
    st.lists(st.booleans(), min_size=1, max_size=200),
    st.lists(st.booleans(), min_size=200, max_size=200),
    st.integers(0, 199),
)
def test_the_next_colour_free_at_both_ends_is_found(first, second, least):
    num = len(first)
    words = -(-num // bit_sets.BITS)
    free = all_free(2, num).tolist()
    for c in range(num):
        if not first[c]:
            bit_sets.take(free, words, 0, c)
        if not second[c]:
            bit_sets.take(free, words, 1, c)
            bit_sets.give(free, words, 1, c)
            bit_sets.take(free, words, 1, c)
    wanted = [c for c in range(num) if first[c] and second[c] and c >= least]

    found = bit_sets.next_common(free, free, words, 0, 1, least)

    assert found == (wanted[0] if wanted else bit_sets.NONE)


@given(
    st.lists(
        st.one_of(st.integers(0, 9), st.integers(0, 2**16 + 5), st.integers(0, 2**40))
    )
)
def test_numbers_are_sorted_and_equal_ones_keep_their_order(values: list[int]):
    found = stable_order(np.array(values, dtype=np.int64)).tolist()

    assert found == sorted(range(len(values)), key=values.__getitem__)
