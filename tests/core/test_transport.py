"""Flows of counts and of roles, against every arrangement and other flows."""

from dataclasses import fields, replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import Bands, aimed_bands
from placement.core.flow.transport import flow_proof, is_counts_alone, solve_counts
from placement.core.model.arrangement import home_arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import NO_LIMIT, NOWHERE, Movability, Problem
from placement.core.model.search_budget import NORMAL
from placement.core.model.solution import Status
from placement.core.roles.role_flow import solve_roles
from placement.core.solve import solve
from placement.core.verify.load_prices import verify_prices
from support.oracles import everything, illegal_moves, naive_value, usable_capacity
from support.problems import make_problem, problems

MOST_CELLS = 10**6
STAYS = 10**6
"""A price that keeps items where they must stay."""


def possible(problem: Problem, bands: Bands):
    return everything(problem).within(
        bands.lower, bands.upper, usable_capacity(problem)
    )


def counted(problem: Problem) -> Problem:
    """The same with equal weights and no role weights: a transport problem."""
    return replace(
        problem,
        weight=np.ones_like(problem.weight[:, :1]),
        role_weight=np.zeros_like(problem.role_weight[:, :1]),
        extra=np.zeros((0, 1), dtype=np.int64),
        resources=("count",),
        is_transient=np.zeros(1, dtype=np.bool_),
        levels=(
            replace(problem.levels[0], limits=count_limits(problem)),
            problem.levels[1],
        ),
        must_release_role=np.zeros(problem.num_bins, dtype=np.bool_),
    )


def count_limits(problem: Problem):
    limits = problem.bins
    share = problem.num_items / problem.num_bins
    shape = (problem.num_bins, 1)
    return replace(
        limits,
        fixed=np.zeros(shape, dtype=np.int64),
        capacity=np.full(shape, NO_LIMIT, dtype=np.int64),
        lower=np.full(shape, int(share), dtype=np.int64),
        upper=np.full(shape, int(np.ceil(share)), dtype=np.int64),
        target=np.full(shape, share),
    )


@settings(max_examples=150)
@given(problems(is_plain=True))
def test_a_flow_of_counts_moves_at_the_least_cost(drawn: Problem):
    assume(len(drawn.home))
    problem = counted(drawn)
    assert is_counts_alone(problem)
    least = possible(problem, aimed_bands(problem)).least_cost

    at = solve_counts(problem, aimed_bands(problem), MOST_CELLS)

    if np.isfinite(least):
        assert at is not None
        at = solve_roles(problem, at)
        value = naive_value(problem, at)
        assert value.deviation == 0
        assert value.broken_groups == 0
        # Where a role may not come along, another way may be dearer.
        if not illegal_moves(problem, at):
            assert value.cost == least


def repeated(problem: Problem, times: int) -> Problem:
    """The same groups several times over, so that some are alike."""
    groups, items = problem.num_groups, problem.num_items
    rows = {"group_class", "weight", "role_weight", "cost", "is_role_movable"}
    rows |= {"home", "movability"}
    table = {f.name: getattr(problem, f.name) for f in fields(problem) if f.init}
    table |= {name: np.concatenate([table[name]] * times) for name in rows}
    steps = np.arange(times)[:, None]
    sizes = np.tile(np.diff(problem.group_start), times)
    role = np.where(problem.role_home < 0, -1, problem.role_home + steps * items)
    levels = []
    for level in problem.levels:
        cap = level.group_cap
        cap = None if cap is None else np.tile(cap, times)
        levels.append(replace(level, group_cap=cap))
    table |= {
        "group_start": np.concatenate([[0], np.cumsum(sizes)]),
        "role_home": role.reshape(groups * times),
        "collection_of": np.zeros(0, dtype=np.int32),
        "collection_cap": np.zeros(0, dtype=np.int64),
        "collection_role_cap": np.zeros(0, dtype=np.int64),
        "levels": tuple(levels),
    }
    return Problem(**table)


