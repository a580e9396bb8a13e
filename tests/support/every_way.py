"""Every arrangement of a tiny problem."""

from itertools import product
from math import prod

import numpy as np

from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.problem import NOWHERE
from support.oracles import illegal_in, items_of, naive_value

MOST_WAYS = 20_000


def ways(problem, group):
    """Every place of every item of a group, and every holder of its role."""
    items = list(items_of(problem, group))
    holders = items if problem.role_home[group] != NOWHERE else [NOWHERE]
    for places in product(range(problem.num_bins), repeat=len(items)):
        if len(set(places)) == len(places):
            for holder in holders:
                yield places, holder


def every_arrangement(problem, ways=ways):
    each = [list(ways(problem, group)) for group in range(problem.num_groups)]
    for chosen in product(*each):
        bin_of = np.array([b for places, _ in chosen for b in places], dtype=np.int32)
        role_of = np.array([holder for _, holder in chosen], dtype=np.int64)
        yield Arrangement(bin_of, role_of)


def is_enumerable(problem):
    sizes = np.diff(problem.group_start).tolist()
    return prod(max(problem.num_bins, 1) ** n * max(n, 1) for n in sizes) <= MOST_WAYS


def is_within(problem, at, bands) -> bool:
    """Whether the loads of an arrangement are within bands."""
    load = loads(problem, at)
    return bool(((load >= bands.lower) & (load <= bands.upper)).all())


def legal(problem, ways=ways):
    """Every arrangement that keeps the hard rules, with its worth by the oracle."""

    def legal_ways(problem, group):
        # No group's rules depend on another group: so few are left to be combined.
        for places, holder in ways(problem, group):
            if not any(illegal_in(problem, group, places, holder)):
                yield places, holder

    for at in every_arrangement(problem, legal_ways):
        value = naive_value(problem, at)
        if value.unmet + value.broken_groups + value.over_capacity == 0:
            yield at, value


def worst_of(known):
    """The dearest of those that are nearest to the bands: the most there is to gain."""
    in_band = [one for one in known if not one[1].deviation]
    found = in_band or known
    return max(found, key=lambda one: (one[1].cost, one[1].moves, one[1].role_changes))
