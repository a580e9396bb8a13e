"""Bins that are divided in parts: each item needs one with room for all of it."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.model.objective import evaluate
from placement.core.model.problem import NO_LIMIT, Movability
from placement.core.model.search_budget import NORMAL
from placement.core.model.solution import Status
from placement.core.presolve.bin_parts import Parts, divide, gather
from placement.core.solve import prove, solve
from placement.core.solve_hard_rules import has_bands, without_bands
from placement.core.solve_parts import solve_in_parts
from support.problems import make_problem, problems

MET = {Status.OPTIMAL, Status.FEASIBLE}
MUST, MAY = Movability.MUST, Movability.MAY


def parts_of(problem, bin_of, home, capacity=NO_LIMIT):
    """Parts that take whatever has room, of the only resource."""
    shape = (len(bin_of), problem.num_resources)
    return Parts(
        name="part",
        bin_of=np.array(bin_of, dtype=np.int32),
        home=np.array(home, dtype=np.int32),
        may_receive=np.ones(len(bin_of), dtype=np.bool_),
        fixed=np.zeros(shape, dtype=np.int64),
        capacity=np.broadcast_to(np.reshape(capacity, (-1, 1)), shape).astype(np.int64),
    )


def whole(problem):
    """Every bin in one part without an end."""
    return parts_of(problem, range(problem.num_bins), problem.home)


@settings(max_examples=60)
@given(problems())
def test_bins_in_one_part_each_are_worth_what_they_were(problem):
    parts = whole(problem)
    divided = divide(problem, parts)

    at = solve(divided, effort=NORMAL).best

    told, worth = evaluate(divided, at), evaluate(problem, gather(problem, parts, at))
    assert (told.unmet, told.deviation) == (worth.unmet, worth.deviation)
    assert told.cost >= worth.cost


@settings(max_examples=60)
@given(problems())
def test_what_is_proven_anew_is_what_was_proven(problem):
    found = solve(problem, effort=NORMAL)

    again = prove(problem, found.best, effort=NORMAL)

    proven, told = again.certificate, found.certificate
    assert again.best == found.best
    # A solver is asked while an answer is looked for, and not about what is known.
    if told.cost.solver is None:
        assert again.status == found.status
    for name in ("cost", "moves", "deviation"):
        one, other = getattr(proven, name), getattr(told, name)
        assert one.value == other.value
        assert one.lower_bound <= one.value


@settings(max_examples=60)
@given(problems())
def test_without_bands_the_same_rules_hold(problem):
    bare = without_bands(problem)

    at = solve(bare, effort=NORMAL).best

    told, worth = evaluate(bare, at), evaluate(problem, at)
    assert not has_bands(bare)
    assert told.key[0] == worth.key[0]
    assert (told.deviation, told.cost) == (0.0, worth.cost)


def test_an_item_that_must_leave_its_bin_does_not_take_the_next_part():
    problem = make_problem(
        [[0]], num_bins=2, weight=1, movability=np.array([MUST], dtype=np.int8)
    )
    parts = parts_of(problem, [0, 0, 1], [0])

    divided = divide(problem, parts)
    found = solve_in_parts(problem, parts)

    assert solve(divided).best.bin_of.tolist() == [2]
    assert (found.status, found.best.bin_of.tolist()) == (Status.OPTIMAL, [1])


def test_it_may_where_it_only_may_leave():
    problem = make_problem([[0], [0]], num_bins=2, weight=[6, 5], target=[8, 3])
    parts = parts_of(problem, [0, 0, 1], [0, 0], [6, 5, 5])

    assert solve_in_parts(problem, parts).status in MET


def test_room_in_sum_is_no_room():
    problem = make_problem(
        [[0], [1]], num_bins=2, weight=[6, 1], capacity=[9, 10],
        movability=np.array([MUST, MAY], dtype=np.int8),
    )  # fmt: skip
    parts = parts_of(problem, [0, 1, 1], [0, 1], [9, 5, 5])

    found = solve_in_parts(problem, parts)

    assert solve(problem).status in MET
    assert found.status is Status.INFEASIBLE


@settings(max_examples=80)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
    st.lists(st.integers(1, 9), min_size=2, max_size=4),
    st.data(),
)
def test_all_items_get_room_just_where_there_is_some(weights, capacity, data):
    count = len(capacity)
    bin_of = [0, *(data.draw(st.integers(0, 1)) for _ in capacity[1:])]
    # All items leave bin 2, which takes none back.
    problem = make_problem(
        [[2]] * len(weights), num_bins=3, weight=weights,
        movability=np.full(len(weights), MUST, dtype=np.int8),
    )  # fmt: skip
    bins = [*bin_of, 1, 2]
    parts = parts_of(
        problem, bins, [count + 1] * len(weights), [*capacity, 0, NO_LIMIT]
    )

    found = solve_in_parts(problem, parts)

    ways = product(range(count), repeat=len(weights))
    exists = any(
        all(
            sum(w for w, at in zip(weights, way, strict=True) if at == d) <= most
            for d, most in enumerate(capacity)
        )
        for way in ways
    )
    placed = found.best.bin_of
    assert (found.status in MET and bool((placed != 2).all())) == exists
