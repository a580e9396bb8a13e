"""What the independent checker finds in waves."""

import pytest

from placement.waves.wave_files import steps_of
from support.clusters import make_state
from waves.reassignments import (
    as_lists,
    cut_up,
    final_lists,
    judge,
    reassignment_to,
)


def good_waves():
    state = make_state(
        [[0, 1], [1, 2]],
        racks="abca",
        size_bytes=[50, 50],
        disk_bytes=[120, 120, 120, 120],
        min_isr=2,
    )
    found = cut_up(reassignment_to(state, [[0, 2], [1, 0]]))
    return found, [as_lists(found, step.after) for step in steps_of(found)]


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("wave-replication-factor", {("t", 0): [0]}),
        ("wave-replication-factor", {("t", 0): [0, 1, 2]}),
        ("wave-replication-factor", {("t", 1): [3]}),
        ("wave-broker", {("t", 0): [0, 9]}),
        ("wave-rack", {("t", 0): [0, 3]}),
        ("wave-leader", {("t", 0): [2, 0]}),
        ("wave-unknown", {("nobody", 0): [0, 1]}),
        ("wave-min-isr", {("t", 0): [9, 8]}),
        ("wave-cap", {("t", 0): [0, 2], ("t", 1): [1, 0], ("t", 2): [0, 2]}),
        ("wave-end", {}),
        ("wave-disk", {("t", 0): [0, 2], ("t", 1): [0, 2]}),
    ],
)
def test_the_checker_finds_what_is_wrong(rule, change):
    from placement.check.waves.wave_checker import check_waves
    from placement.check.waves.wave_limits import WaveLimits

    state = make_state(
        [[0, 1], [1, 3], [0, 1]],
        racks="abca",
        size_bytes=[50, 50, 50],
        disk_bytes=[120, 150, 90, 120],
        min_isr=2,
    )
    limits = WaveLimits(max_in=1, max_out=5, disk_threshold=1.0)

    findings = check_waves(state, [change], {("t", 0): [0, 2]}, limits)

    assert rule in {finding.rule for finding in findings}


def test_the_checker_finds_a_leader_that_is_dropped_too_early():
    from placement.check.waves.wave_checker import check_waves
    from placement.check.waves.wave_limits import WaveLimits

    state = make_state([[0, 1, 2]], racks="abcabc", size_bytes=1)
    waves = [{("t", 0): [3, 1, 2]}, {("t", 0): [3, 4, 2]}]
    limits = WaveLimits(max_in=5, max_out=5)

    findings = check_waves(state, waves, {("t", 0): [3, 4, 2]}, limits)

    assert [finding.rule for finding in findings] == ["wave-leader"]


def test_the_checker_finds_nothing_where_nothing_is_wrong():
    found, waves = good_waves()

    assert judge(found) == ()
    assert final_lists(found).items() >= waves[-1].items()
