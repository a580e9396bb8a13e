"""Admission of copies: caps, disks and order hold at every moment of a run."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.execution.admission import Caps, Window
from planner.execution.changes import Change, Step
from planner.execution.preview import walk
from planner.execution.simulated_cluster import SimulatedCluster
from planner.execution.stages import Stage, StageKind, stages_of

RATE = 10


def step(*replicas: int, copies: tuple[int, ...] = ()) -> Step:
    return Step(replicas=replicas, log_dirs=None, copies=copies, inside=())


def change(
    number: int, before: tuple[int, ...], *lists: tuple[int, ...], size: int = 100
) -> Change:
    steps, now = [], before
    for replicas in lists:
        copies = tuple(b for b in replicas if b not in now)
        steps.append(step(*replicas, copies=copies))
        now = replicas
    return Change(
        key=("t", number),
        before=before,
        steps=tuple(steps),
        leader=before[0],
        has_source=True,
        copy_bytes=size,
        is_internal=False,
    )


@st.composite
def changes(draw) -> list[Change]:
    found = []
    for number in range(draw(st.integers(1, 12))):
        before = tuple(draw(st.permutations(range(6))))[:3]
        lists, now = [], list(before)
        for _ in range(draw(st.integers(1, 3))):
            others = [b for b in range(6) if b not in now]
            now[draw(st.integers(0, 2))] = draw(st.sampled_from(others))
            lists.append(tuple(now))
        size = draw(st.integers(0, 50))
        found.append(change(number, before, *lists, size=size))
    return found


CAPS = st.builds(
    Caps,
    max_in=st.integers(1, 3),
    max_out=st.integers(1, 3),
    max_shared=st.none() | st.integers(1, 4),
)


def carry_out(window: Window, look) -> list[tuple[tuple[str, int], int]]:
    """Run a window to its end, and return the steps in the order of their ends."""
    cluster, ended = SimulatedCluster(RATE), []
    while not window.is_done:
        admitted = window.admit()
        assert admitted or window.active, "nothing runs, and nothing may begin"
        cluster.submit(admitted)
        look(window)
        ended += [(key, window.finish(key).number) for key in sorted(cluster.wait())]
    return ended


@given(changes(), CAPS)
def test_caps_hold_at_every_moment_and_every_step_runs_in_its_order(found, caps):
    def look(window: Window) -> None:
        comes: Counter[int] = Counter()
        goes: Counter[int] = Counter()
        for one in window.active.values():
            comes.update(one.step.copies)
            goes[one.source] += len(one.step.copies)
        assert max(comes.values(), default=0) <= caps.max_in
        assert max(goes.values(), default=0) <= caps.max_out
        both = comes + goes
        shared = 99 if caps.max_shared is None else caps.max_shared
        assert max(both.values(), default=0) <= shared

        def may(used: Counter[int], broker: int, most: int) -> bool:
            return used[broker] < most and both[broker] < shared

        # Nothing waits that could run.
        assert not any(
            may(goes, one.source, caps.max_out)
            and all(may(comes, broker, caps.max_in) for broker in one.step.copies)
            for one in window.waiting()
        )

    ended = carry_out(Window(found, caps, {}), look)

    assert Counter(key for key, _ in ended) == {c.key: len(c.steps) for c in found}
    for one in found:
        numbers = [n for key, n in ended if key == one.key]
        assert numbers == list(range(len(one.steps)))


@given(changes(), CAPS, st.integers(0, 150))
def test_no_disk_is_overfilled_and_no_run_is_shorter_than_its_busiest_side(
    found, caps, room
):
    stage = Stage(kind=StageKind.COPIES, changes=tuple(found))

    outcome = walk([stage], caps, dict.fromkeys(range(6), room), RATE)

    assert min(outcome.least_free.values()) >= 0
    if not outcome.refused:
        assert outcome.stages[0].seconds >= _longest_side(found) / RATE - 1e-6


def _longest_side(found: list[Change]) -> float:
    """Return the bytes of the busiest broker in one direction: a bound on the time."""
    comes: Counter[int] = Counter()
    goes: Counter[int] = Counter()
    for one in found:
        leader, now = one.leader, one.before
        for each in one.steps:
            leader = leader if leader in now else now[0]
            comes.update(dict.fromkeys(each.copies, one.copy_bytes))
            goes[leader] += one.copy_bytes * len(each.copies)
            now = each.replicas
    return max([*comes.values(), *goes.values()], default=0)


def test_a_replica_that_leaves_makes_room_for_the_next():
    first = change(0, (1, 2), (1, 3), size=80)
    second = change(1, (1, 4), (1, 2), size=90)

    outcome = walk(
        [Stage(kind=StageKind.COPIES, changes=(second, first))],
        Caps(),
        {2: 50, 3: 100},
        RATE,
    )

    # Broker 2 gets 90 bytes, and has 50 until its other replica has moved to 3.
    assert not outcome.refused
    assert outcome.stages[0].seconds == pytest.approx(8 + 9)
    assert outcome.least_free == {2: 40, 3: 20}


def test_a_copy_without_room_is_refused():
    outcome = walk(
        [Stage(kind=StageKind.COPIES, changes=(change(0, (1, 2), (1, 3)),))],
        Caps(),
        {3: 99},
        RATE,
    )

    assert [one.change.key for one in outcome.refused] == [("t", 0)]
    assert outcome.least_free == {3: 99}


def test_a_copy_with_room_is_found_behind_many_without():
    large = [change(n, (1, 2), (1, 3), size=100) for n in range(200)]
    small = change(200, (1, 2), (1, 3), size=5)

    outcome = walk(
        [Stage(kind=StageKind.COPIES, changes=(*large, small))], Caps(), {3: 50}, RATE
    )

    assert len(outcome.refused) == 200
    assert outcome.least_free == {3: 45}


def test_a_broker_shares_its_rate():
    two = [change(n, (1, 2), (1, 3), size=50) for n in range(2)]
    other = change(2, (4, 5), (4, 6), size=30)
    cluster, window = SimulatedCluster(RATE), Window([*two, other], Caps(), {})
    cluster.submit(window.admit())

    assert cluster.wait() == {("t", 2)}
    assert cluster.now_s == pytest.approx(3)
    assert cluster.wait() == {("t", 0), ("t", 1)}
    assert cluster.now_s == pytest.approx(10)


def test_stages_put_internal_topics_after_the_others_and_order_last():
    user = change(0, (1, 2), (3, 2), (2, 3))
    own = change(1, (1, 2), (1, 3))
    own = Change(**{**_fields(own), "is_internal": True, "key": ("__offsets", 1)})
    small = change(2, (1, 2), (1, 4), size=1)

    found = stages_of([own, small, user])

    assert [stage.kind for stage in found] == ["copies", "internal-topics", "order"]
    assert [c.key[1] for c in found[0].changes] == [0, 2]
    assert [s.replicas for s in found[0].changes[0].steps] == [(3, 2)]
    assert [s.replicas for s in found[2].changes[0].steps] == [(2, 3)]


def _fields(one: Change) -> dict:
    return {name: getattr(one, name) for name in Change.__slots__}
