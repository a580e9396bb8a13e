"""Shares as the checker works them out: those that plans go by."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check.goals import broker_bands
from placement.model.load import RESOURCES, UNITS
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state

MET = {"optimal", "feasible", "nothing-to-do"}


def planned(state, goal="rebalance", factor=None, **options):
    """Return a plan whose bands are hard, and the bands that the checker finds."""
    request = PlanRequest(
        goal=goal, effort="quick", replication_factor=factor,
        hard=("bands",), **options,
    )  # fmt: skip
    found = []

    def kept(*case):
        for band in banded(*case):
            found.append(band)
            yield band

    banded = broker_bands.banded
    with (
        mock.patch.object(broker_bands, "banded", kept),
        mock.patch("planner.plan.run.make_plan.explain_impossible", return_value=None),
    ):
        made = make(state, request)
        assert made.findings is not None
    return made, found


def agree(made, found):
    for band in found:
        r = next(r for r, one in enumerate(RESOURCES) if one == band.resource)
        target = made.plan.placed.targets.target[:, r] / UNITS[RESOURCES[r]]
        rounding = 1e-3 * (1 + band.load)
        assert np.all(np.abs(target - band.target) <= rounding), band.resource


@pytest.mark.parametrize("sets", [None, {0: "gold", 1: "gold", 2: "gold"}])
def test_a_replica_being_added_makes_no_band_too_low(sets):
    state = make_state(
        [[0], [1, 0], [2]], racks="aaaa", adding=[[], [0], []], broker_sets=sets
    )
    options = {"resources": "replicas", "band": ["0"], "broker_list": "3"}

    made, found = planned(state, "remove-brokers", **options)

    agree(made, found)
    [replicas] = found
    assert replicas.target[:3].tolist() == pytest.approx([4 / 3] * 3)
    assert made.plan.status in MET
    assert made.is_ok


def test_a_higher_factor_has_higher_shares():
    state = make_state([[0], [1], [2]], racks="aaa")

    made, found = planned(state, "set-replication-factor", 2, resources="replicas")

    agree(made, found)
    assert found[0].target.tolist() == [2, 2, 2]
    assert made.plan.status in MET
    assert made.is_ok


@settings(max_examples=60)
@given(
    clusters(min_brokers=2, all_live=True, all_known=True, reassigning=True),
    st.sampled_from(["rebalance", "leaders", "fix", "set-replication-factor"]),
    st.booleans(),
    st.booleans(),
)
def test_the_checker_shares_out_as_plans_do(state, goal, is_one_rack, has_sets):
    count = state.num_brokers
    if is_one_rack:
        state = state.with_brokers(racks=("a",), rack_idx=np.zeros(count, np.int32))
    if has_sets:
        rows = (np.arange(count) > 0).astype(np.int32)
        state = state.with_brokers(broker_sets=("g", "s"), broker_set_idx=rows)
    factor = 2 if goal == "set-replication-factor" else None
    least = np.ones_like(state.topics.min_insync_replicas)
    state = replace(state, topics=replace(state.topics, min_insync_replicas=least))

    made, found = planned(state, goal, factor)

    if made.plan.status in MET:
        agree(made, found)
