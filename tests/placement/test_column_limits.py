"""Limits of loads that a rule counts by a column of its own."""

from dataclasses import dataclass

import numpy as np
import pytest

from placement.core.model.problem import NO_LIMIT
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.draft.rule_tables import SoftColumn
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.operations.replace_broker import ReplaceBroker
from placement.planning.plan import plan
from support.clusters import make_state
from support.operations import lists_after


@dataclass(frozen=True)
class AtMost:
    """No broker holds more than a number of replicas."""

    most: int
    name: str = "at-most"

    def fill(self, draft):
        count, nothing = draft.state.num_partitions, np.zeros(len(draft.holds), int)
        draft.columns.append(
            SoftColumn(
                name=f"{self.name}:every",
                weight=np.ones(count, dtype=np.int64),
                role_weight=np.zeros(count, dtype=np.int64),
                lower=nothing,
                upper=nothing + NO_LIMIT,
                unit=np.zeros(len(nothing)),
                capacity=np.where(draft.holds, self.most, NO_LIMIT),
                what="replicas",
            )
        )


def planned(state, operation, most):
    return plan(state, operation, Settings(rules=(AtMost(most),)))


def test_what_is_over_a_limit_leaves():
    found = planned(make_state([[0], [0], [0]], ids=[0, 1], racks="ab"), Rebalance(), 2)

    assert found.has_met_rules
    assert sorted(lists_after(found)) == [[0], [0], [1]]


def test_a_shortfall_names_what_is_counted():
    found = planned(make_state([[0], [0], [0]], ids=[0, 1], racks="ab"), Rebalance(), 1)

    first = found.solution.shortfalls[0]
    assert found.solution.status is Status.INFEASIBLE
    assert (first.what, first.resource) == ("at-most", "")
    assert first.message == "brokers have room for 2 replicas, and 3 need it"


def test_what_was_over_a_limit_before_is_no_reason_of_other_operations():
    state = make_state([[0], [0], [0], [1]], ids=[0, 1, 2], racks="abc")

    found = planned(state, RemoveBrokers((1,)), 2)

    assert found.solution.status is Status.OPTIMAL
    assert lists_after(found) == [[0], [0], [0], [2]]


@pytest.mark.parametrize(("most", "is_met"), [(2, True), (1, False)])
def test_an_operation_that_decides_keeps_the_limit_or_says_so(most, is_met):
    state = make_state([[0], [1]], ids=[0, 1], racks="ab")

    found = planned(state, ReplaceBroker(((0, 1),)), most)

    assert found.has_met_rules == is_met
