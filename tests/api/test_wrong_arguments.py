"""Arguments of the wrong type: refused by name, and never taken for something else."""

from fractions import Fraction

import numpy as np
import pytest

import planner
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from support.samples import SAMPLES

REASSIGNMENT = SAMPLES / "reassign.json"


@pytest.fixture(scope="module")
def snapshot():
    return planner.read_snapshot(SNAPSHOT_FILE)


def refused(plan, *arguments, **options):
    with pytest.raises(BadInputError) as caught:
        plan(*arguments, **options)
    return [(one.place, one.rule) for one in caught.value.problems]


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        pytest.param("max_moves", 1.5, "must be a whole number", id="half-a-move"),
        pytest.param("max_moves", True, "must be a whole number", id="a-switch"),
        pytest.param("max_moves", "7", "must be a whole number", id="a-text"),
        pytest.param("seed", "x", "must be a whole number", id="no-seed"),
        pytest.param("topic_slack", 0.5, "must be a whole number", id="half-a-replica"),
        pytest.param("deadline", "soon", "must be a number", id="no-time"),
        pytest.param("waves", "yes", "must be true or false", id="no-switch"),
        pytest.param("waves", 1, "must be true or false", id="a-number-for-a-switch"),
        pytest.param("topics", 7, "must be a text", id="no-pattern"),
        pytest.param(
            "exclude_topics", ["a", 3], "must be a text", id="a-pattern-of-no-text"
        ),
        pytest.param("topic", 7, "must be texts", id="no-names"),
        pytest.param(
            "exclude_brokers_for_leaders", 1.5, "must be numbers", id="no-ids"
        ),
        pytest.param("max_bytes", True, "must be a number", id="no-bytes"),
        pytest.param("max_bytes", [1], "must be a number", id="many-bytes"),
        pytest.param("bandwidth", [1], "must be a number", id="many-rates"),
    ],
)
def test_an_option_of_the_wrong_type_is_refused(snapshot, option, value, rule):
    ((place, found),) = refused(planner.rebalance, snapshot, **{option: value})

    assert place == option
    assert found.startswith(rule)


def test_every_wrong_option_is_named(snapshot):
    found = refused(planner.rebalance, snapshot, max_moves="x", seed=1.5, topics=7)

    assert {place for place, _ in found} == {"max_moves", "seed", "topics"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"topic": "orders.paid"}, {"topic": ["orders.paid"]}, id="name"),
        pytest.param(
            {"exclude_topics": ["orders.*", "cart.*"]},
            {"exclude_topics": "orders.*|cart.*"},
            id="patterns",
        ),
        pytest.param({"max_moves": np.int64(7)}, {"max_moves": 7}, id="of-numpy"),
        pytest.param({"band": np.float32(0.5)}, {"band": 0.5}, id="band-of-numpy"),
        pytest.param({"band": Fraction(1, 2)}, {"band": 0.5}, id="fraction"),
        pytest.param(
            {"exclude_brokers_for_leaders": 4},
            {"exclude_brokers_for_leaders": [4]},
            id="one-broker",
        ),
        pytest.param(
            {"exclude_brokers_for_leaders": np.array([4, 5])},
            {"exclude_brokers_for_leaders": "4-5"},
            id="brokers-of-numpy",
        ),
    ],
)
def test_one_value_is_as_good_as_a_list_of_it(snapshot, one, other):
    found, expected = (
        planner.rebalance(snapshot, effort="quick", **given) for given in (one, other)
    )

    assert _moves(found) == _moves(expected)


def _moves(plan):
    return plan.document["moves"], plan.reassignment


def test_one_broker_is_as_good_as_a_list_of_it(snapshot):
    assert _moves(planner.remove_brokers(snapshot, 4)) == _moves(
        planner.remove_brokers(snapshot, [4])
    )
    assert planner.lose(snapshot, brokers=7).stages.to_rows() == (
        planner.lose(snapshot, brokers=[7]).stages.to_rows()
    )
    assert planner.fix(snapshot, only="offline").status == (
        planner.fix(snapshot, only=["offline"]).status
    )


@pytest.mark.parametrize("factor", ["2", 2.5, True])
def test_a_factor_is_a_whole_number(snapshot, factor):
    (place, rule), *_ = refused(planner.set_replication_factor, snapshot, factor)

    assert (place, rule) == ("replication_factor", "must be a whole number")


@pytest.mark.parametrize("wrong", [None, str(SNAPSHOT_FILE), 7])
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(planner.rebalance, id="plan"),
        pytest.param(planner.score_cluster, id="score"),
        pytest.param(planner.cluster_status, id="status"),
        pytest.param(planner.try_failures, id="failures"),
        pytest.param(planner.size_cluster, id="size"),
        pytest.param(planner.partitions_audit, id="audit"),
        pytest.param(lambda it: planner.check_plan(REASSIGNMENT, it), id="check"),
    ],
)
def test_what_is_no_snapshot_is_named_with_what_reads_one(call, wrong):
    with pytest.raises(TypeError, match=r"must be a snapshot.*read_snapshot"):
        call(wrong)


@pytest.mark.parametrize("growth", [0.05, "5%", object()])
def test_a_growth_needs_its_period(snapshot, growth):
    with pytest.raises(BadInputError, match="growth"):
        planner.size_cluster(snapshot, growth=growth, months=12)


@pytest.mark.parametrize("call", [planner.preview_plan, planner.check_plan])
@pytest.mark.parametrize("plan", [None, 7])
def test_what_is_no_plan_is_named_with_what_writes_one(snapshot, call, plan):
    with pytest.raises(TypeError, match=r"must be a plan folder.*plan\.write"):
        call(plan, snapshot)


def test_a_plan_is_written_before_it_is_previewed(snapshot):
    plan = planner.rebalance(snapshot, effort="quick")

    with pytest.raises(TypeError, match=r"is a PlanResult; .* plan\.write"):
        planner.preview_plan(plan, snapshot)
