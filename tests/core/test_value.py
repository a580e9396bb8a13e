"""What an arrangement is worth, whatever it is, against counting item by item."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.core.model import arrangement as arrangement_module
from placement.core.model import objective as value_module
from placement.core.model.arrangement import Arrangement, home_loads, loads
from placement.core.model.objective import Value, evaluate, misplaced_roles, refills
from placement.core.model.problem import NOWHERE, Movability, Problem
from support.oracles import items_of, naive_loads, naive_value
from support.problems import problems

PARTS = ("broken_groups", "cost", "moves", "role_changes")


@st.composite
def arranged(draw: Any) -> tuple[Problem, Arrangement]:
    """Any problem, its items and roles anywhere at all."""
    problem = draw(problems(has_transient=True))
    homes = problem.home.tolist()
    somewhere = st.integers(NOWHERE, problem.num_bins - 1)
    bins = [draw(st.one_of(st.just(home), somewhere)) for home in homes]
    roles = [
        draw(st.sampled_from([NOWHERE, *items_of(problem, group)]))
        for group in range(problem.num_groups)
    ]
    return problem, Arrangement(
        np.array(bins, dtype=np.int32), np.array(roles, dtype=np.int64)
    )


def naive_refills(problem: Problem, at: Arrangement) -> list[bool]:
    """Items that came to where another one of their group must leave."""
    found = []
    for group in range(problem.num_groups):
        items = items_of(problem, group)
        must = {
            int(problem.home[item])
            for item in items
            if problem.movability[item] == Movability.MUST
        } - {NOWHERE}
        for item in items:
            place = int(at.bin_of[item])
            found.append(place != problem.home[item] and place in must)
    return found


@pytest.fixture(params=[value_module.MANY, 0], ids=["neighbours", "sorted"])
def _many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_module, "MANY", request.param)


@pytest.mark.usefixtures("_many")
@given(arranged())
def test_a_value_is_what_counting_item_by_item_finds(
    drawn: tuple[Problem, Arrangement],
) -> None:
    problem, at = drawn
    found, naive = evaluate(problem, at), naive_value(problem, at)
    assert refills(problem, at).tolist() == naive_refills(problem, at)
    for part in PARTS:
        assert getattr(found, part) == getattr(naive, part), part
    # Loads that got worse count twice.
    assert (found.over_capacity == 0) == (naive.over_capacity == 0)
    assert found.deviation == pytest.approx(float(naive.deviation))
    assert found.outside == pytest.approx(float(naive.outside))
    # Items that lie nowhere or must leave, and roles: some of both count once only.
    assert (found.unmet == 0) == (
        naive.unmet == 0
        and not any(naive_refills(problem, at))
        and not misplaced_roles(problem, at).any()
    )


@pytest.fixture(params=[arrangement_module.AT_ONCE, 2], ids=["at once", "in blocks"])
def _blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrangement_module, "AT_ONCE", request.param)


@pytest.mark.usefixtures("_blocks")
@given(arranged())
def test_loads_are_the_same_summed_and_worked_out(
    drawn: tuple[Problem, Arrangement],
) -> None:
    problem, at = drawn
    home_loads(problem)  # from here on they can be worked out from what moved
    assert loads(problem, at).tolist() == naive_loads(problem, at)


def test_a_part_in_a_billion_is_not_outside():
    def value(distance: float) -> Value:
        return Value(0, 0, 0, distance, distance, 0, 0, 0)

    assert not value(4e-12).is_outside
    assert value(4e-12).is_in_band
    assert value(1e-8).is_outside
