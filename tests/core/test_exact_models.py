"""The exact models behind an answer and its proof."""

from dataclasses import replace

import pytest

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.milp import small_model
from placement.core.exact.milp.solved_models import ExactModels
from placement.core.exact.work_limit import ExactWork
from placement.core.model.search_budget import NORMAL, QUICK
from placement.core.solve import solve
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState
from placement.operations.add_brokers import AddBrokers
from placement.operations.rebalance import Rebalance
from placement.planning.encode import build_problem
from placement.planning.plan import plan
from planner.snapshot import Snapshot
from support.clusters import make_state
from support.plans import skewed_document


def skewed_problem():
    document = skewed_document(num_brokers=6, num_partitions=23)
    state = Snapshot.from_document(document).to_state()
    placed = plan(state, Rebalance(), Settings(effort="quick"))
    return build_problem(placed.draft, placed.targets, placed.balanced)


@pytest.mark.slow
def test_no_model_is_solved_twice(monkeypatch):
    problem = skewed_problem()
    asked, plainly = [], small_model.solve_model

    def counted(problem, bands, objective, *more, **named):
        asked.append((objective, bands.lower.tobytes(), bands.upper.tobytes()))
        return plainly(problem, bands, objective, *more, **named)

    monkeypatch.setattr(small_model, "solve_model", counted)
    solution = solve(problem, effort=replace(NORMAL, milp_nodes=20, exact_work=0))

    assert solution.certificate.cost.proof.kind == "milp-dual"
    assert len(set(asked)) == len(asked) > 0


def crowded_problem():
    """Return a problem of which HiGHS 1.14 calls an answer the best that is not."""
    lists = [
        [0, 15, 4], [0, 8, 4], [0, 4, 8], [0, 8, 4],
        [12, 4, 11], [0, 11, 4], [12, 0, 8], [0, 11, 15],
    ]  # fmt: skip
    ids = [0, 4, 8, 11, 12, 15, 18, 23]
    state = make_state(
        {"t0": lists[:4], "t1": lists[4:]}, ids=ids, racks="a" * 8,
        states=dict.fromkeys(ids[6:], BrokerState.NEW),
        leaders=[0, 0, 0, 0, 12, 4, 8, 11],
        in_rate=[10.0, 0.0, 10.0, 3.0, 30.0, 0.0, 10.0, 3.0],
        out_rate=[0.0, 10.0, 0.0, 30.0, 10.0, 10.0, 30.0, 3.0],
        leader_cpu=[6.0, 6.0, 60.0, 60.0, 20.0, 60.0, 60.0, 20.0],
        follower_cpu=[3.0, 3.0, 30.0, 30.0, 10.0, 30.0, 30.0, 10.0],
        size_bytes=[20, 10, 20, 20, 5, 0, 80, 10],
    )  # fmt: skip
    settings = Settings(effort="quick", excluded_for_leaders=frozenset({0}))
    placed = plan(state, AddBrokers(), settings)
    return build_problem(placed.draft, placed.targets, placed.balanced)


@pytest.mark.slow
def test_every_effort_comes_to_an_answer_where_highs_is_wrong():
    problem = crowded_problem()

    for effort in (QUICK, NORMAL):
        proven = solve(problem, effort=effort).certificate.deviation
        assert proven.lower_bound <= proven.value


def test_models_of_a_plan_share_what_they_may_take():
    problem = skewed_problem()
    bands = Bands(problem.bins.lower, problem.bins.upper)
    alone = ExactWork(per_question=16, left=100)
    ExactModels(problem, NORMAL, alone).cheapest(bands)
    spent = 100 - alone.left

    again, over = ExactWork(16, 100), ExactWork(16, 0)
    ExactModels(problem, NORMAL, again).cheapest(bands)
    ExactModels(problem, NORMAL, over).cheapest(bands)

    assert 0 < spent <= 16
    assert again.left == alone.left
    assert 0 < -over.left <= 2
