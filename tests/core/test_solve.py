"""`solve` against every arrangement of small problems."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import reached_bands
from placement.core.model import search_budget as efforts
from placement.core.model.arrangement import home_arrangement, loads
from placement.core.model.objective import crossing_costs, evaluate
from placement.core.model.problem import (
    NO_LIMIT,
    Movability,
    Problem,
)
from placement.core.model.search_budget import NORMAL, QUICK, Effort
from placement.core.model.solution import Solution, Status
from placement.core.search import compilation, kernel_runner, local_search
from placement.core.search.kernels import prefetch, stages
from placement.core.search.local_search import Searcher
from placement.core.solve import solve
from support.oracles import (
    Everything,
    crossing_of,
    everything,
    illegal_moves,
    naive_value,
    usable_capacity,
)
from support.problems import make_problem, problems, zoned

WITHOUT_MODEL = replace(NORMAL, milp_cells=0)


def within_reach(problem: Problem, solution: Solution) -> Everything:
    """All that keeps the hard rules and the bands which the answer reached."""
    bands = reached_bands(problem, solution.best)
    return everything(problem).within(
        bands.lower, bands.upper, usable_capacity(problem)
    )


def keeping_hard_rules(problem: Problem) -> Everything:
    capacity = usable_capacity(problem)
    anything = np.full_like(capacity, NO_LIMIT)
    return everything(problem).within(-anything, anything, capacity)


def num_broken(problem: Problem, solution: Solution) -> int:
    value = naive_value(problem, solution.best)
    return value.unmet + value.broken_groups + value.over_capacity


def assert_sound(problem: Problem, solution: Solution) -> None:
    """What must hold of any answer to any problem."""
    start = home_arrangement(problem)
    assert illegal_moves(problem, solution.best) == []
    assert evaluate(problem, solution.best) <= evaluate(problem, start)
    is_met = num_broken(problem, solution) == 0
    assert is_met == (solution.status in {Status.OPTIMAL, Status.FEASIBLE})
    assert is_met or solution.shortfalls
    proven = [shortfall.is_proven for shortfall in solution.shortfalls]
    assert any(proven) == (solution.status == Status.INFEASIBLE)

    certificate, value = solution.certificate, naive_value(problem, solution.best)
    reach = within_reach(problem, solution)
    assert certificate.cost.lower_bound <= reach.least_copied
    assert certificate.moves.lower_bound <= reach.fewest_moves
    assert certificate.moves.value == value.moves
    copied = value.cost - problem.price_per_move * value.moves
    assert certificate.cost.value == copied
    if solution.status == Status.OPTIMAL:
        assert copied == reach.least_copied
    if solution.status == Status.INFEASIBLE:
        assert not len(keeping_hard_rules(problem).cost)


@settings(max_examples=150)
@given(problems())
def test_any_answer_is_sound(problem: Problem):
    assert_sound(problem, solve(problem))


@settings(max_examples=100)
@given(problems(is_plain=True))
def test_small_plain_problems_are_solved_to_optimality(problem: Problem):
    solution = solve(problem)

    assert_sound(problem, solution)
    possible = keeping_hard_rules(problem)
    if not problem.must_release_role.any():
        assert (num_broken(problem, solution) == 0) == bool(len(possible.cost))
    # Out of band, an answer nearer in sum may be dearer than one just as far off.
    if num_broken(problem, solution) == 0 and solution.certificate.deviation.value == 0:
        assert solution.status == Status.OPTIMAL


@settings(max_examples=60)
@given(problems(is_plain=True))
@pytest.mark.parametrize("effort", [QUICK, WITHOUT_MODEL], ids=["quick", "no-model"])
def test_an_answer_without_an_exact_model_is_sound(effort: Effort, problem: Problem):
    assert_sound(problem, solve(problem, effort=effort))


@settings(max_examples=40)
@given(problems(has_transient=True))
def test_loads_while_copies_are_made_keep_the_capacities(problem: Problem):
    assert_sound(problem, solve(problem))


@settings(max_examples=60)
@given(problems(has_extra=False))
def test_solving_the_answer_again_moves_nothing(problem: Problem):
    first = solve(problem)
    # Where an item must leave, none of its group may come; once it has left, one may.
    # So what was impossible before may be possible then, and is no second look.
    assume(first.status in {Status.OPTIMAL, Status.FEASIBLE})

    again = solve(carried_out(problem, first))

    assert again.certificate.moves.value == 0
    assert np.array_equal(again.best.role_of, first.best.role_of)


def carried_out(problem: Problem, solution: Solution) -> Problem:
    """The problem as it is once an answer has been carried out."""
    at = solution.best
    moved = np.not_equal(at.bin_of, problem.home)
    kinds = np.where(moved, Movability.MAY, problem.movability).astype(np.int8)
    return replace(
        problem,
        home=at.bin_of.copy(),
        role_home=at.role_of.copy(),
        movability=kinds,
    )


@settings(max_examples=30)
@given(problems())
def test_the_same_problem_has_the_same_answer(problem: Problem):
    first, second = solve(problem), solve(problem)

    assert np.array_equal(first.best.bin_of, second.best.bin_of)
    assert np.array_equal(first.best.role_of, second.best.role_of)
    assert first.certificate == second.certificate
    assert first.shortfalls == second.shortfalls
    assert first.steps == second.steps


def spread_out(
    num_bins: int, num_groups: int, seed: int = 7, least: float = 1.0
) -> Problem:
    """Groups of three, most of them crowded into the first bins, with roles."""
    rng = np.random.default_rng(seed)
    likely = np.linspace(3.0, 0.2, num_bins)
    homes = [
        rng.choice(num_bins, 3, replace=False, p=likely / likely.sum()).tolist()
        for _ in range(num_groups)
    ]
    weight = rng.integers(1, 100, num_groups)
    share = 3 * int(weight.sum()) / num_bins
    return make_problem(
        homes,
        num_bins=num_bins,
        weight=weight,
        role_weight=weight // 3,
        cost=weight * 1000,
        racks=[b % 4 for b in range(num_bins)],
        target=share * 1.1,
        lower=int(share * least),
        upper=int(share * 1.2),
    )


HASHED = """
import sys
sys.path.insert(0, sys.argv[1])
from core.test_solve import spread_out
from placement.core.model.search_budget import QUICK
from placement.core.solve import solve
solution = solve(spread_out(9, 60), effort=QUICK)
print(solution.best.bin_of.tolist(), solution.best.role_of.tolist())
print(solution.certificate, solution.steps)
"""


@pytest.mark.slow
def test_hash_seeds_do_not_change_an_answer(request: pytest.FixtureRequest):
    tests = str(request.config.rootpath / "tests")
    printed = {
        subprocess.run(
            [sys.executable, "-c", HASHED, tests],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }

    assert len(printed) == 1


@pytest.mark.slow
def test_a_search_that_took_long_is_compiled_and_answers_the_same(
    monkeypatch: pytest.MonkeyPatch,
):
    called = []

    def counted(entry):
        called.append(entry)
        return entry

    monkeypatch.setattr(kernel_runner, "compiled", counted)
    monkeypatch.setattr(compilation, "is_running", lambda _: False)
    monkeypatch.setattr(compilation, "is_at_hand", lambda _: False)
    found = []
    for most in (compilation.PLAIN_S, 0.0):
        assert not called
        monkeypatch.setattr(compilation, "_plain", compilation.PlainWork())
        monkeypatch.setattr(compilation, "PLAIN_S", most)
        monkeypatch.setattr(compilation, "OWN_PLAIN_S", most)
        found.append(solve(spread_out(9, 60), effort=QUICK))

    assert called
    assert found[0].best.bin_of.tolist() == found[1].best.bin_of.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("steps_before", [None, 0, 10])
def test_compiled_kernels_answer_as_plain_ones_do(
    steps_before: int | None, monkeypatch: pytest.MonkeyPatch
):
    cases = [spread_out(9, 60), spread_out(40, 90), spread_out(80, 150, seed=3)]
    plain = [solve(problem, effort=QUICK) for problem in cases]

    if steps_before is None:
        monkeypatch.setattr(compilation, "PLAIN_ITEMS", -1)
    else:
        # Starts plain, and changes over in the middle.
        monkeypatch.setattr(compilation, "FEW_ITEMS", -1)
        monkeypatch.setattr(compilation, "PLAIN_STEPS", steps_before)
        monkeypatch.setattr(compilation, "is_running", lambda _: False)
    compiled = [solve(problem, effort=QUICK) for problem in cases]

    for one, other in zip(plain, compiled, strict=True):
        assert one.best.bin_of.tolist() == other.best.bin_of.tolist()
        assert one.best.role_of.tolist() == other.best.role_of.tolist()
        assert one.steps == other.steps
        assert (one.certificate.moves.value or 0) > 0


def test_small_searches_of_one_process_load_kernels_together(
    monkeypatch: pytest.MonkeyPatch,
):
    called = []
    monkeypatch.setattr(
        kernel_runner, "compiled", lambda entry: called.append(1) or entry
    )
    monkeypatch.setattr(compilation, "is_running", lambda _: bool(called))
    # Quick effort makes no rounds of ruin, and waits for no kernel of theirs.
    monkeypatch.setattr(
        compilation, "is_at_hand", lambda needed: stages.shake not in needed
    )
    monkeypatch.setattr(compilation, "LOADING_STEPS", 40)
    monkeypatch.setattr(compilation, "_plain", compilation.PlainWork())
    problem = spread_out(9, 60)

    found, loaded = [], []
    for _ in range(8):
        found.append(solve(problem, effort=QUICK))
        loaded.append(bool(called))

    assert not loaded[0]
    assert loaded[-1]
    assert len({tuple(each.best.bin_of.tolist()) for each in found}) == 1


@pytest.mark.slow
def test_rounds_at_a_price_of_moves_pay_the_same_compiled_or_not(
    monkeypatch: pytest.MonkeyPatch,
):
    problem = replace(spread_out(20, 150, least=0.8), price_per_move=100_000)
    few = replace(NORMAL, rounds=2, more_rounds=0, milp_cells=0, kernel_cells=0)
    monkeypatch.setattr(efforts, "FEW_PRICED", 0)
    monkeypatch.setattr(kernel_runner, "FEW_PRICED", 0)
    monkeypatch.setattr(local_search, "TURN", 60)

    found = {}
    for most in (10**6, -1):
        monkeypatch.setattr(compilation, "PLAIN_ITEMS", most)
        found[most] = solve(problem, effort=replace(few, more_rounds=500))
    short = solve(problem, effort=few)

    plain, compiled = found.values()
    assert plain.best.bin_of.tolist() == compiled.best.bin_of.tolist()
    assert plain.best.role_of.tolist() == compiled.best.role_of.tolist()
    assert priced(problem, plain) < priced(problem, short)


@pytest.mark.slow
def test_rounds_go_on_as_long_as_they_pay(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compilation, "PLAIN_ITEMS", -1)
    problem = spread_out(12, 300, least=0.9)
    few = replace(NORMAL, rounds=2, more_rounds=0, milp_cells=0, kernel_cells=0)

    short = solve(problem, effort=few)
    long = solve(problem, effort=replace(few, more_rounds=efforts.MORE_FREE))

    assert priced(problem, long) < priced(problem, short)


@pytest.mark.slow
def test_many_rounds_are_made_compiled_and_change_no_answer(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(efforts, "FEW_PRICED", 0)
    problem = spread_out(12, 60, least=0.9)
    effort = replace(NORMAL, rounds=20, more_rounds=60, gap=0.0, milp_cells=0)
    start, value = Searcher(problem, effort, 1).improve(
        home_arrangement(problem), evaluate(problem, home_arrangement(problem))
    )
    found = []
    for most in (10**6, 40):
        monkeypatch.setattr(compilation, "MANY_ROUNDS", most)
        monkeypatch.setattr(compilation, "is_at_hand", lambda _: False)
        monkeypatch.setattr(compilation, "is_running", lambda _: False)
        searcher = Searcher(problem, effort, 1)
        found.append(searcher.recreate(start, value)[0].bin_of.tolist())
        assert searcher._compiling.is_on == (most == 40)

    assert found[0] == found[1]


@pytest.mark.slow
def test_no_more_rounds_are_made_than_are_needed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compilation, "PLAIN_ITEMS", -1)
    monkeypatch.setattr(efforts, "FEW_PRICED", 0)
    problem = spread_out(12, 300, least=0.9)
    effort = replace(NORMAL, rounds=2, more_rounds=3000)
    start, value = Searcher(problem, effort, 1).improve(
        home_arrangement(problem), evaluate(problem, home_arrangement(problem))
    )
    made = []
    turns = Searcher._in_turns

    def counted(self, entry, before, limit, *more):
        made.append(limit if entry is stages.shake else 0)
        return turns(self, entry, before, limit, *more)

    monkeypatch.setattr(Searcher, "_in_turns", counted)
    Searcher(problem, effort, 1).recreate(start, value, enough=value.cost)
    assert sum(made) == 2
    Searcher(problem, effort, 1).recreate(start, value)
    assert sum(made) > 1000


def priced(problem: Problem, solution: Solution) -> float:
    """Return the cost of an answer, the price of its moves included."""
    assert evaluate(problem, solution.best).is_in_band
    return evaluate(problem, solution.best).cost


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        pytest.param(make_problem([], num_bins=0), Status.OPTIMAL, id="nothing"),
        pytest.param(make_problem([], num_bins=2), Status.OPTIMAL, id="no-items"),
        pytest.param(
            make_problem([], num_bins=2, fixed=[9, 0], target=4.5, upper=5, lower=4),
            Status.OPTIMAL,
            id="fixed-loads-only",
        ),
        pytest.param(
            make_problem([[0, 1]], num_bins=2, weight=0, cost=0, target=1.0, upper=1),
            Status.OPTIMAL,
            id="items-that-weigh-nothing",
        ),
        pytest.param(
            make_problem([[0]], num_bins=1, movability=[Movability.MUST]),
            Status.INFEASIBLE,
            id="nowhere-to-go",
        ),
        pytest.param(
            make_problem([[0], [0]], num_bins=2, weight=5, capacity=4),
            Status.INFEASIBLE,
            id="more-than-all-bins-hold",
        ),
        pytest.param(
            make_problem([[0, 1]], num_bins=2, racks=[0, 0]),
            Status.INFEASIBLE,
            id="two-in-the-only-rack",
        ),
    ],
)
def test_the_smallest_problems(problem: Problem, status: Status):
    solution = solve(problem)

    assert solution.status == status
    assert solution.best.bin_of.tolist() == problem.home.tolist()


@settings(max_examples=80)
@given(problems(), st.integers(0, 6), st.integers(0, 40))
def test_caps_on_moves_and_cost_hold(problem: Problem, max_moves: int, max_cost: int):
    capped = replace(problem, max_moves=max_moves, max_cost=max_cost)

    solution = solve(capped)

    value = evaluate(capped, solution.best)
    before = evaluate(capped, home_arrangement(capped))
    assert value.moves <= max_moves
    assert value.cost - problem.price_per_move * value.moves <= max_cost
    assert value <= before


@settings(max_examples=80)
@given(st.data(), st.integers(0, 20))
def test_no_more_crosses_zones_than_may(data, most: int):
    problem = data.draw(zoned(most))

    solution = solve(problem)

    value = evaluate(problem, solution.best)
    crossed = crossing_of(problem, dict(enumerate(solution.best.bin_of.tolist())))
    assert crossed == crossing_costs(problem, solution.best).sum()
    assert crossed <= most
    assert value <= evaluate(problem, home_arrangement(problem))


def test_what_may_not_cross_goes_elsewhere():
    problem = make_problem(
        [[0], [0], [0], [0]], num_bins=3, target=1.0, lower=1, upper=2,
        zone_of_bin=[0, 0, 1], source_zone=[0, 0, 1, 0], max_crossing=0,
    )  # fmt: skip

    solution = solve(problem)

    # To bin 2 goes the one that is copied from there.
    assert solution.best.bin_of.tolist()[2] == 2
    assert sorted(solution.best.bin_of.tolist()) == [0, 0, 1, 2]
    assert solution.certificate.deviation.value == 0


@pytest.mark.parametrize(
    ("caps", "bin_of"),
    [
        pytest.param({}, [1, 1, 0, 0], id="no-cap"),
        pytest.param({"max_moves": 1}, [1, 0, 0, 0], id="one-move"),
        pytest.param({"max_cost": 5}, [1, 0, 0, 0], id="what-one-costs"),
        pytest.param({"max_moves": 0}, [0, 0, 0, 0], id="nothing"),
    ],
)
def test_within_a_cap_the_bands_come_as_near_as_can_be(caps, bin_of: list[int]):
    problem = make_problem(
        [[0], [0], [0], [0]],
        num_bins=2,
        cost=[5, 5, 5, 5],
        target=2.0,
        lower=2,
        upper=2,
        **caps,
    )

    solution = solve(problem)

    moved = sorted(solution.best.bin_of.tolist(), reverse=True)
    assert moved == bin_of


def test_the_price_of_a_move_is_in_no_bound():
    # One heavy item would do, and copies less than it costs in moves to send two.
    problem = make_problem(
        [[0], [0], [0]],
        num_bins=2,
        weight=[4, 2, 2],
        cost=[9, 2, 2],
        target=4.0,
        lower=4,
        upper=4,
        price_per_move=100,
    )

    solution = solve(problem)

    assert solution.best.bin_of.tolist() == [1, 0, 0]
    assert solution.certificate.cost.value == 9
    assert solution.certificate.cost.lower_bound == 4
    assert solution.status == Status.FEASIBLE


TERABYTES = 8 * 10**11


@pytest.mark.parametrize("effort", [QUICK, NORMAL], ids=["quick", "normal"])
def test_a_few_bytes_outside_the_band_of_terabytes_leave(effort: Effort):
    # Once an eighth has left, bin 0 is 20 bytes over: 2.5e-11 of its target.
    weight = [TERABYTES // 4] * 4 + [TERABYTES // 8, 60, 3 * TERABYTES // 4]
    upper = TERABYTES + 40
    problem = make_problem(
        [[0]] * 6 + [[1]],
        num_bins=2,
        weight=weight,
        cost=weight,
        lower=7 * TERABYTES // 10,
        upper=upper,
        target=float(TERABYTES),
    )

    solution = solve(problem, effort=effort)

    assert_sound(problem, solution)
    assert loads(problem, solution.best).max() <= upper
    assert solution.certificate.cost.value == TERABYTES // 8 + 60


@pytest.mark.slow
@pytest.mark.parametrize("effort", [QUICK, NORMAL], ids=["quick", "normal"])
def test_rows_read_ahead_change_no_answer(
    effort: Effort, monkeypatch: pytest.MonkeyPatch
):
    problem = spread_out(num_bins=12, num_groups=80, least=0.8)
    plain = solve(problem, effort=replace(effort, rounds=min(effort.rounds, 5)))

    monkeypatch.setattr(prefetch, "MANY_ITEMS", 0)
    monkeypatch.setattr(prefetch, "AT_ONCE", 5)
    touched = solve(problem, effort=replace(effort, rounds=min(effort.rounds, 5)))

    assert touched.best.bin_of.tolist() == plain.best.bin_of.tolist()
    assert touched.best.role_of.tolist() == plain.best.role_of.tolist()
    assert touched.steps == plain.steps
    assert (plain.certificate.moves.value or 0) > 0
