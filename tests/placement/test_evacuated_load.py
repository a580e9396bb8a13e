"""Load that moves from other brokers to those that stay, and is shared by them."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.model.problem import Movability
from placement.draft.evacuated_load import evacuated_load, is_total_fixed
from placement.draft.leading_replicas import leading_replicas
from placement.model.cluster import LogDirState
from placement.model.load import LEADING, RESOURCES, Resource, loads_of
from placement.operations.demote import Demote
from placement.operations.fix import Fix
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.band_fixpoint import loads_before
from placement.planning.plan import make_draft, plan
from support.clusters import Dir, clusters, make_state

DISK = RESOURCES.index(Resource.DISK)


def test_replicas_of_a_failed_log_dir_are_shared_once():
    state = make_state(
        [[0], [1], [1, 0]], size_bytes=[30, 20, 10], racks="ab",
        log_dirs={0: [Dir("/a", state=LogDirState.OFFLINE), Dir("/b")], 1: [Dir("/a")]},
        dirs=[["/b"], ["/a"], ["/a", "/a"]], isr=[[0], [1], [1]], leaders=[0, 1, 1],
    )  # fmt: skip

    found = plan(state, Fix())

    draft = found.draft
    assert np.equal(draft.movability, Movability.MUST).sum() == 1
    assert not evacuated_load(draft, state.partitions.leader_idx).any()


def test_all_of_a_removed_broker_is_shared_by_the_others():
    state = make_state([[0, 1], [1, 2], [2, 0]], size_bytes=[30, 20, 10], racks="abc")

    draft = make_draft(state, RemoveBrokers((0,)), plan(state, Fix()).draft.settings)

    assert evacuated_load(draft, state.partitions.leader_idx)[DISK] == 30 + 10


@pytest.mark.not_quick
@settings(max_examples=60)
@given(
    clusters(min_brokers=2),
    st.sampled_from([Fix(), Demote((0, 1)), RemoveBrokers((0, 1, 2, 3))]),
)
def test_it_makes_up_what_the_others_hold_after_a_plan(state, operation):
    found = plan(state, operation)
    draft = found.draft
    assume(found.has_met_rules and not len(draft.weights.own))
    leader = state.replicas.broker_idx_at(leading_replicas(draft))
    fixed = is_total_fixed(draft, leader)
    after, _ = loads_of(found.reassignment.after())

    before, _, incoming = loads_before(draft)

    for r in range(len(RESOURCES)):
        members = draft.leads if LEADING[r] else draft.holds
        if fixed[r]:
            assert before[members, r].sum() + incoming[r] == after[members, r].sum()
