"""Small problems of one item per group in three bins, and every way to place them."""

import numpy as np
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import reached_bands
from placement.core.exact.one_node.node_rows import NodeRows
from placement.core.exact.separable_levels import NodeBins
from support.every_way import legal, worst_of
from support.problems import make_problem


@st.composite
def crowd(draw):
    """Up to seven groups of one item in three bins."""
    count = draw(st.integers(2, 7))
    weight = draw(st.lists(st.integers(1, 30), min_size=count, max_size=count))
    homes = [[draw(st.integers(0, 2))] for _ in range(count)]
    half = sum(weight) / 3
    slack = draw(st.sampled_from([0.1, 0.3, 0.6]))
    return make_problem(
        homes,
        num_bins=3,
        weight=weight,
        cost=draw(st.lists(st.integers(0, 30), min_size=count, max_size=count)),
        lower=int(half * (1 - slack)),
        upper=int(half * (1 + slack)),
        target=max(half, 1.0),
    )


def all_bins(problem):
    sizes = np.diff(problem.group_start)
    return NodeBins(tuple(range(problem.num_bins)), sizes, sizes)


def of_crowd(problem):
    """The rows of all bins, and the columns of every way that keeps them."""
    at, _ = worst_of(list(every_place(problem)))
    rows = NodeRows(problem, reached_bands(problem, at), all_bins(problem), at)
    ways = (rows.columns_of(one) for one, _ in every_place(problem))
    return rows, rows.columns_of(at), [way for way in ways if rows.holds(way)]


def every_place(problem):
    return legal(problem, lambda p, g: (((b,), g) for b in range(p.num_bins)))
