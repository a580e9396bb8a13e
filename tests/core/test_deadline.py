"""Searches that a clock ends."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.model.arrangement import home_arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem
from placement.core.model.search_budget import EXACT, NORMAL
from placement.core.model.solution import Status
from placement.core.search import compilation, kernel_runner
from placement.core.search.compilation import (
    COMPILING_S,
    FEW_ITEMS,
    PLAIN_ITEMS,
    PLAIN_S,
    Compiling,
    PlainWork,
)
from placement.core.search.kernels import stages
from placement.core.search.local_search import Searcher
from placement.core.solve import prove, solve
from support.oracles import illegal_moves
from support.problems import make_problem, problems


def ticking(ticks: int) -> Deadline:
    """A deadline after so many looks at the clock."""
    clock = count()
    return Deadline(ticks, clock=lambda: float(next(clock)))


@settings(max_examples=150)
@given(problems(), st.integers(0, 12))
def test_an_answer_that_was_cut_is_legal_and_no_worse_than_none(
    problem: Problem, ticks: int
):
    before = evaluate(problem, home_arrangement(problem))

    found = solve(problem, deadline=ticking(ticks))

    assert illegal_moves(problem, found.best) == []
    assert evaluate(problem, found.best).key[:3] <= before.key[:3]


def test_what_must_move_has_moved_whatever_the_time():
    problem = make_problem(
        [[0], [0]], num_bins=2, movability=[1, 1], may_receive=[False, True]
    )

    found = solve(problem, deadline=ticking(0))

    assert found.best.bin_of.tolist() == [1, 1]


@pytest.mark.parametrize(("ticks", "is_cut"), [(0, True), (10**6, False)])
def test_an_answer_says_whether_it_was_cut(ticks: int, is_cut: bool):
    weights = [2, 4, 3, 3, 3, 3, 3, 3]
    problem = make_problem(
        [[0]] * 8, num_bins=2, weight=weights, lower=9, upper=15, target=12.0
    )

    assert solve(problem, deadline=ticking(ticks)).is_cut == is_cut


def test_what_a_flow_answers_at_once_was_not_cut():
    problem = make_problem(
        [[0]] * 8, num_bins=2, weight=3, cost=3, lower=9, upper=15, target=12.0
    )

    found = solve(problem, deadline=ticking(0))

    assert found.status is Status.OPTIMAL
    assert not found.is_cut


def test_no_deadline_is_never_over():
    deadline = Deadline()

    assert not deadline.is_set
    assert not deadline.is_over()
    assert not deadline.has_cut


def test_proofs_get_a_tenth_more():
    now = iter([0.0, 10.5, 10.5, 11.0])
    deadline = Deadline(10.0, clock=lambda: next(now))

    assert deadline.is_over()
    assert not deadline.is_over_for_proofs()
    assert deadline.is_over_for_proofs()


def test_trees_of_proofs_grow_no_further_after_the_deadline():
    rng = np.random.default_rng(7)
    weight = rng.integers(20, 60, 12)
    share = int(weight.sum()) // 3
    problem = make_problem(
        [[0]] * 8 + [[1]] * 4,
        num_bins=3,
        weight=weight,
        cost=rng.integers(20, 60, 12),
        lower=share - 6,
        upper=share + 6,
        target=weight.sum() / 3,
    )
    at = solve(problem).best

    whole = prove(problem, at, effort=EXACT).certificate.cost
    short = prove(problem, at, effort=EXACT, deadline=ticking(0)).certificate.cost

    assert whole.proof is not None
    assert len(whole.proof.witness["nodes"]) > 1
    assert short.proof is not None
    assert len(short.proof.witness.get("nodes", [0])) == 1
    assert short.lower_bound <= whole.lower_bound


@pytest.mark.parametrize(
    ("left", "is_compiled"),
    [
        pytest.param(None, True, id="no-deadline"),
        pytest.param(10 * COMPILING_S, True, id="time-enough"),
        pytest.param(10.0, False, id="ten-seconds"),
    ],
)
def test_nothing_is_compiled_shortly_before_a_deadline(
    monkeypatch: pytest.MonkeyPatch, left: float | None, is_compiled: bool
):
    monkeypatch.setattr(compilation, "is_at_hand", lambda _stages: False)
    monkeypatch.setattr(compilation, "is_running", lambda _stages: False)
    search = Compiling(900, EXACT, is_priced=False, is_on=False)

    assert search.begins(is_long=True, rounds=10_000, left=left) == is_compiled


@pytest.mark.parametrize(
    ("seconds", "own", "left", "is_compiled"),
    [
        pytest.param(PLAIN_S + 1, 6.0, None, True, id="long"),
        pytest.param(PLAIN_S + 1, 6.0, 10.0, False, id="long-and-ten-seconds-left"),
        pytest.param(PLAIN_S + 1, 4.0, None, False, id="many-short-ones"),
        pytest.param(PLAIN_S - 9, 6.0, None, False, id="short"),
    ],
)
@pytest.mark.parametrize("num_items", [FEW_ITEMS, FEW_ITEMS + 1, PLAIN_ITEMS])
def test_small_clusters_that_take_long_are_compiled_for(
    monkeypatch: pytest.MonkeyPatch,
    num_items: int,
    seconds: float,
    own: float,
    left: float | None,
    is_compiled: bool,
):
    monkeypatch.setattr(compilation, "is_at_hand", lambda _stages: False)
    monkeypatch.setattr(compilation, "is_running", lambda _stages: False)
    clock = iter([0.5, 0.5 + own])
    monkeypatch.setattr(compilation, "thread_time", lambda: next(clock))
    monkeypatch.setattr(compilation, "_plain", PlainWork(seconds=seconds - own))
    search = Compiling(num_items, NORMAL, is_priced=False, is_on=False)
    with search.clocked():
        pass

    assert search.begins(is_long=False, left=left) == is_compiled


def test_rounds_that_are_not_compiled_look_at_the_clock_often(
    monkeypatch: pytest.MonkeyPatch,
):
    made = []

    def counted(searcher, entry, *arguments):
        made.append((entry, arguments))
        return 0

    monkeypatch.setattr(kernel_runner.KernelRunner, "_call", counted)
    problem = make_problem([[0]] * 3, num_bins=2)
    searcher = Searcher(problem, EXACT, 1, ticking(3))

    searcher._in_turns(stages.shake, ([],), 10_000, 64, 0)

    rounds = [arguments[1] for _, arguments in made]
    assert rounds == [kernel_runner.PLAIN_ROUNDS_AT_ONCE] * 2
