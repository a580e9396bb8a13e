"""Even counts by the fewest moves, against looking at every spread there is."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.flow import equitable_flow, even_counts
from placement.core.flow.even_counts import (
    COST_STEPS,
    EvenCounts,
    node_bounds,
    spread_evenly,
)
from placement.core.roles.even_roles import even_roles


def problem_of(
    homes: list[list[int]],
    *,
    open_bins: list[int],
    nodes: list[int],
    kinds: list[int] | None = None,
    cost: list[int] | None = None,
    leads: list[int] | None = None,
) -> EvenCounts:
    is_open = np.zeros(len(nodes), dtype=np.bool_)
    is_open[open_bins] = True
    return EvenCounts(
        group_start=np.cumsum([0, *map(len, homes)], dtype=np.int64),
        home=np.array([b for row in homes for b in row], dtype=np.int32),
        kind_of_group=np.array(kinds or [0] * len(homes), dtype=np.int32),
        cost=np.array(cost or [1] * len(homes), dtype=np.int64),
        leads=np.array(
            [
                at == (leads or [0] * len(homes))[g]
                for g, row in enumerate(homes)
                for at in range(len(row))
            ],
            dtype=np.bool_,
        ),
        is_open=is_open,
        node_of_bin=np.array(nodes, dtype=np.int32),
    )


def rows_of(problem: EvenCounts, bin_of) -> list[tuple[int, ...]]:
    start = problem.group_start.tolist()
    return [tuple(bin_of[a:b].tolist()) for a, b in itertools.pairwise(start)]


def is_spread(bins: tuple[int, ...], problem: EvenCounts) -> bool:
    """Whether no node with a free bin holds two items less than another."""
    node_of = problem.node_of_bin.tolist()
    opened = Counter(node_of[b] for b in np.nonzero(problem.is_open)[0].tolist())
    held = Counter(node_of[b] for b in bins)
    return all(
        held[full] < held[free] + 2
        for full, free in itertools.permutations(opened, 2)
        if held[free] < opened[free]
    )


def squares(problem: EvenCounts, rows) -> int:
    return sum(n * n for n in Counter(b for row in rows for b in row).values())


def moves(problem: EvenCounts, rows) -> int:
    homes = rows_of(problem, problem.home)
    return sum(len(set(row) - set(home)) for row, home in zip(rows, homes, strict=True))


def beyond_kinds(problem: EvenCounts, rows) -> int:
    """Items beyond an even spread of their kind, and those short of it."""
    kinds = problem.kind_of_group.tolist()
    bins = np.nonzero(problem.is_open)[0].tolist()
    beyond = 0
    for kind in set(kinds):
        held = Counter(
            b for row, k in zip(rows, kinds, strict=True) if k == kind for b in row
        )
        low, rest = divmod(held.total(), len(bins))
        high = low + (rest > 0)
        beyond += sum(max(held[b] - high, 0) + max(low - held[b], 0) for b in bins)
    return beyond


def worth(problem: EvenCounts, rows) -> tuple[int, int, int]:
    return (
        squares(problem, rows),
        moves(problem, rows),
        beyond_kinds(problem, rows) if len(set(problem.kind_of_group)) > 1 else 0,
    )


def steps_moved(problem: EvenCounts, rows) -> int:
    """What the moves cost, in the steps that are told apart."""
    dearest = max(int(problem.cost.max()), 0)
    homes = rows_of(problem, problem.home)
    return sum(
        len(set(row) - set(home)) * int(cost / dearest * (COST_STEPS - 1))
        for row, home, cost in zip(rows, homes, problem.cost.tolist(), strict=True)
        if dearest
    )


def leads_moved(problem: EvenCounts, rows) -> int:
    start = problem.group_start.tolist()
    return sum(
        bool(problem.leads[row]) and int(problem.home[row]) not in rows[group]
        for group, (a, b) in enumerate(itertools.pairwise(start))
        for row in range(a, b)
    )


def every_spread(problem: EvenCounts):
    bins = np.nonzero(problem.is_open)[0].tolist()
    choices = [
        [row for row in itertools.combinations(bins, size) if is_spread(row, problem)]
        for size in problem.sizes.tolist()
    ]
    return itertools.product(*choices)


@st.composite
def problems(draw, *, max_groups=4, max_bins=5):
    num_bins = draw(st.integers(1, max_bins))
    one_each = {"min_size": num_bins, "max_size": num_bins}
    nodes = draw(st.lists(st.integers(0, 2), **one_each))
    open_bins = draw(st.sets(st.integers(0, num_bins - 1), min_size=1))
    most = min(3, len(open_bins))
    homes = st.lists(
        st.integers(0, num_bins - 1), min_size=1, max_size=most, unique=True
    )
    rows = draw(st.lists(homes, min_size=1, max_size=max_groups))
    per_group = {"min_size": len(rows), "max_size": len(rows)}
    return problem_of(
        rows,
        open_bins=sorted(open_bins),
        nodes=nodes,
        kinds=sorted(draw(st.lists(st.integers(0, 1), **per_group))),
        cost=draw(st.lists(st.integers(0, 3), **per_group)),
        leads=[draw(st.integers(0, len(row) - 1)) for row in rows],
    )


@settings(max_examples=150)
@given(problems())
def test_of_spreads_as_good_the_one_that_keeps_most_leads(problem):
    rows = rows_of(problem, spread_evenly(problem).bin_of)

    def whole_worth(other):
        found = steps_moved(problem, other), leads_moved(problem, other)
        return (*worth(problem, other), *found)

    assert whole_worth(rows) == min(map(whole_worth, every_spread(problem)))


@settings(max_examples=200)
@given(problems())
def test_no_spread_is_more_even_or_takes_fewer_moves(problem):
    spread = spread_evenly(problem)

    rows = rows_of(problem, spread.bin_of)
    assert spread.is_least
    assert all(is_spread(row, problem) for row in rows)
    assert all(problem.is_open[b] for row in rows for b in row)
    best = min(worth(problem, other) for other in every_spread(problem))
    assert worth(problem, rows) == best


@pytest.mark.parametrize(
    ("homes", "nodes", "best"),
    [
        # The node of three bins is full at four items, and must be.
        pytest.param(
            [[0], [0, 3], [0, 1, 2], [0, 1, 2]],
            [1, 0, 0, 2, 0],
            (19, 4, 0),
            id="a-full-node-stays-full",
        ),
        # It is full at four items, and three there are as even.
        pytest.param(
            [[0], [0], [0, 1, 2], [1, 2]],
            [1, 0, 0, 0, 2],
            (11, 3, 0),
            id="a-full-node-need-not-be-full",
        ),
    ],
)
def test_nodes_that_limit_what_bins_can_have(homes, nodes, best):
    problem = problem_of(homes, open_bins=[0, 1, 2, 3, 4], nodes=nodes)

    rows = rows_of(problem, spread_evenly(problem).bin_of)

    assert (
        worth(problem, rows)
        == best
        == min(worth(problem, other) for other in every_spread(problem))
    )


@pytest.mark.parametrize("seed", range(5))
def test_no_spread_of_crowded_bins_is_better(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        num_bins = int(rng.integers(3, 6))
        sizes = rng.integers(1, 4, size=int(rng.integers(2, 5))).tolist()
        problem = problem_of(
            # Everything crowds the first bins, as before brokers are added.
            [rng.permutation(size).tolist() for size in sizes],
            open_bins=list(range(num_bins)),
            nodes=rng.integers(0, 3, size=num_bins).tolist(),
            kinds=sorted(rng.integers(0, 2, size=len(sizes)).tolist()),
        )

        rows = rows_of(problem, spread_evenly(problem).bin_of)

        best = min(worth(problem, other) for other in every_spread(problem))
        assert worth(problem, rows) == best


@settings(max_examples=100)
@given(problems())
def test_an_item_that_can_stay_does(problem):
    spread = spread_evenly(problem)

    rows = zip(
        rows_of(problem, problem.home), rows_of(problem, spread.bin_of), strict=True
    )
    for home, row in rows:
        stayed = [b for b, was in zip(row, home, strict=True) if b == was]
        assert set(stayed) == set(home) & set(row)
        assert len(set(row)) == len(row)


@settings(max_examples=100)
@given(problems(max_groups=8))
def test_a_second_time_nothing_moves(problem):
    once = spread_evenly(problem)
    again = problem_of(
        [list(row) for row in rows_of(problem, once.bin_of)],
        open_bins=np.nonzero(problem.is_open)[0].tolist(),
        nodes=problem.node_of_bin.tolist(),
        kinds=problem.kind_of_group.tolist(),
        cost=problem.cost.tolist(),
    )

    assert np.array_equal(spread_evenly(again).bin_of, once.bin_of)


@settings(max_examples=60)
@given(problems(max_groups=8))
def test_in_pieces_it_is_as_even_where_nodes_allow_it(problem):
    flat = problem_of(
        [list(row) for row in rows_of(problem, problem.home)],
        open_bins=np.nonzero(problem.is_open)[0].tolist(),
        nodes=list(range(len(problem.node_of_bin))),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(even_counts, "MAX_ARCS", 1)
        pieces = spread_evenly(flat)
    whole = spread_evenly(flat)

    counts = np.bincount(pieces.bin_of, minlength=len(flat.is_open))[flat.is_open]
    assert counts.max() - counts.min() <= 1
    assert pieces.is_least == (flat.num_groups == 1)
    assert moves(flat, rows_of(flat, pieces.bin_of)) >= moves(
        flat, rows_of(flat, whole.bin_of)
    )


def test_a_node_of_few_bins_holds_as_much_as_it_must():
    # Node 1 has one bin, and must hold one item of every group.
    homes = [[0, 1], [1, 2], [2, 0], [0, 2]]
    problem = problem_of(homes, open_bins=[0, 1, 2, 3], nodes=[0, 0, 0, 1])

    rows = rows_of(problem, spread_evenly(problem).bin_of)

    assert Counter(b for row in rows for b in row)[3] == 4
    assert worth(problem, rows) == min(
        worth(problem, other) for other in every_spread(problem)
    )


def test_far_from_even_the_window_grows():
    # Bin 2 is a node of its own and takes one item of each of thirty groups.
    homes = [[0, 1] for _ in range(30)]
    problem = problem_of(homes, open_bins=[0, 1, 2], nodes=[0, 0, 1])

    rows = rows_of(problem, spread_evenly(problem).bin_of)

    held = Counter(b for row in rows for b in row)
    assert held == {0: 15, 1: 15, 2: 30}
    assert moves(problem, rows) == 30


def test_of_as_few_moves_the_cheaper_ones():
    homes = [[0], [0], [0], [0]]
    cost = [50, 7, 90, 8]
    problem = problem_of(homes, open_bins=[0, 1], nodes=[0, 1], cost=cost)

    rows = rows_of(problem, spread_evenly(problem).bin_of)

    assert rows == [(0,), (1,), (0,), (1,)]


def test_kinds_are_even_where_that_takes_no_further_move():
    homes = [[0], [0], [0], [0]]
    problem = problem_of(
        homes, open_bins=[0, 1], nodes=[0, 1], kinds=[0, 0, 1, 1], cost=[1, 1, 9, 9]
    )

    rows = rows_of(problem, spread_evenly(problem).bin_of)

    assert sorted(rows[:2]) == sorted(rows[2:]) == [(0,), (1,)]


def test_a_move_is_never_made_for_kinds_alone():
    homes = [[0], [0], [1], [1]]
    problem = problem_of(homes, open_bins=[0, 1], nodes=[0, 1], kinds=[0, 0, 1, 1])

    assert rows_of(problem, spread_evenly(problem).bin_of) == [(0,), (0,), (1,), (1,)]


def test_more_items_than_bins_are_refused():
    with pytest.raises(ValueError, match="more items than the 1 open bins"):
        spread_evenly(problem_of([[0, 1]], open_bins=[0], nodes=[0, 1]))


def test_nothing_is_spread_over_nothing():
    problem = problem_of([], open_bins=[], nodes=[])

    assert len(spread_evenly(problem).bin_of) == 0


@given(st.integers(1, 6), st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_node_bounds_leave_exactly_the_even_spreads(size, open_bins):
    if size > sum(open_bins):
        return
    least, most = node_bounds(np.array([size]), np.array(open_bins))

    nodes = [k for k, count in enumerate(open_bins) for _ in range(count)]
    every = range(len(nodes))
    problem = problem_of([], open_bins=list(every), nodes=nodes)
    for bins in itertools.combinations(every, size):
        held = np.bincount([nodes[b] for b in bins], minlength=len(open_bins))
        within = bool(((held >= least[0]) & (held <= most[0])).all())
        assert within == is_spread(bins, problem)


@st.composite
def placed_groups(draw):
    num_bins = draw(st.integers(1, 4))
    row = st.lists(st.integers(0, num_bins - 1), min_size=1, max_size=3, unique=True)
    rows = draw(st.lists(row, min_size=1, max_size=5))
    start = np.cumsum([0, *map(len, rows)])
    home = [draw(st.sampled_from([b, b, (b + 1) % num_bins])) for r in rows for b in r]
    may_hold = draw(st.lists(st.booleans(), min_size=num_bins, max_size=num_bins))
    return (
        start,
        np.array([b for r in rows for b in r], dtype=np.int32),
        np.array(home, dtype=np.int32),
        np.array(may_hold, dtype=np.bool_),
    )


@settings(max_examples=200)
@given(placed_groups())
def test_no_sharing_out_of_roles_is_more_even_or_changes_fewer(given_groups):
    start, bin_of, home, may_hold = given_groups
    groups = list(itertools.pairwise(start.tolist()))
    choices = [
        [i for i in range(a, b) if may_hold[bin_of[i]]] or [a] for a, b in groups
    ]

    def value(roles):
        led = Counter(
            int(bin_of[i])
            for i, options in zip(roles, choices, strict=True)
            if may_hold[bin_of[options[0]]]
        )
        changes = sum(
            i != a or bin_of[a] != home[a]
            for i, (a, _) in zip(roles, groups, strict=True)
        )
        came = sum(
            bin_of[i] != home[i] for i, (a, _) in zip(roles, groups, strict=True)
        )
        return sum(n * n for n in led.values()), changes, came

    roles = even_roles(start, bin_of, home, may_hold).tolist()

    assert all(i in options for i, options in zip(roles, choices, strict=True))
    assert value(roles) == min(map(value, itertools.product(*choices)))


@settings(max_examples=60)
@given(problems())
def test_where_costs_would_grow_too_large_only_ties_suffer(problem):
    moves_alone = (int(problem.sizes.sum()) + 2) ** 2
    with pytest.MonkeyPatch.context() as patch:
        # Enough for moves, far too little for kinds and costs besides.
        patch.setattr(equitable_flow, "MAX_COST", 400 * moves_alone)
        spread = spread_evenly(problem)

    rows = rows_of(problem, spread.bin_of)
    best = min(worth(problem, other)[:2] for other in every_spread(problem))
    assert worth(problem, rows)[:2] == best


def test_costs_of_nothing_break_no_ties():
    problem = problem_of([[0], [0]], open_bins=[0, 1], nodes=[0, 1], cost=[0, 0])

    assert moves(problem, rows_of(problem, spread_evenly(problem).bin_of)) == 1


def test_a_problem_whose_costs_cannot_be_distinguished_is_refused():
    problem = problem_of([[0], [0]], open_bins=[0, 1], nodes=[0, 1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equitable_flow, "MAX_COST", 1)
        with pytest.raises(ValueError, match="too large"):
            spread_evenly(problem)
