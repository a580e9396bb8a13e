"""Counts on bins against brute force, general solvers, and their own proofs."""

import itertools
from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.counts import count_network
from placement.core.counts.count_bounds import cost_bound, peak_bound, share_bound
from placement.core.counts.count_flow import share_evenly, shares
from placement.core.counts.count_problem import CountProblem, sum_by
from placement.core.counts.solve_counts import solve_evenly


def problem_of(classes, num_bins, homes=None, prices=None, shares=None):
    """Each class: how many items, and the bins that may hold them."""
    start = np.cumsum([0, *(len(bins) for _, bins in classes)])
    size = int(start[-1])
    return CountProblem(
        num_bins=num_bins,
        class_start=start,
        edge_bin=np.array([b for _, bins in classes for b in bins], dtype=np.int64),
        supply=np.array([items for items, _ in classes], dtype=np.int64),
        home=np.array(homes or [0] * size, dtype=np.int64),
        price=None if prices is None else np.array(prices, dtype=np.int64),
        **({} if shares is None else share_columns(shares)),
    )


def share_columns(shares):
    """The least and the most on each edge, and what each item outside costs."""
    low, high = np.array(shares, dtype=np.int64).reshape(-1, 2).T
    return {"share_low": low.copy(), "share_high": high.copy(), "share_price": 7}


@st.composite
def count_problems(
    draw, max_bins=4, max_classes=4, max_items=4, has_prices=None, has_shares=None
):
    num_bins = draw(st.integers(1, max_bins))
    bins = st.lists(
        st.integers(0, num_bins - 1), min_size=1, unique=True, max_size=max_bins
    ).map(sorted)
    classes, homes = [], []
    for _ in range(draw(st.integers(1, max_classes))):
        items, readers = draw(st.integers(0, max_items)), draw(bins)
        left = draw(st.integers(0, items))
        for _ in readers:
            homes.append(draw(st.integers(0, left)))
            left -= homes[-1]
        classes.append((items, readers))
    priced = draw(st.booleans()) if has_prices is None else has_prices
    prices = [draw(st.integers(0, 3)) for _ in homes] if priced else None
    shares = None
    if has_shares if has_shares is not None else draw(st.booleans()):
        shares = [
            sorted((draw(st.integers(0, 3)), draw(st.integers(0, 3)))) for _ in homes
        ]
    return problem_of(classes, num_bins, homes, prices, shares)


def ways(items, places):
    if places == 1:
        yield (items,)
        return
    for here in range(items + 1):
        for rest in ways(items - here, places - 1):
            yield (here, *rest)


def cost_of(problem, count):
    kept = np.minimum(count, problem.home).sum()
    paid = 0 if problem.price is None else (count * problem.price).sum()
    low, high = problem.shares
    outside = np.maximum(count - high, 0) + np.maximum(low - count, 0)
    owed = problem.share_price * outside.sum()
    return int(problem.home.sum() - kept + paid + owed)


def best_by_brute_force(problem):
    """Sorted loads and cost of the best of all placements."""
    widths = np.diff(problem.class_start).tolist()
    each = [
        list(ways(n, w)) for n, w in zip(problem.supply.tolist(), widths, strict=True)
    ]
    found = []
    for chosen in product(*each):
        count = np.array([x for one in chosen for x in one], dtype=np.int64)
        load = sum_by(count, problem.edge_bin, problem.num_bins)
        found.append((sorted(load.tolist(), reverse=True), cost_of(problem, count)))
    return min(found)


def assert_sound(problem, solution):
    placed = sum_by(solution.count, problem.edge_class, problem.num_classes)
    assert placed.tolist() == problem.supply.tolist()
    assert (solution.count >= 0).all()
    assert solution.cost == cost_of(problem, solution.count)
    assert peak_bound(problem, solution.proof.peak_bins) == solution.load.max()
    assert cost_bound(problem, solution.proof) == solution.cost


@given(count_problems())
def test_is_as_even_and_as_cheap_as_brute_force(problem):
    solution = solve_evenly(problem)

    found = sorted(solution.load.tolist(), reverse=True), solution.cost
    assert found == best_by_brute_force(problem)
    assert_sound(problem, solution)


@settings(max_examples=30)
@given(count_problems(max_bins=8, max_classes=12, max_items=30))
def test_cost_is_that_of_a_general_flow_and_proven(problem):
    solution = solve_evenly(problem)

    assert_sound(problem, solution)
    assert solution.cost == least_cost_by_networkx(problem, solution)


def steps_of(problem, edge):
    """How many items cost how much each on an edge, besides its price."""
    marks = {0, int(problem.home[edge]), *(int(s[edge]) for s in problem.shares)}
    items = int(problem.supply.sum())
    ends = [*sorted(marks), items + max(marks)]
    low, high = (int(s[edge]) for s in problem.shares)
    for begin, end in itertools.pairwise(ends):
        outside = (begin >= high) - (begin < low)
        yield (
            end - begin,
            int(begin >= problem.home[edge]) + problem.share_price * outside,
        )