def keeps_to_caps(problem: Problem) -> bool:
    """Whether what must stay breaks no cap by itself."""
    level = problem.levels[1]
    stays = np.equal(problem.movability, Movability.NEVER)
    node, cap = level.node_of_bin[problem.home], level.group_cap[problem.group_of]
    stays &= (node >= 0) & (cap > 0)
    pair = problem.group_of[stays] * level.num_nodes + node[stays]
    _, place, count = np.unique(pair, return_inverse=True, return_counts=True)
    return bool((count[place] <= cap[stays]).all())


def may_hold(problem: Problem, group: int, b: int, home: dict[int, int]) -> bool:
    if b in home:
        return home[b] != Movability.MUST
    allowed = problem.is_eligible[problem.group_class[group], problem.bin_class[b]]
    return bool(allowed and problem.may_receive[b])


def add_group(graph, problem: Problem, group: int, cost: int) -> None:
    """Arcs of one group: to its racks, and on to every bin that may hold it."""
    items = range(*problem.group_start[group : group + 2].tolist())
    home = {int(problem.home[item]): problem.movability[item] for item in items}
    level = problem.levels[1]
    cap = int(level.group_cap[group])
    graph.add_node(("group", group), demand=-len(items))
    for b in range(problem.num_bins):
        if not may_hold(problem, group, b, home):
            continue
        rack, tail = int(level.node_of_bin[b]), ("group", group)
        if rack >= 0 and cap > 0:
            tail = ("rack", group, rack)
            graph.add_edge(("group", group), tail, capacity=cap, weight=0)
        head = ("bin", b)
        if b not in home and len(problem.collection_cap):
            head = ("gate", int(problem.collection_of[group]), b)
        price = 0 if b in home else cost
        if home.get(b) == Movability.NEVER:
            price = -STAYS
        graph.add_edge(tail, head, capacity=1, weight=price)


def lies_at(problem: Problem, collection: int, b: int) -> int:
    """How many items of a collection lie in a bin that need not leave it."""
    of = problem.collection_of[problem.group_of]
    stays = np.not_equal(problem.movability, Movability.MUST)
    return int((stays & np.equal(of, collection) & np.equal(problem.home, b)).sum())


def naive_flow(problem: Problem, bands: Bands, cost) -> int | None:
    """The least cost by networkx, one node for each group and each of its racks."""
    graph = nx.DiGraph()
    for group in range(problem.num_groups):
        add_group(graph, problem, group, int(cost[group]))
    kept = np.equal(problem.movability, Movability.NEVER)
    low, high = bands.lower[:, 0], np.minimum(bands.upper[:, 0], problem.num_items)
    if (low > high).any():
        return None
    for b in range(problem.num_bins):
        graph.add_node(("bin", b), demand=int(low[b]))
        graph.add_edge(("bin", b), "sink", capacity=int(high[b] - low[b]), weight=0)
    for _, of, b in [node for node in graph if node[0] == "gate"]:
        room = max(0, int(problem.collection_cap[of]) - lies_at(problem, of, b))
        graph.add_edge(("gate", of, b), ("bin", b), capacity=room, weight=0)
    graph.add_node("sink", demand=problem.num_items - int(low.sum()))
    try:
        found, _ = nx.network_simplex(graph)
    except nx.NetworkXUnfeasible:
        return None
    found = int(found) + int(kept.sum()) * STAYS
    # Bands may leave no room for what must stay: then it has been sent elsewhere.
    return None if found >= STAYS / 2 else found


@st.composite
def counts(draw):
    """Counts to be evened out, groups that are alike among them; no roles."""
    drawn = draw(problems(is_plain=True))
    assume(len(drawn.home))
    problem = counted(repeated(counted(drawn), draw(st.integers(1, 4))))
    # Prices know nothing of even nodes, and flows nothing of who may hold a role.
    bins, racks = problem.levels
    problem = replace(
        problem,
        levels=(bins, replace(racks, is_even=False)),
        role_home=np.full_like(problem.role_home, NOWHERE),
    )
    assume(keeps_to_caps(problem))
    return problem


