"""Rows, relaxation and search of separable nodes, against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import Bands, reached_bands
from placement.core.exact.cp_sat.roles_model import roles_within
from placement.core.exact.one_node import item_exchanges
from placement.core.exact.one_node.item_exchanges import Exchanges
from placement.core.exact.one_node.node_program import solve_program
from placement.core.exact.one_node.node_relaxation import (
    bound_of,
    proof_of,
    reduced_costs,
    relaxed_bound,
    solve_relaxation,
)
from placement.core.exact.one_node.node_rows import NodeRows
from placement.core.exact.one_node.node_search import NodeSearch
from placement.core.exact.separable_levels import NodeBins, separable_nodes
from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.problem import NOWHERE, Movability
from placement.core.model.solution import Bounded
from placement.core.verify.load_prices import verify_prices
from support.crowded import all_bins, crowd, of_crowd
from support.every_way import worst_of
from support.problems import make_problem
from support.racked import RACKS, all_legal, racked, within


def rows_of(problem, at, *, number=0):
    """The rows of one rack, for the bands that an arrangement reaches."""
    bands = reached_bands(problem, at)
    return NodeRows(problem, bands, separable_nodes(problem)[number], at), bands


def cheapest(problem, bands, rows):
    """What the places of a rack cost at least, of all arrangements in the bands."""
    return min(rows.cost_of(rows.columns_of(at)) for at, _ in within(problem, bands))


@pytest.mark.slow
@settings(max_examples=30)
@given(racked(), st.data())
def test_no_prices_prove_more_than_the_least_cost(problem, data):
    at, _ = worst_of(all_legal(problem))
    rows, bands = rows_of(problem, at)
    price = st.sampled_from([0.0, 1e-6, 0.3, 1.0, 7.5, 1e6])
    prices = np.array([data.draw(price) for _ in rows.rows])

    assert bound_of(rows, prices) <= cheapest(problem, bands, rows)


@pytest.mark.slow
@settings(max_examples=30)
@given(racked())
def test_the_relaxation_costs_no_more_than_any_arrangement(problem):
    at, _ = worst_of(all_legal(problem))
    rows, bands = rows_of(problem, at)

    relaxed = solve_relaxation(rows)

    least = cheapest(problem, bands, rows)
    # The simplex method keeps to rows but for a ten millionth of their largest weight.
    near = 1e-6 * int(rows.cost.max(initial=0))
    assert float(relaxed.columns @ rows.cost) <= least + near
    assert bound_of(rows, relaxed.prices) <= least


@pytest.mark.slow
@settings(max_examples=30)
@given(racked())
def test_every_arrangement_within_the_bands_keeps_the_rows(problem):
    at, _ = worst_of(all_legal(problem))
    rows, bands = rows_of(problem, at)

    assert all(rows.holds(rows.columns_of(one)) for one, _ in within(problem, bands))


@pytest.mark.slow
@settings(max_examples=30)
@given(racked())
def test_prices_of_all_racks_prove_no_more_than_the_least_cost(problem):
    at, _ = worst_of(all_legal(problem))
    prices = {}
    for number, _ in enumerate(separable_nodes(problem)):
        rows, bands = rows_of(problem, at, number=number)
        relaxed = solve_relaxation(rows)
        of_bands = zip(rows.rows, relaxed.prices, strict=True)
        prices |= {row.band: price for row, price in of_bands if row.band}

    bound, _ = proof_of(problem, bands, prices)

    assert bound <= min(value.cost for _, value in within(problem, bands))


@pytest.mark.slow
@settings(max_examples=30)
@given(racked())
def test_the_relaxation_of_all_bins_proves_no_more_than_the_least_cost(problem):
    at, _ = worst_of(all_legal(problem))
    bands = reached_bands(problem, at)

    bound, proof = relaxed_bound(problem, bands)

    assert bound <= min(value.cost for _, value in within(problem, bands))
    if proof is not None:
        checked = verify_prices(problem, bands.lower, bands.upper, proof.witness)
        assert checked == bound


def test_an_item_without_a_home_is_copied_to_any_bin():
    problem = make_problem(
        [[NOWHERE, 0]],
        num_bins=4,
        racks=RACKS,
        weight=[5],
        cost=[7],
        lower=0,
        upper=10,
        target=5.0,
    )
    at = Arrangement(np.array([2, 0], dtype=np.int32), np.array([1]))

    rows, _ = rows_of(problem, at, number=1)

    assert rows.groups.tolist() == [0, 0]
    assert rows.bins.tolist() == [2, 3]
    assert rows.cost.tolist() == [7, 7]


@settings(max_examples=40)
@given(crowd())
def test_no_exchange_of_up_to_four_items_is_left(problem):
    rows, columns, ways = of_crowd(problem)
    relaxed = solve_relaxation(rows)
    exchanges = Exchanges(rows, relaxed, 0.0, np.random.default_rng(1))

    found = exchanges.improved(columns, 20.0)

    assert rows.is_solution(found)
    assert rows.cost_of(found) <= rows.cost_of(columns)
    for way in ways:
        if int((found & ~way).sum()) <= 4:
            assert rows.cost_of(way) >= rows.cost_of(found)


@pytest.mark.parametrize("number", range(len(item_exchanges.STAGES)))
@settings(max_examples=10)
@given(problem=crowd(), work=st.sampled_from([0.001, 20.0]), data=st.data())
def test_each_stage_keeps_the_rows_and_never_costs_more(number, problem, work, data):
    rows, columns, ways = of_crowd(problem)
    relaxed = solve_relaxation(rows)
    least = min(rows.cost_of(way) for way in ways)
    bound = data.draw(st.integers(0, least))
    stage = item_exchanges.STAGES[number]._replace(work=0.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_exchanges, "STAGES", (stage,))
        # With so few, halves and pairs are left out as with millions.
        patch.setattr(item_exchanges, "MOST_KEPT", 8)
        patch.setattr(item_exchanges, "MOST_JOINED", 20)
        exchanges = Exchanges(rows, relaxed, 0.0, np.random.default_rng(1))
        found = exchanges.improved(columns, work, bound)

    assert rows.is_solution(found)
    assert least <= rows.cost_of(found) <= rows.cost_of(columns)


def test_halves_near_zero_are_pairs_of_sets_each_once():
    sizes = [7, 9, 16, 23, 25, 40]
    problem = make_problem(
        [[0]] * 3 + [[1]] * 3, num_bins=2, weight=sizes, cost=sizes, target=60.0
    )
    bands = Bands(np.array([[59], [59]]), np.array([[61], [61]]))
    rows = NodeRows(problem, bands, all_bins(problem), None)
    columns = rows.bins == np.repeat([0, 1, 0, 1, 0, 1], 2)
    exchanges = Exchanges(rows, solve_relaxation(rows), 0.0, np.random.default_rng(1))
    exchanges._end = 20.0
    slack = exchanges._tight.slack(columns)
    cost = rows.cost_of(columns)
    moves = exchanges._moves(columns, cost + 1000, exchanges._tight.are_tight(slack))
    stage = next(one for one in item_exchanges.STAGES if one.is_near_zero)

    halves = exchanges._halves(moves, slack, cost, stage)

    sets = [tuple(one for one in row if one < len(moves)) for row in halves.moves]
    assert len(set(sets)) == len(sets)
    assert {len(one) for one in sets} == {0, 1, 2, 3, 4}
    assert (np.diff(halves.cost) >= 0).all()


@pytest.mark.slow
@settings(max_examples=40)
@given(crowd(), st.sampled_from([0.0, 1e-6]))
def test_branch_and_cut_finds_the_least(problem, closed):
    rows, columns, ways = of_crowd(problem)
    relaxed = solve_relaxation(rows)

    found = solve_program(rows, relaxed, columns, closed=closed, work=20.0)

    least = min(rows.cost_of(way) for way in ways)
    assert found.is_best
    assert found.bound <= least
    assert rows.is_solution(found.columns)
    assert rows.cost_of(found.columns) == least


@st.composite
def loose(draw):
    """Rows of three bins that hold one or two items of each of up to four groups."""
    count = draw(st.integers(1, 4))
    weight = draw(st.lists(st.integers(1, 20), min_size=count, max_size=count))
    pairs = st.permutations(range(3)).map(lambda order: order[:2])
    problem = make_problem(
        [draw(pairs) for _ in range(count)],
        num_bins=3,
        weight=weight,
        cost=draw(st.lists(st.integers(0, 20), min_size=count, max_size=count)),
        movability=draw(
            st.lists(
                st.sampled_from([Movability.MAY, Movability.MAY, Movability.NEVER]),
                min_size=2 * count,
                max_size=2 * count,
            )
        ),
        lower=draw(st.integers(0, sum(weight) // 3)),
        upper=2 * sum(weight),
        target=10.0,
    )
    least = np.array([draw(st.integers(0, 1)) for _ in range(count)])
    node = NodeBins((0, 1, 2), least, np.full(count, 2))
    bands = Bands(problem.bins.lower, problem.bins.upper)
    rows = NodeRows(problem, bands, node, None)
    choices = itertools.product([False, True], repeat=len(rows))
    ways = [way for way in map(np.array, choices) if rows.is_solution(way)]
    return rows, ways


def test_a_column_that_may_be_taken_besides_raises_the_bound_by_its_price_alone():
    # Bin 0 has to hold 10, at a price of 1: the item in bin 1 may stay all the same.
    problem = make_problem([[0, 1]], num_bins=2, weight=10, lower=[10, 0], target=10.0)
    node = NodeBins((0, 1), np.array([1]), np.array([2]))
    bands = Bands(problem.bins.lower, problem.bins.upper)
    rows = NodeRows(problem, bands, node, None)

    least, extra = reduced_costs(rows, np.array([1.0]))

    assert (least, extra.tolist()) == (0.0, [0.0, 0.0])


@settings(max_examples=100)
@given(loose(), st.data())
def test_no_column_of_a_solution_has_more_reduced_cost_than_the_solution(drawn, data):
    rows, ways = drawn
    price = st.sampled_from([0.0, 0.25, 1.0, 3.0])
    prices = np.array([data.draw(price) for _ in rows.rows])

    least, extra = reduced_costs(rows, prices)

    for way in ways:
        assert rows.cost_of(way) >= least + extra[way].max(initial=0.0) - 1e-9


@settings(max_examples=100)
@given(loose(), st.data())
def test_branch_and_cut_finds_the_least_where_counts_are_loose(drawn, data):
    rows, ways = drawn
    relaxed = solve_relaxation(rows)
    assume(ways)
    known = data.draw(st.sampled_from(ways))

    found = solve_program(rows, relaxed, known, closed=0.0, work=20.0)

    least = min(rows.cost_of(way) for way in ways)
    assert found.bound <= least
    assert rows.cost_of(found.columns) == least


@pytest.mark.not_quick
@settings(max_examples=20)
@given(crowd(), st.sampled_from([1e-6, 1e-4, 1e-3]))
def test_branch_and_cut_of_little_work_ends_alike_and_proves_no_more(problem, work):
    rows, columns, ways = of_crowd(problem)
    relaxed = solve_relaxation(rows)

    first, second = (
        solve_program(rows, relaxed, columns, closed=0.0, work=work) for _ in range(2)
    )

    assert first.bound == second.bound <= min(rows.cost_of(way) for way in ways)
    assert first.spent == second.spent
    if first.columns is not None:
        assert rows.is_solution(first.columns)
        assert np.array_equal(first.columns, second.columns)


@pytest.mark.slow
@settings(max_examples=30)
@given(racked())
def test_with_known_roles_rows_hold_where_loads_are_within_the_bands(problem):
    known = all_legal(problem)
    at, _ = worst_of(known)
    bands = reached_bands(problem, at)
    node = separable_nodes(problem)[0]
    inside = list(node.bins)
    for one, _ in known:
        leads = np.isin(one.bin_of[one.role_of], inside)
        rows = NodeRows(problem, bands, node, None, leads)
        load = loads(problem, one)[inside]
        is_within = bool(
            (load >= bands.lower[inside]).all() and (load <= bands.upper[inside]).all()
        )
        assert rows.holds(rows.columns_of(one)) == is_within


@settings(max_examples=40)
@given(crowd())
def test_the_search_of_a_node_finds_the_least(problem):
    rows, columns, ways = of_crowd(problem)
    relaxed = solve_relaxation(rows)
    found = NodeSearch(rows, relaxed, 0.0).searched(columns, (20.0, lambda: None))

    least = min(rows.cost_of(way) for way in ways)
    assert rows.is_solution(found.columns)
    assert rows.cost_of(found.columns) == least
    assert found.bound <= least


@pytest.mark.slow
@settings(max_examples=30)
@given(racked())
def test_roles_are_found_where_there_are_some_for_the_bands(problem):
    at, _ = worst_of(all_legal(problem))
    reached = reached_bands(problem, at)
    # Rows are rounded inwards, by less than this.
    room = reached.upper // 10**6 + 1
    bands = Bands(reached.lower - room, reached.upper + room)

    found, _ = roles_within(problem, at, bands, at, 5.0)

    assert found is not None
    assert np.array_equal(found.bin_of, at.bin_of)
    load = loads(problem, found)
    assert (load >= bands.lower).all()
    assert (load <= bands.upper).all()


def test_a_millionth_more_than_a_bound_is_the_least():
    assert Bounded(value=10**9 + 1_000, lower_bound=10**9).is_least
    assert not Bounded(value=10**9 + 1_001, lower_bound=10**9).is_least
    assert not Bounded(value=1, lower_bound=0).is_least
