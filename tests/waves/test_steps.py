"""The lists of every wave, against the same worked out one partition at a time."""

import numpy as np
from hypothesis import given

from placement.model.reassignment import Reassignment
from placement.waves.broker_lists import Lists
from placement.waves.wave_cut import Cut
from placement.waves.wave_files import steps_of
from placement.waves.wave_settings import WaveSettings
from support.clusters import make_state
from waves.reassignments import cut_up, reassignment_to, reassignments


def plain_lists(found: Cut) -> list[dict[int, list[int]]]:
    """Play the waves one partition after the other; return the lists after each."""
    reassignment, copies = found.reassignment, found.copies
    state = reassignment.before
    old = state.replicas.start.tolist()
    new = reassignment.start.tolist()
    now = {
        p: state.replicas.broker_idx[old[p] : old[p + 1]].tolist()
        for p in range(state.num_partitions)
    }
    played = []
    for wave in range(found.num_waves):
        after: dict[int, list[int]] = {}
        for p in sorted(set(copies.partition_idx[found.wave == wave].tolist())):
            rows = np.nonzero((found.wave == wave) & (copies.partition_idx == p))[0]
            goes = set(found.removals.broker_idx[rows].tolist())
            comes = copies.target_idx[rows].tolist()
            final = reassignment.broker_idx[new[p] : new[p + 1]].tolist()
            goes |= {b for b in now[p] if not state.brokers.is_live[b]} - set(final)
            members = [b for b in [*now[p], *sorted(comes)] if b not in goes]
            listed = [b for b in final if b in members]
            listed += [b for b in members if b not in final]
            leader = int(state.partitions.leader_idx[p])
            listed.sort(key=lambda b: b != leader)
            after[p] = listed
        now |= after
        played.append(after)
    return played


@given(reassignments(most_dead=2))
def test_lists_are_those_of_each_partition_played_by_itself(
    reassignment: Reassignment,
):
    found = cut_up(reassignment, WaveSettings(max_in=1, max_out=2))

    steps = [step for step in steps_of(found) if step.has_copies]

    assert [dict(step.after) for step in steps] == plain_lists(found)
    rows = [row for step in steps for row in step.copies.tolist()]
    assert sorted(rows) == list(range(len(found.copies)))


@given(reassignments())
def test_each_wave_begins_where_the_one_before_it_ended(reassignment: Reassignment):
    found = cut_up(reassignment, WaveSettings(max_in=1, max_out=1))
    state = reassignment.before
    now = {p: state.brokers_of(p) for p in range(state.num_partitions)}

    for step in steps_of(found):
        for p, row in step.before.items():
            assert state.brokers.ids[row].tolist() == now[p]
        now |= {p: state.brokers.ids[row].tolist() for p, row in step.after.items()}


def test_leaders_are_a_thousand_in_a_wave():
    state = make_state([[0, 1]] * 2500, racks="ab", size_bytes=1)
    change = reassignment_to(state, [[1, 0]] * 2500)

    steps = list(steps_of(cut_up(change)))

    assert [len(step.after) for step in steps] == [1000, 1000, 500]
    assert [step.number for step in steps] == [1, 2, 3]
    assert sorted(p for step in steps for p in step.elects) == list(range(2500))


def test_lists_are_found_by_partition():
    lists = Lists(np.array([2, 5]), np.array([0, 2, 3]), np.array([7, 8, 9]))

    assert lists[2] == [7, 8]
    assert lists.get(3) is None
    assert dict(lists) == {2: [7, 8], 5: [9]} == dict(lists.rows())
    assert dict(lists.part(1, 2)) == {5: [9]}
    assert dict(lists.of(np.array([1]))) == {5: [9]}
    asked = np.array([0, 0, 1, 1]), np.array([8, 9, 9, 7])
    assert lists.slots_of(*asked).tolist() == [1, -1, 0, -1]
