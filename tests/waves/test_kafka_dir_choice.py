"""Log dirs that brokers choose while waves run."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.check.waves.kafka_dir_choice import DirChoiceFollower
from placement.model.load import Resource
from placement.model.reassignment import Reassignment
from placement.waves import edge_colouring
from placement.waves.wave_files import steps_of
from placement.waves.wave_settings import WaveSettings
from support.clusters import Dir, make_state
from waves.reassignments import cut_up, judge, reassignment_to, reassignments


def swap(where: str | None = None) -> Reassignment:
    """Of broker 1 a replica of 60 leaves /d1, with 50 free, and one of 100 comes."""
    held = [[1]] + [[1]] * 10 + [[0]]
    state = make_state(
        held,
        racks="abc",
        size_bytes=[60, *[1] * 10, 100],
        log_dirs={1: [Dir("/d1", 200, 50), Dir("/d2", 900, 800)], 0: [], 2: []},
        dirs=[["/d1"], *[["/d2"]] * 10, [None]],
    )
    lists = [[2], *[[1]] * 10, [1]]
    dirs = None if where is None else [[None]] * 11 + [[where]]
    return reassignment_to(state, lists, dirs)


def test_what_the_broker_puts_into_a_full_log_dir_waits_for_room():
    found = cut_up(swap())

    # /d1 has the fewest partitions: 60 bytes leave it before 100 come.
    assert found.wave[np.argsort(found.copies.size_bytes)].tolist() == [0, 1]
    assert found.is_limited_by_disk
    assert judge(found) == ()


def test_the_checker_finds_the_same_where_both_go_at_once():
    found = cut_up(swap())
    [first, second] = steps_of(found)
    lists = {**first.after, **second.after}

    at_once = cut_up(swap("/d2"))

    [step] = steps_of(at_once)
    assert dict(step.after) == lists
    # The same wave, with the log dir left to the broker.
    unnamed = replace(at_once, copies=replace(
        at_once.copies, target_dir=np.full(len(at_once.copies), -1)
    ))  # fmt: skip
    findings = judge(unnamed, [step])
    [finding] = [one for one in findings if one.rule == "wave-log-dir"]
    assert (finding.where.broker, finding.where.log_dir) == (1, "/d1")


@pytest.mark.parametrize("compiled_from", [1, 10**9])
@given(change=reassignments(has_dirs=True, resizes=True), disk=st.integers(40, 600))
def test_waves_without_named_log_dirs_are_safe(change, disk, compiled_from):
    before = change.before
    state = before.with_brokers(disk_bytes=np.full(before.num_brokers, disk))
    plain = replace(change, before=state, log_dir_idx=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_colouring, "COMPILED_FROM", compiled_from)
        found = cut_up(plain, WaveSettings(thresholds={Resource.DISK: 1.0}))

    assert {one.rule for one in judge(found)} <= {"wave-end"}
    if found.stuck is not None:
        assert found.stuck.short_bytes > 0


@given(st.data())
def test_no_order_of_creation_brings_more_than_the_checker_allows_for(data):
    counts = data.draw(st.lists(st.integers(0, 4), min_size=2, max_size=4))
    sizes = data.draw(st.lists(st.integers(1, 50), min_size=1, max_size=8))
    paths = [f"/d{d}" for d in range(len(counts))]
    held = [d for d, count in enumerate(counts) for _ in range(count)]
    state = make_state(
        [[0]] * (len(held) or 1),
        racks="a",
        log_dirs={0: [Dir(path) for path in paths]},
        dirs=[[paths[d]] for d in held] or [["/d0"]],
    )
    now = counts if held else [1, *counts[1:]]
    follower = DirChoiceFollower(state)
    brought = [0] * len(paths)
    for size in sizes:
        fewest = [d for d, count in enumerate(now) if count == min(now)]
        place = data.draw(st.sampled_from(fewest))
        now[place] += 1
        brought[place] += size
        follower.come(0, size)
        for d, path in enumerate(paths):
            assert brought[d] <= follower.worst((0, path))
