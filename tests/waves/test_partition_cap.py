"""New replicas of a partition that one wave brings: one after the other."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check.waves.wave_checker import check_waves
from placement.check.waves.wave_limits import WaveLimits
from placement.model.load import Resource
from placement.model.reassignment import Reassignment
from placement.waves.edge_colouring import colour_copies, least_waves
from placement.waves.wave_cut import Cut
from placement.waves.wave_settings import WaveSettings
from support.clusters import make_state
from waves.reassignments import cut_up, judge, reassignment_to, reassignments

CAPS = st.integers(1, 3)


def most_at_once(found: Cut) -> int:
    """Return the most new replicas that some partition gets in some wave."""
    rows = np.flatnonzero(found.copies.passes & (found.wave >= 0))
    turns = zip(
        found.copies.partition_idx[rows].tolist(),
        found.wave[rows].tolist(),
        strict=True,
    )
    return max(Counter(turns).values(), default=0)


@given(
    reassignments(resizes=True, most_dead=1) | reassignments(has_dirs=True),
    CAPS,
    st.none() | CAPS,
    st.booleans(),
)
def test_no_wave_brings_more_replicas_of_a_partition(
    reassignment: Reassignment, most: int, shared: int | None, is_tight: bool
):
    state = reassignment.before
    if is_tight:
        state = state.with_brokers(disk_bytes=np.full(state.num_brokers, 60))
        reassignment = replace(reassignment, before=state)
    options = WaveSettings(
        max_shared=shared,
        max_per_partition=most,
        thresholds={Resource.DISK: 1.0},
    )

    found = cut_up(reassignment, options)

    assert most_at_once(found) <= most
    assert {finding.rule for finding in judge(found)} <= {"wave-end"}
    if found.stuck is None:
        assert found.num_copy_waves >= found.bound


def test_a_partition_that_moves_wholly_takes_a_wave_for_each_replica():
    state = make_state([[0, 1, 2]], racks="abcabc", size_bytes=1)
    change = reassignment_to(state, [[3, 4, 5]])

    apart, at_once = cut_up(change), cut_up(change, WaveSettings(max_per_partition=3))

    assert (most_at_once(apart), apart.num_copy_waves) == (1, 3)
    assert (most_at_once(at_once), at_once.num_copy_waves) == (3, 1)
    [stage] = apart.bounds
    assert (stage.direction, stage.copies, stage.cap, stage.waves) == (
        "partition", 3, 1, 3,
    )  # fmt: skip
    assert stage.partition_idx == 0
    assert (judge(apart), judge(at_once)) == ((), ())


def test_the_checker_names_the_partition_that_gets_too_many():
    state = make_state([[0, 1, 2]], racks="abcabc", size_bytes=1)
    lists = {("t", 0): [3, 4, 5]}
    limits = WaveLimits(max_in=5, max_out=5, max_per_partition=1)

    findings = check_waves(state, [lists], lists, limits)

    [found] = [one for one in findings if one.rule == "wave-cap"]
    assert (found.where.topic, found.where.partition) == ("t", 0)
    assert found.message == "wave 1: t-0 gets 3 new replicas, 1 may come at a time"
    without = WaveLimits(max_in=5, max_out=5)
    rules = {one.rule for one in check_waves(state, [lists], lists, without)}
    assert "wave-cap" not in rules


EDGES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(3, 6)),
    min_size=1,
    max_size=6,
    unique=True,
)


def fewest(edges: list[tuple[int, int, int]], cap_out: int, cap_in: int) -> int:
    """Return the least number of waves, by trying every one of them."""
    for count in range(1, len(edges) + 1):
        for waves in product(range(count), repeat=len(edges)):
            ends = [
                key
                for wave, (source, group, target) in zip(waves, edges, strict=True)
                for key in (
                    (wave, "out", source),
                    (wave, "in", target),
                    (wave, "of", source, group),
                )
            ]
            caps = {"out": cap_out, "in": cap_in, "of": 1}
            if all(n <= caps[key[1]] for key, n in Counter(ends).items()):
                return count
    raise AssertionError


@settings(max_examples=60)
@given(EDGES, CAPS, CAPS)
def test_groups_take_no_more_than_a_wave_or_two_above_the_least(edges, cap_out, cap_in):
    source, number, target = (np.array(column) for column in zip(*edges, strict=True))
    group = source * 2 + number

    wave = colour_copies(source, target, cap_out, cap_in, None, group)

    ends = zip(wave.tolist(), group.tolist(), strict=True)
    assert max(Counter(ends).values()) == 1
    best = fewest(edges, cap_out, cap_in)
    bound = max(
        least_waves(source, cap_out), least_waves(target, cap_in), least_waves(group, 1)
    )
    assert bound <= best <= wave.max() + 1 <= best + 1


@pytest.mark.parametrize("most", [1, 2])
def test_many_partitions_that_move_wholly_need_no_more_waves_than_their_brokers(most):
    lists = [[n % 3, 3 + n % 3, 6 + n % 3] for n in range(60)]
    state = make_state(lists, racks="aaabbbcccaaabbbccc", size_bytes=5)
    change = reassignment_to(state, [[b + 9 for b in row] for row in lists])

    found = cut_up(change, WaveSettings(max_per_partition=most))

    assert most_at_once(found) <= most
    assert found.num_copy_waves <= found.bound + 1
    assert judge(found) == ()
