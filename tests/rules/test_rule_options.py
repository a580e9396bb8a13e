"""Options of rules: every wrong one is named; the preset of Cruise Control."""

from collections import Counter

import pytest

from planner.errors import BadInputError
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from rules.rule_plans import SETS
from support.clusters import make_state

BAD_RULES = {
    "--rack-map": ["a", "=b", "nowhere.txt"],
    "--broker-set": ["gold", "x=nope", "(=gold"],
    "--keep-topics": ["("],
    "--keep-leaders": [")"],
    "--low-utilization": ["disk", "leaders=0.1"],
    "--max-replicas-per-broker": [-1],
    "--spread-topics": ["["],
    "--spread-topic-leaders": ["["],
    "--spread-band": [0.0],
    "--spread-gap": ["9-2"],
    "--min-topic-leaders": ["a", "a=0", "a=x", "[=1"],
    "--cpu-weight": ["leader_in", "leader_in=-1", "leadr_in=1", "x=nan"],
}


def test_every_bad_rule_is_named_at_once():
    state = make_state([[0], [1]], broker_sets=SETS)
    rules = {
        "rack_map": [*BAD_RULES["--rack-map"]],
        "broker_set": BAD_RULES["--broker-set"],
        "keep_topics": "(",
        "keep_leaders": ")",
        "low_utilization": BAD_RULES["--low-utilization"],
        "max_replicas_per_broker": -1,
        "spread_topics": "[",
        "spread_topic_leaders": "[",
        "spread_band": 0.0,
        "spread_gap": "9-2",
        "min_topic_leaders": BAD_RULES["--min-topic-leaders"],
        "cpu_weight": BAD_RULES["--cpu-weight"],
    }

    with pytest.raises(BadInputError) as refused:
        make(state, PlanRequest(goal="rebalance", **rules))

    named = Counter(problem.place for problem in refused.value.problems)
    assert named == {option: len(values) for option, values in BAD_RULES.items()}
    assert all(problem.remedy for problem in refused.value.problems)


@pytest.mark.parametrize(("num_topics", "spreads"), [(32, ".*"), (33, None)])
def test_the_goals_of_cruise_control(num_topics, spreads):
    state = make_state({f"t{n:02}": [[0]] for n in range(num_topics)}, ids=[0, 1])
    rules = {"rules": "cruise-control", "max_replicas_per_broker": 500}

    made = make(state, PlanRequest(goal="rebalance", effort="quick", **rules))

    said = made.plan.settings
    assert said["band"] == dict.fromkeys(
        ["disk", "in", "out", "cpu", "replicas", "leaders"], 0.09
    )
    assert said["capacity_threshold"] == {
        "disk": 0.8,
        "in": 0.8,
        "out": 0.8,
        "cpu": 0.7,
    }
    assert (said["rack_rule"], said["max_replicas_per_broker"]) == ("strict", 500)
    assert (said["potential_out"], said["leader_in"]) == (True, True)
    assert said["spread_topics"] == spreads
    notes = [n for n in made.plan.placed.notes if n.message.startswith("no goal for")]
    assert len(notes) == (spreads is None)


def test_what_is_given_goes_before_the_goals_of_cruise_control():
    state = make_state([[0], [1]], racks="ab")
    request = PlanRequest(
        goal="rebalance",
        band=["disk=0.2"],
        rules="cruise-control",
        rack_rule="distribution",
    )

    said = make(state, request).plan.settings

    assert said["rack_rule"] == "distribution"
    assert (said["band"]["disk"], said["band"]["in"]) == (0.2, 0.09)


def test_goals_for_too_many_topics_are_refused():
    topics = {f"t{n:02}": [[0]] for n in range(33)}
    state = make_state(topics, ids=[0, 1])
    rules = {
        "spread_topics": ".*",
        "spread_topic_leaders": ".*",
        "min_topic_leaders": [".*=1"],
    }

    with pytest.raises(BadInputError) as refused:
        make(state, PlanRequest(goal="rebalance", **rules))

    assert [problem.place for problem in refused.value.problems] == [
        "--spread-topics", "--spread-topic-leaders", "--min-topic-leaders",
    ]  # fmt: skip
