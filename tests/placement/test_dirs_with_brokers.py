"""Brokers and log dirs chosen together, where room in sum is no room for a replica."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, check, is_ok
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import ABSENT
from placement.model.load import Resource
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.infeasibility.infeasible_rules import explain_impossible
from placement.planning.plan import plan
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.documents.scored_plan import make_plan
from planner.plan.folder.plan_folder import target_lists
from planner.plan.run.make_plan import make
from support.clusters import Dir, make_state

MET = {Status.OPTIMAL, Status.FEASIBLE}
WHOLE = {Resource.DISK: 1.0}
FIRST = RemoveBrokers((0,))


@dataclass(frozen=True)
class Case:
    """Sizes of partitions, who holds them in which log dir, and what log dirs hold."""

    sizes: list[int]
    brokers: list[list[int]]
    dirs: list[list[int]]
    room: list[list[int]]

    def state(self):
        return make_state(
            self.brokers,
            racks="abcd"[: len(self.room)],
            size_bytes=self.sizes,
            dirs=[[f"/{d}" for d in row] for row in self.dirs],
            log_dirs={
                b: [Dir(f"/{d}", size) for d, size in enumerate(sizes)]
                for b, sizes in enumerate(self.room)
            },
            disk_bytes=[sum(sizes) for sizes in self.room],
        )


def planned(state, operation=FIRST, **chosen_settings):
    both = {"names_log_dirs": True, "capacity_thresholds": WHOLE} | chosen_settings
    return plan(state, operation, Settings(**both))


def names(placed, p=0):
    """The brokers of a partition after, and their log dirs."""
    after = placed.reassignment.after()
    at = slice(*after.replicas.start[p : p + 2].tolist())
    rows = after.replicas.log_dir_idx[at]
    return after.brokers_of(p), [after.log_dirs.paths[d] for d in rows if d != ABSENT]


def caused(placed, state):
    """What the independent checker finds wrong with a plan."""
    made = make_plan("remove-brokers", placed, taken_at=None, settings={})
    rules = CheckSettings(
        capacity_thresholds={"disk": 1.0}, leaving_brokers=frozenset({0})
    )
    return check(state, target_lists(made).to_target(), rules)


# Broker 1 has most room in sum, and none in one log dir; broker 2 has it in one.
SMALL_DIRS = Case([60, 40], [[0], [2]], [[0], [0]], [[100], [50, 50], [100]])


def test_a_replica_goes_where_a_log_dir_has_room_for_it():
    state = SMALL_DIRS.state()

    placed = planned(state)

    assert placed.has_met_rules
    assert names(placed) == ([2], ["/0"])
    assert is_ok(caused(placed, state))


def test_brokers_without_log_dirs_named_go_by_their_sums():
    placed = planned(SMALL_DIRS.state(), names_log_dirs=False)

    assert names(placed) == ([1], [])


@pytest.mark.not_quick
def test_what_fits_no_log_dir_at_all_is_proven_to_have_no_plan():
    case = Case([60, 50], [[0], [2]], [[0], [0]], [[100], [50, 50], [100]])

    placed = planned(case.state())

    assert placed.solution.status is Status.INFEASIBLE
    lacks = placed.solution.shortfalls
    assert {(lack.what, lack.level) for lack in lacks} == {
        ("bins", "log dir"), ("room", "log dir"),
    }  # fmt: skip
    chosen_settings = Settings(names_log_dirs=True, capacity_thresholds=WHOLE)
    why = explain_impossible(FIRST, chosen_settings, placed)
    assert set(why.rules) == {"capacity-disk", "only-what-must"}
    assert (why.is_proven, why.is_irreducible, all(why.helps)) == (True, True, True)


def test_what_may_leave_an_unknown_log_dir_keeps_it_from_being_proven():
    # Whatever fills log dir 0 of broker 2 may be the replica that lies nobody knows
    # where, and may leave.
    state = make_state(
        [[0], [2]], racks="abc", size_bytes=[60, 50], dirs=[["/0"], [None]],
        log_dirs={
            0: [Dir("/0", 100)],
            1: [Dir("/0", 50), Dir("/1", 50)],
            2: [Dir("/0", 100, 50)],
        },
        disk_bytes=[100, 100, 100],
    )  # fmt: skip

    placed = planned(state, frees_the_rest=True)

    assert placed.solution.status is Status.PARTIAL


def test_a_log_dir_makes_room_where_its_broker_may_give_some_away():
    # The 60 fits into broker 1 once a 40 there has gone to broker 2.
    case = Case(
        [60, 40, 40, 10], [[0], [1], [1], [2]], [[0], [0], [1], [0]],
        [[60], [60, 60], [50]],
    )  # fmt: skip
    state = case.state()

    placed = planned(state, frees_the_rest=True, bands={Resource.DISK: 1.0})

    assert placed.has_met_rules
    assert names(placed)[0] == [1]
    assert is_ok(caused(placed, state))


def test_three_in_two_log_dirs_of_one_broker_share_out_to_another():
    # 180 bytes of room in broker 1 take two of three replicas of 60.
    case = Case(
        [60, 60, 60], [[0]] * 3, [[0], [1], [2]], [[60, 60, 60], [100, 100], [60]]
    )

    placed = planned(case.state(), resources=())

    assert placed.has_met_rules
    assert sorted(names(placed, p)[0] for p in range(3)) == [[1], [1], [2]]


def test_a_packing_that_no_greedy_order_finds_is_found():
    # 55 + 45, 40 + 35 + 25: largest first into the emptier one ends with 25 left over.
    case = Case(
        [55, 45, 40, 35, 25], [[0]] * 5, [[0]] * 5, [[200], [100, 100]]
    )  # fmt: skip

    placed = planned(case.state(), resources=())

    assert placed.has_met_rules
    assert placed.log_dirs.after.tolist()[1:] == [100, 100]


def test_a_soft_threshold_does_not_give_way_where_another_broker_has_room():
    request = PlanRequest(
        goal="remove-brokers", broker_list="0", with_log_dirs=True,
        capacity_threshold=["disk=1"], soft=("capacity-disk",),
    )  # fmt: skip

    made = make(SMALL_DIRS.state(), request)

    assert (made.is_ok, names(made.plan.placed)) == (True, ([2], ["/0"]))
    assert not [one for one in to_document(made.plan)["notes"] if "soft" in one["what"]]


@st.composite
def cases(draw) -> Case:
    """Few replicas in small log dirs, most of which are well filled."""
    factor = draw(st.sampled_from([1, 1, 2]))
    count = draw(st.integers(2 + factor, 4))
    room = [
        draw(st.lists(st.sampled_from([60, 80, 100]), min_size=1, max_size=2))
        for _ in range(count)
    ]
    left = [list(sizes) for sizes in room]
    case = Case([], [], [], room)
    for _ in range(draw(st.integers(2, 5))):
        size = draw(st.sampled_from([15, 25, 35, 45, 50, 60]))
        place = [
            (b, d)
            for b in draw(st.permutations(range(count)))
            for d in draw(st.permutations(range(len(room[b]))))[:1]
            if left[b][d] >= size
        ][:factor]
        if len(place) == factor:
            case.sizes.append(size)
            case.brokers.append([b for b, _ in place])
            case.dirs.append([d for _, d in place])
            for b, d in place:
                left[b][d] -= size
    return case


Way = tuple[tuple[int, int], ...]


def ways(
    case: Case, p: int, dirs: list[tuple[int, int]], *, is_free: bool
) -> list[Way]:
    """Every way for one partition to lie off broker 0, whatever else lies there."""
    now = set(zip(case.brokers[p], case.dirs[p], strict=True))
    stays = set() if is_free else {one for one in now if one[0]}
    return [
        way
        for way in combinations(dirs, len(now))
        if len({b for b, _ in way}) == len(now) and stays <= set(way)
    ]


def full_plans(case: Case, *, is_free: bool) -> Iterator[tuple[Way, ...]]:
    """Yield every way to leave broker 0 in which all log dirs have room."""
    room = {
        (b, d): s for b, row in enumerate(case.room) if b for d, s in enumerate(row)
    }
    each = [ways(case, p, list(room), is_free=is_free) for p in range(len(case.sizes))]

    def onward(p: int, found: tuple[Way, ...]) -> Iterator[tuple[Way, ...]]:
        if p == len(each):
            yield found
            return
        for way in each[p]:
            held = Counter[tuple[int, int]]()
            for size, lies in zip(case.sizes, (*found, way), strict=False):
                held.update(dict.fromkeys(lies, size))
            if all(held[one] <= room[one] for one in way):
                yield from onward(p + 1, (*found, way))

    return onward(0, ())


def copied(case: Case, way: tuple[Way, ...]) -> int:
    """Bytes that go to other brokers."""
    return sum(
        size * len({b for b, _ in after} - set(before))
        for size, before, after in zip(case.sizes, case.brokers, way, strict=True)
    )


@settings(max_examples=120, deadline=None)
@given(
    case=cases(),
    is_free=st.booleans(),
    balanced=st.sampled_from([(), (Resource.DISK,)]),
    effort=st.sampled_from(["quick", "normal"]),
)
# Whatever has room in the fullest broker but one leaves none for the other.
@example(
    case=Case(
        [50, 15], [[0, 2], [0, 1]], [[0, 0], [1, 0]], [[60, 60], [80], [60], [60]]
    ),
    is_free=False, balanced=(Resource.DISK,), effort="quick",
)  # fmt: skip
def test_a_plan_is_found_just_where_there_is_one(case, is_free, balanced, effort):
    state = case.state()

    placed = planned(state, frees_the_rest=is_free, resources=balanced, effort=effort)

    least = min(
        (copied(case, w) for w in full_plans(case, is_free=is_free)), default=None
    )
    assert placed.has_met_rules == (least is not None)
    proven = placed.solution.certificate
    for bounded in (proven.cost, proven.moves, proven.deviation):
        assert bounded.lower_bound <= bounded.value
    if least is None:
        # What has no room stays: no copy is left to be put where there is none.
        findings = caused(placed, state)
        assert not [one for one in findings if one.rule == "log-dir-capacity"]
        return
    assert is_ok(caused(placed, state))
    assert (placed.log_dirs.after <= [s for row in case.room for s in row]).all()
    if not balanced:
        assert proven.cost.lower_bound <= least <= proven.cost.value


@settings(max_examples=40, deadline=None)
@given(cases())
def test_where_log_dirs_have_room_brokers_are_chosen_as_without_them(case):
    roomy = Case(
        case.sizes, case.brokers, case.dirs, [[900] * len(r) for r in case.room]
    )
    state = roomy.state()

    placed, plain = (planned(state, names_log_dirs=names) for names in (True, False))

    assert np.array_equal(placed.reassignment.broker_idx, plain.reassignment.broker_idx)
    assert placed.solution.certificate == plain.solution.certificate


@pytest.mark.parametrize("effort", ["quick", "normal", "thorough"])
def test_each_effort_chooses_them_together(effort):
    assert planned(SMALL_DIRS.state(), effort=effort).has_met_rules
