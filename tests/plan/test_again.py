"""Planning the result of a plan again finds nothing to move."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.model.cluster import LogDirState
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.process import peak_memory_bytes
from support.clusters import clusters
from support.naive import live_ids
from support.plans import planned_for, skewed_document


def again(planned, request):
    return make(planned.plan.placed.reassignment.after(), request)


@pytest.mark.not_quick
@settings(max_examples=80)
@given(clusters(min_brokers=3), st.sampled_from(["rebalance", "remove-brokers"]))
def test_small_clusters(state, goal):
    live = sorted(live_ids(state))
    assume(len(live) > 1)
    # What must leave an offline log dir may come back to its broker once it has left.
    assume(not np.equal(state.log_dirs.state, LogDirState.OFFLINE).any())
    # A replica that is larger than its partition is no longer so once it has moved.
    assume((state.replicas.own_bytes < 0).all())
    request = PlanRequest(
        goal=goal,
        broker_list=str(live[0]) if goal == "remove-brokers" else None,
        effort="quick",
    )
    first = make(state, request)
    assume(first.plan.status not in {"partial", "infeasible"})

    second = again(first, request)

    assert second.plan.moves["partitions"] == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("goal", ["rebalance", "add-brokers"])
def test_skewed_clusters(goal, seed):
    request = PlanRequest(goal=goal, effort="quick")
    first = planned_for(
        skewed_document(num_brokers=8, num_partitions=60, seed=seed),
        goal,
        effort="quick",
    )
    assert first.plan.moves["replicas"]

    assert again(first, request).plan.status == "nothing-to-do"


def test_memory_is_that_of_this_process(monkeypatch):
    told = peak_memory_bytes()

    def refuse(*_args, **_options):
        raise OSError

    # Where there is no /proc, the kernel's other figure is near.
    monkeypatch.setattr("pathlib.Path.read_text", refuse)
    assert peak_memory_bytes() == pytest.approx(told, rel=0.2)
    assert told > 10_000_000
