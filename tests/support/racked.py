"""Small problems in two racks of two bins, and every arrangement of them."""

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import strategies as st

from support.every_way import legal
from support.oracles import items_of
from support.problems import make_problem

RACKS = [0, 0, 1, 1]
BYTES = st.sampled_from([0, 1, 2, 3, 5, 8, 10**11, 10**11 + 1, 3 * 10**11])


@st.composite
def racked(draw):
    """Up to three groups with an item in each of two racks of two bins."""
    count = draw(st.integers(1, 3))
    homes = [draw(st.permutations(range(4)))[:2] for _ in range(count)]
    weight = [draw(BYTES) for _ in range(count)]
    target = max(sum(weight) / 2, 1.0)
    slack = draw(st.sampled_from([0.05, 0.3, 1.0]))
    return make_problem(
        homes,
        num_bins=4,
        racks=RACKS,
        weight=weight,
        role_weight=draw(st.sampled_from([0, 1, 10**10])),
        cost=[draw(BYTES) for _ in range(count)],
        lower=int(target * (1 - slack)),
        upper=int(target * (1 + slack)),
        target=target,
    )


def in_racks(problem, group):
    """Every way of one item in each of two racks, either with the role."""
    items = list(items_of(problem, group))
    for first, second, holder in product((0, 1), (2, 3), items):
        yield (first, second), holder
        yield (second, first), holder


def all_legal(problem):
    return list(legal(problem, in_racks))


def within(problem, bands):
    """Every arrangement that keeps hard rules and bands, with its worth."""
    limits = replace(problem.bins, lower=bands.lower, upper=bands.upper)
    first, *others = problem.levels
    narrowed = replace(problem, levels=(replace(first, limits=limits), *others))
    return [(at, value) for at, value in all_legal(narrowed) if not value.deviation]


def skewed(racks):
    """Thirty groups of two items, all in four of six bins."""
    rng = np.random.default_rng(5)
    weight = rng.integers(10, 1_000, 30).tolist()
    homes = [[0, 1] if group % 3 else [2, 3] for group in range(30)]
    target = 2 * sum(weight) / 6
    return make_problem(
        homes,
        num_bins=6,
        racks=racks,
        weight=weight,
        cost=weight,
        lower=int(target * 0.95),
        upper=int(target * 1.05),
        target=target,
    )
