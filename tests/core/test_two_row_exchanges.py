"""Exchanges with one part per priced row, against all exchanges of a few moves."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.exact.one_node.half_pairs import Window
from placement.core.exact.one_node.item_moves import ItemMoves
from placement.core.exact.one_node.move_sets import (
    product,
    sets_up_to,
    subsets,
)
from placement.core.exact.one_node.two_row_exchanges import (
    FULL_WORK,
    RowTargets,
    TwoRowExchanges,
)

NUM_ROWS = 4


def rng():
    return np.random.default_rng(1)


def moves_of(changes, groups, costs):
    """Moves of single items, each with one destination; ``(rows, k)`` changes."""
    changes = np.array(changes, dtype=np.int64).reshape(NUM_ROWS, -1)
    num = changes.shape[1]
    change = np.zeros((NUM_ROWS, num + 1, 1), dtype=np.int64)
    change[:, :-1, 0] = changes
    return ItemMoves(
        out=np.arange(num),
        into=np.arange(num)[:, None],
        num_into=np.ones(num + 1, dtype=np.int64),
        group=np.array([*groups, -1], dtype=np.int64),
        cost=np.array([*costs, 0], dtype=np.int64),
        change=change,
    )


@st.composite
def cases(draw):
    """Few moves, of the first row, of the second one or of neither, and targets."""
    load, size = st.integers(-9, 9), draw(st.integers(1, 7))
    columns = []
    for _ in range(size):
        kind = draw(st.sampled_from("ab-"))
        first, second = draw(load) * (kind == "a"), draw(load) * (kind == "b")
        columns.append([first, second, draw(load), draw(load)])
    groups = [draw(st.integers(0, size - 1)) for _ in range(size)]
    costs = [draw(st.integers(-9, 9)) for _ in range(size)]
    slack = np.array([draw(st.integers(0, 6)) for _ in range(NUM_ROWS)])
    width = [draw(st.integers(0, 8)) for _ in range(3)]
    window = {row: Window(slack[row] - width[row], slack[row] + 1) for row in range(3)}
    targets = RowTargets(
        priced=(0, 1),
        window=window,
        cost=Window(-draw(st.integers(1, 20)), 0),
        slack=slack,
        at_risk=range(NUM_ROWS),
    )
    return moves_of(np.transpose(columns), groups, costs), targets


def is_wanted(moves, targets, chosen):
    """Whether moves of different groups keep all rows and reach all targets."""
    groups = moves.group[list(chosen)].tolist()
    change = moves.change[:, list(chosen), 0].sum(axis=1)
    cost = moves.cost[list(chosen)].sum()
    return (
        len(set(groups)) == len(groups)
        and (change <= targets.slack).all()
        and targets.cost.low <= cost < targets.cost.high
        and all(
            window.low <= change[row] < window.high
            for row, window in targets.window.items()
            if row in targets.priced
        )
    )


def is_examined(moves, targets, chosen):
    """Whether no part sends more than five items, and the third row is filled."""
    change = moves.change[:, list(chosen), 0]
    sent_first = ((change[1] == 0) & (change[0] <= 0)).sum()
    sent_second = ((change[1] != 0) & (change[1] <= 0)).sum()
    window = targets.window[2]
    is_filled = window.low <= change[2].sum() < window.high
    return sent_first <= 5 and sent_second <= 5 and is_filled


@settings(max_examples=300)
@given(cases())
def test_all_exchanges_that_keep_the_rows_and_reach_the_targets_are_found(case):
    moves, targets = case
    search = TwoRowExchanges(moves, targets, FULL_WORK, rng())

    found = {
        tuple(sorted(row[row < len(moves)].tolist()))
        for exchanges in search.found(10**6)
        for row in exchanges
    }

    every = [
        chosen
        for size in range(1, len(moves) + 1)
        for chosen in combinations(range(len(moves)), size)
    ]
    wanted = {chosen for chosen in every if is_wanted(moves, targets, chosen)}
    assert found <= wanted
    assert {one for one in wanted if is_examined(moves, targets, one)} <= found


def test_the_cheapest_exchanges_come_first():
    costs = [-1, -5, -3]
    moves = moves_of([[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]], [0, 1, 2], costs)
    window = {row: Window(0, 9) for row in range(3)}
    targets = RowTargets((0, 1), window, Window(-6, 0), np.full(4, 8), range(4))

    exchanges = [
        moves.cost[row].sum()
        for block in TwoRowExchanges(moves, targets, FULL_WORK, rng()).found(2)
        for row in block
    ]

    assert exchanges[:2] == [-6, -5]


def test_less_work_examines_less():
    num = 60
    own = rng().integers(-1000, 1000, num)
    changes = np.zeros((NUM_ROWS, num), dtype=np.int64)
    changes[0, ::2], changes[1, 1::2] = own[::2], own[1::2]
    moves = moves_of(changes, range(num), [-1] * num)
    window = {row: Window(-50, 51) for row in (0, 1)}
    targets = RowTargets((0, 1), window, Window(-900, 0), np.full(4, 50), range(4))

    spent = []
    for work in (FULL_WORK, FULL_WORK / 100):
        search = TwoRowExchanges(moves, targets, work, rng())
        assert any(len(block) for block in search.found(100))
        spent.append(search.spent)

    assert spent[1] < spent[0] / 2


@pytest.mark.parametrize("most", [3, 100])
def test_a_product_has_each_pair_of_rows_at_most_once(most):
    factors = np.arange(4)[:, None], np.arange(6)[:, None]

    sets = product(factors, most, rng())

    pairs = list(zip(*(rows.tolist() for rows in sets.rows), strict=True))
    assert len(set(pairs)) == len(pairs) == min(most, 24)
    assert sets.moves().tolist() == [list(pair) for pair in pairs]
    values = np.array([1, 10, 100, 1000, 10_000, 100_000])
    assert sets.summed(values).tolist() == values[sets.moves()].sum(axis=1).tolist()


def test_sets_are_all_up_to_a_size_and_of_different_groups():
    moves = moves_of(np.zeros((NUM_ROWS, 5)), [0, 0, 1, 2, 3], [0] * 5)
    numbers = np.array([0, 1, 2, 4])

    three = sets_up_to(moves, numbers, 3, 100, rng())
    all_sizes = subsets(moves, numbers)

    def named(sets):
        return sorted(tuple(row[row < 5].tolist()) for row in sets)

    every = [
        chosen
        for size in range(5)
        for chosen in combinations(numbers.tolist(), size)
        if not {0, 1} <= set(chosen)
    ]
    assert named(all_sizes) == sorted(every)
    assert named(three) == sorted(one for one in every if len(one) <= 3)