@settings(max_examples=80)
@given(counts())
def test_groups_that_are_alike_flow_as_one(problem: Problem):
    bands = aimed_bands(problem)
    least = naive_flow(problem, bands, problem.cost)

    at = solve_counts(problem, bands, MOST_CELLS)
    proof = flow_proof(problem, bands, problem.cost, MOST_CELLS)

    assert (at is None) == (least is None) == (proof is None)
    if at is not None and proof is not None:
        value = evaluate(problem, at)
        assert value.deviation == 0
        assert value.unmet == value.broken_groups == 0
        assert value.cost - problem.price_per_move * value.moves == least
        given = (bands.lower, bands.upper, proof.witness)
        assert verify_prices(problem, *given) == least


@settings(max_examples=80)
@given(counts())
def test_moves_are_counted_exactly(problem: Problem):
    bands, ones = aimed_bands(problem), np.ones_like(problem.cost)
    least = naive_flow(problem, bands, ones)

    proof = flow_proof(problem, bands, ones, MOST_CELLS)

    assert (least is None) == (proof is None)
    if proof is not None:
        given = (bands.lower, bands.upper, proof.witness)
        assert verify_prices(problem, *given, counts_moves=True) == least


@settings(max_examples=80)
@given(counts(), st.data())
def test_collections_stay_spread_where_bands_allow_it(problem: Problem, data):
    size = problem.num_groups
    of = data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    caps = data.draw(st.lists(st.integers(0, 4), min_size=2, max_size=2))
    problem = replace(
        problem,
        collection_of=np.array(of, dtype=np.int32),
        collection_cap=np.array(caps, dtype=np.int64),
    )
    bands = aimed_bands(problem)
    least = naive_flow(problem, bands, problem.cost)

    at = solve_counts(problem, bands, MOST_CELLS)

    if at is None or least is None:
        assert least is None
        return
    value = evaluate(problem, at)
    assert value.deviation == value.unmet == value.broken_groups == 0
    assert value.cost - problem.price_per_move * value.moves == least


@settings(max_examples=100)
@given(problems(is_plain=True))
def test_roles_by_flow_only_go_to_where_they_may_be(drawn: Problem):
    assume(len(drawn.home))
    at = solve_roles(drawn, home_arrangement(drawn))

    assert illegal_moves(drawn, at) == []
    assert at.bin_of.tolist() == drawn.home.tolist()


@settings(max_examples=100)
@given(problems(is_plain=True))
def test_roles_by_flow_are_as_even_as_they_can_be(drawn: Problem):
    assume(len(drawn.home))
    fixed = np.full(drawn.num_items, Movability.NEVER, dtype=np.int8)
    problem = replace(counted(drawn), movability=fixed)
    problem = replace(
        problem,
        weight=np.zeros_like(problem.weight),
        role_weight=np.ones_like(problem.role_weight),
    )

    at = solve_roles(problem, home_arrangement(problem))

    bins = problem.bins
    held = everything(replace(problem, levels=problem.levels[:1])).loads
    outside = np.maximum(held - bins.upper, bins.lower - held).clip(0).sum(axis=(1, 2))
    found = float(naive_value(problem, at).outside) * bins.target[0, 0]
    assert found == pytest.approx(float(outside.min()))
    assert evaluate(problem, at).cost == 0


def counts_in_racks(num_groups: int, seed: int) -> Problem:
    """Bytes of every size, most items in the first two bins."""
    rng = np.random.default_rng(seed)
    homes = [
        sorted(rng.choice(6, 2, False, [0.4, 0.2] + [0.1] * 4))
        for _ in range(num_groups)
    ]
    cost = rng.integers(1, 10**12, num_groups)
    return make_problem(
        [list(map(int, home)) for home in homes],
        num_bins=6,
        cost=cost,
        target=num_groups / 3,
        lower=num_groups // 3,
        upper=-(-num_groups // 3),
        racks=[0, 0, 0, 1, 1, 2],
        rack_cap=2,
    )


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_moved_at_the_least_cost_with_proof(seed: int):
    problem = counts_in_racks(300, seed)
    assert is_counts_alone(problem)

    solution = solve(problem, effort=NORMAL)

    cost = solution.certificate.cost
    assert solution.status is Status.OPTIMAL
    assert cost.value == cost.lower_bound > 0
    assert evaluate(problem, solution.best).is_in_band