def least_cost_by_networkx(problem, solution):
    """A convex price per bin makes loads even; then edges cost as they do."""
    graph = nx.DiGraph()
    steep = 1_000 * (int(problem.supply.sum()) + 1)
    for k, items in enumerate(problem.supply.tolist()):
        graph.add_node(("class", k), demand=-items)
    graph.add_node("sink", demand=int(problem.supply.sum()))
    price = np.zeros(len(problem.home)) if problem.price is None else problem.price
    for e, b in enumerate(problem.edge_bin.tolist()):
        tail = ("class", int(problem.edge_class[e]))
        for at, (room, extra) in enumerate(steps_of(problem, e)):
            middle = (e, at)
            graph.add_edge(tail, middle, capacity=room, weight=int(price[e]) + extra)
            graph.add_edge(middle, ("bin", b), capacity=room, weight=0)
    for b in range(problem.num_bins):
        for level in range(int(solution.load.max()) + 1):
            step = ("step", b, level)
            graph.add_edge(("bin", b), step, capacity=1, weight=steep * level)
            graph.add_edge(step, "sink", capacity=1, weight=0)
    flow = nx.min_cost_flow(graph)
    total = nx.cost_of_flow(graph, flow)
    evenness = steep * sum(n * (n - 1) // 2 for n in solution.load.tolist())
    newcomers = int(problem.supply.sum() - problem.home.sum())
    within = problem.share_price * int(problem.shares[0].sum())
    return total - evenness - newcomers + within


@pytest.mark.slow
@settings(max_examples=25)
@given(count_problems(max_bins=6, max_classes=6, max_items=9))
def test_compiled_kernels_answer_the_same(problem):
    plain = solve_evenly(problem)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count_network, "MIN_EDGES_COMPILED", 0)
        compiled = solve_evenly(problem)

    assert compiled.count.tolist() == plain.count.tolist()


@given(
    count_problems(
        max_bins=6, max_classes=6, max_items=9, has_prices=False, has_shares=False
    )
)
def test_nothing_moves_when_asked_again(problem):
    first = solve_evenly(problem)

    again = solve_evenly(replace(problem, home=first.count.copy()))

    assert again.moves == 0
    assert sorted(again.load.tolist()) == sorted(first.load.tolist())


@pytest.mark.parametrize(
    ("classes", "num_bins", "loads"),
    [
        pytest.param([(7, [0, 1, 2])], 3, [3, 2, 2], id="one-class"),
        pytest.param([(9, [0]), (1, [0, 1])], 2, [9, 1], id="one-bin-has-to"),
        pytest.param([(10, [0, 1]), (20, [1, 2])], 3, [10, 10, 10], id="over-a-chain"),
        pytest.param([(0, [0, 1])], 2, [0, 0], id="nothing"),
        pytest.param([(5, [0]), (1, [1])], 3, [5, 1, 0], id="parts-apart"),
        # Seven forced onto four bins, five that may lie on any: all at one or two.
        pytest.param(
            [(7, [0, 1, 2, 3]), (5, list(range(8)))], 8, [2] * 4 + [1] * 4, id="merged"
        ),
    ],
)
def test_small_loads(classes, num_bins, loads):
    problem = problem_of(classes, num_bins)

    solution = solve_evenly(problem)

    assert sorted(solution.load.tolist(), reverse=True) == loads
    assert_sound(problem, solution)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"class_start": np.array([0, 1])}, "class_start must", id="start"),
        pytest.param({"edge_bin": np.array([0, 7])}, "lead to bins", id="no-such-bin"),
        pytest.param({"edge_bin": np.array([1, 1])}, "ascending", id="bin-twice"),
        pytest.param({"home": np.array([3, 0])}, "at home than", id="too-many-home"),
        pytest.param({"home": np.array([-1, 0])}, "not be negative", id="negative"),
        pytest.param({"price": np.array([-1, 0])}, "prices must", id="paid-for"),
    ],
)
def test_contradictions_are_refused(change, message):
    good = problem_of([(2, [0, 1])], 2)

    with pytest.raises(ValueError, match=message):
        replace(good, **change)


def test_a_class_without_bins_must_be_empty():
    with pytest.raises(ValueError, match="must be empty"):
        problem_of([(1, [])], 1)


def test_bounds_of_foreign_witnesses_are_no_higher():
    problem = problem_of([(6, [0, 1]), (1, [2])], 3)
    proof = solve_evenly(problem).proof

    assert peak_bound(problem, np.array([2])) == 1
    assert peak_bound(problem, np.zeros(0, dtype=np.int64)) == 0
    steep = replace(proof, class_potential=proof.class_potential - 5)
    assert cost_bound(problem, steep) == 0


@given(count_problems(max_bins=5, max_classes=5, max_items=9), st.data())
def test_shares_by_capacity_are_those_of_the_densest_bins(problem, data):
    wide = replace(
        problem, supply=problem.supply * 1000, home=problem.home * 0, price=None
    )
    draws = st.sampled_from([1.0, 2.0, 5.0])
    capacity = np.array([data.draw(draws) for _ in range(problem.num_bins)])

    network = share_evenly(wide, capacity)

    use = (shares(network, capacity) / capacity).max()
    densest = max(
        share_bound(wide, np.array(bins), capacity)
        for bins in all_sets(problem.num_bins)
    )
    assert use == pytest.approx(densest, abs=1.01 / capacity.min())


def all_sets(size):
    return [
        [b for b in range(size) if number >> b & 1] for number in range(1, 1 << size)
    ]
