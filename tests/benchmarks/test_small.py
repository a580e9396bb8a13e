"""The family *small*: what is measured, and what is kept as best known."""

from dataclasses import replace

import pytest

from benchmarks.small import Must, planned, proven_part, row_text
from benchmarks.small_best import Best, better, read_best
from placement.core.model.solution import CLOSED
from placement.core.search.local_search import Searcher
from support.profile import sampled

KNOWN = Best(
    bytes=100,
    deviation=0.0,
    bytes_bound=90,
    deviation_bound=0.0,
    solver="CP-SAT 9.15",
    seconds=1.0,
)


def test_a_small_cluster_is_planned_checked_and_proven():
    small, own = planned("6x60", "c", 7, "normal")

    assert small.num_findings == 0
    assert small.is_proven
    assert small.ratio(own) == 1.0
    assert proven_part([small]) == 1.0
    assert "| 6x60, c | 1 |" in row_text("6x60, c", [small], [own])


@pytest.mark.not_quick
def test_a_plan_that_a_solver_proves_is_not_searched_again(monkeypatch):
    """
    CP-SAT's bound is a few bytes below a plan of gigabytes, as its numbers are rounded.

    Ruin then finds nothing, and takes seconds where no kernel has been compiled.
    """
    monkeypatch.setattr(Searcher, "recreate", lambda *_: pytest.fail("searched again"))

    found, best = planned("6x60", "c", 2, "normal")

    assert found.is_proven
    assert 0 < best.bytes - best.bytes_bound < CLOSED * best.bytes
    assert not found.num_findings


@pytest.mark.not_quick
def test_few_giant_partitions_have_a_checked_bound_near_their_plan():
    small, _ = planned("6x60", "g", 3, "normal")

    assert small.num_findings == 0
    # Prices of load alone leave 11 %; branching, and rounded rows, prove more.
    assert small.checked_gap is not None
    assert small.checked_gap < 0.025


def test_of_two_plans_the_nearer_is_better_and_then_the_cheaper():
    nearer = replace(KNOWN, bytes=300, deviation=0.0)
    further = replace(KNOWN, bytes=10, deviation=0.1)
    cheaper = replace(KNOWN, bytes=95, bytes_bound=80)

    assert better(further, nearer) == nearer
    assert better(KNOWN, cheaper) == replace(cheaper, bytes_bound=90)
    assert better(None, KNOWN) == KNOWN


def test_a_plan_is_proven_where_nothing_is_nearer_or_cheaper():
    assert replace(KNOWN, bytes_bound=100).is_proven
    assert not KNOWN.is_proven
    assert not replace(KNOWN, bytes_bound=100, deviation=0.1).is_proven


def test_what_must_be_kept_to_is_said():
    assert str(Must(1.0, proven=0.98)) == "1 s, 98% proven"


def test_no_best_plan_is_below_its_recorded_bound():
    for name, best in read_best().items():
        assert best.bytes >= best.bytes_bound, name
        assert best.deviation >= best.deviation_bound - 1e-6, name


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 8, 11, 18, 27, 36])
def test_racks_whose_bands_admit_few_moves_are_proven(seed):
    # Each ends some millionths above its relaxation, with the least bytes there are;
    # two of the last three by a search from the bound of branch and cut.
    small, _ = planned("12x300", "c", seed, "normal")

    assert small.num_findings == 0
    assert small.is_proven
    assert small.checked_gap > CLOSED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "seed", "most"),
    sampled([("30x1000", 1, 0.03), ("30x1000", 3, 0.03), ("100x20000", 1, 0.005)]),
)
def test_middle_sizes_are_planned_near_a_bound_that_is_checked(size, seed, most):
    small, _ = planned(size, "c", seed, "normal")

    assert small.num_findings == 0
    assert small.deviation == 0
    assert small.checked_gap <= most
