"""Hard bands that are out of reach: proofs, and which of them conflict."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.exact.work_limit import ExactWork
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.load import Resource
from placement.operations.rebalance import Rebalance
from placement.planning.elastic.hard_goals import hard_alone
from placement.planning.infeasibility.hard_bands import are_hard_goals_met
from placement.planning.infeasibility.infeasible_rules import (
    explain_impossible,
)
from placement.planning.plan import make_draft, plan
from placement.rules.registry import HARD, goals_named
from placement.synthetic.instances import Size, make_instance
from support.clusters import clusters


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "seed", "rules"),
    [("e", 6, ("band-cpu", "band-out", "rack")), ("d", 7, ("band-cpu", "band-out"))],
)
def test_the_reason_why_bands_are_out_of_reach_needs_no_plan(
    family, seed, rules, monkeypatch
):
    made = make_instance(family, Size(4, 3, 48, 16), seed, 0.02)
    bands = frozenset(name for name in HARD if name.startswith("band-"))
    options = Settings(bands=dict.fromkeys(Resource, 0.02), hard=bands, effort="quick")
    found = plan(made.state, made.operation, options)
    monkeypatch.setattr(
        "placement.planning.infeasibility.infeasible_rules.find_remedies", lambda *_: ()
    )

    def refuse(settings):
        raise AssertionError(settings)

    reason = explain_impossible(made.operation, options, found, refuse)

    assert (reason.rules, set(reason.helps)) == (rules, {True})
    assert reason.is_irreducible
    # Of the bands named, prices that are checked prove it as well.
    named = bands.intersection(rules)
    alone = replace(
        options,
        hard=named,
        resources=tuple(one for one in Resource if f"band-{one}" in named),
        effort="normal",
    )
    assert plan(made.state, made.operation, alone).solution.status is Status.INFEASIBLE


@settings(max_examples=60)
@given(
    clusters(min_brokers=2),
    st.sets(st.sampled_from(sorted(HARD)), min_size=1),
    st.sampled_from([0.0, 0.05, 0.3]),
)
def test_hard_goals_are_out_of_reach_only_where_no_plan_meets_them(state, hard, band):
    options = Settings(
        bands=dict.fromkeys(Resource, band), hard=goals_named(hard), effort="quick"
    )
    draft = make_draft(state, Rebalance(), options)
    alone = hard_alone(options, draft)
    draft = make_draft(state, Rebalance(), alone)

    is_met = are_hard_goals_met(draft, alone, ExactWork(0, 0))

    made = plan(state, Rebalance(), replace(options, effort="normal"))
    if made.has_met_rules:
        assert is_met is not False
    if made.solution.status is Status.INFEASIBLE:
        assert not is_met
