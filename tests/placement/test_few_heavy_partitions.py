"""Clusters of few heavy partitions: proven, near their bands, and checked."""

import pytest

from benchmarks.shapes import Measured, Shape, measured
from placement.synthetic import Size


def planned(size: Size, family: str, seed: int) -> Measured:
    """Plan a drawn cluster with three replicas of each partition."""
    found = measured(Shape(size, size.replicas // 3, family, seed), "normal")
    assert not found.num_findings
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "family", "seed"),
    [(Size(12, 3, 180, 1), "c", 369), (Size(9, 3, 300, 32), "g", 564)],
)
def test_racks_far_from_their_bounds_are_closed(size, family, seed):
    assert planned(size, family, seed).best.is_proven


def test_bands_that_leaders_alone_come_nearest_to_cost_no_copy():
    found = planned(Size(5, 3, 120, 16), "c", 116)

    assert found.best.deviation > 0
    assert found.best.bytes == 0


@pytest.mark.slow
def test_the_cost_is_minimised_once_bands_are_reached_by_roles():
    """A draft comes into its bands by a change of roles, after all copies."""
    found = planned(Size(11, 4, 90, 16), "g", 711)

    assert found.best.deviation == 0.0
    # The search alone copies three times the bound.
    assert found.gap < 1.0


def test_rounds_of_ruin_close_a_small_gap_before_any_exact_model():
    """Family f: the search ends 1 % above a bound that ruin reaches at once."""
    found = planned(Size(12, 3, 900, 64), "f", 1)

    assert found.best.is_proven
    assert found.best.solver == "kafka-planner"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "family", "seed"),
    [
        # Ruin ends 0.007 % above a bound that the kernel of all racks reaches.
        pytest.param(Size(7, 7, 300, 4), "a", 492, id="kernel-after-ruin"),
        # A model of all pairs proves nothing from the answer of the search.
        pytest.param(Size(5, 4, 180, 4), "c", 963, id="in-turns-with-the-kernel"),
        # Relaxations prove little of thirty topics of one partition.
        pytest.param(Size(6, 6, 90, 1), "c", 499, id="without-relaxations"),
        # The search goes over a soft cap that home keeps; a later answer keeps it.
        pytest.param(Size(6, 3, 180, 16), "c", 6, id="over-a-soft-cap"),
    ],
)
def test_small_clusters_are_proven(size, family, seed):
    assert planned(size, family, seed).best.is_proven
