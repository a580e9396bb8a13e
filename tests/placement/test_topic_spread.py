"""Topics do not pile up on a few brokers."""

from collections import Counter
from math import ceil

import numpy as np
import pytest

from placement.draft.draft import Settings
from placement.model.load import RESOURCES, Resource
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.plan import plan
from placement.synthetic import SIZES, make_instance
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import make_state

BANDS = dict.fromkeys(RESOURCES, 0.05)


def held(state) -> Counter[tuple[int, int]]:
    """Replicas by topic and broker, counted one by one."""
    replicas = state.replicas
    return Counter(
        (int(state.partitions.topic_idx[partition]), int(broker))
        for partition, broker in zip(
            replicas.partition_idx, replicas.broker_idx, strict=True
        )
    )


def led(state) -> Counter[tuple[int, int]]:
    """Leaders by topic and broker, counted one by one."""
    leader = state.partitions.leader_idx.tolist()
    topic = state.partitions.topic_idx.tolist()
    return Counter(pair for pair in zip(topic, leader, strict=True) if pair[1] >= 0)


def most_beyond(state, after, share: float, held=held) -> int:
    """
    How far a plan brings a topic on a broker above its share, rounded up.

    `share`: the part of all that falls to the broker that holds most.
    """
    size = Counter(topic for topic, _ in held(state).elements())
    before = held(state)
    return max(
        (
            count - ceil(size[topic] * share - 1e-6)
            for (topic, broker), count in held(after).items()
            if count > before[topic, broker]
        ),
        default=0,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("family", "seed"), [("a", 1), ("a'", 3), ("b", 3), ("c", 3)])
def test_no_topic_piles_up_and_nothing_more_is_copied(family: str, seed: int):
    instance = make_instance(family, SIZES["XS"], seed=seed, band=0.05)
    state, operation = instance.state, instance.operation

    spread = plan(state, operation, Settings(bands=BANDS))
    anyhow = plan(state, operation, Settings(bands=BANDS, topic_slack=None))

    target, after = spread.targets.target, spread.reassignment.after()
    for resource, counted in ((Resource.REPLICAS, held), (Resource.LEADERS, led)):
        of_brokers = target[:, RESOURCES.index(resource)]
        share = float(of_brokers.max() / of_brokers.sum())
        assert most_beyond(state, after, share, counted) <= 2
    near, far = spread.solution.certificate, anyhow.solution.certificate
    assert spread.has_met_rules == anyhow.has_met_rules == (family != "b")
    if spread.has_met_rules:
        # What no plan can do is spread whatever that adds to the distance.
        assert near.deviation.value <= far.deviation.value + 1e-9
    assert near.cost.value <= far.cost.value * 1.05


@pytest.mark.not_quick
def test_new_brokers_get_some_of_every_topic_not_all_of_a_few():
    instance = make_instance("a'", SIZES["M"], seed=3, band=0.05)
    found = {
        slack: plan(
            instance.state,
            instance.operation,
            Settings(bands=BANDS, topic_slack=slack),
        )
        for slack in (2, None)
    }

    beyond, led_beyond = (
        {
            slack: most_beyond(
                instance.state, made.reassignment.after(), 1 / 110, count
            )
            for slack, made in found.items()
        }
        for count in (held, led)
    )

    assert beyond[2] <= 2 < 5 < beyond[None]
    assert led_beyond[2] <= 2 < 5 < led_beyond[None]
    cost = {slack: made.solution.certificate.cost for slack, made in found.items()}
    assert cost[2].value <= cost[2].lower_bound * 1.005


def test_what_must_go_somewhere_goes_there_and_that_is_said():
    # One topic of 12 on brokers 0 and 1; broker 1 leaves, and 2 gets nothing.
    state = make_state([[0], [1]] * 6, racks="aaa")
    request = PlanRequest(
        goal="remove-brokers", broker_list="1", exclude_brokers_for_replicas="2"
    )

    planned = make(state, request)

    placed = planned.plan.placed
    after = placed.reassignment.after()
    assert placed.has_met_rules
    assert planned.is_ok
    assert np.bincount(after.replicas.broker_idx, minlength=3).tolist() == [12, 0, 0]
    told = [note.message for note in placed.notes if note.what == "topic-spread"]
    assert "broker 0 gets to 12 replicas of topic t" in told[0]
    assert "broker 0 gets to 12 leaders of topic t" in told[1]


def test_a_topic_that_one_broker_may_hold_is_not_counted():
    instance = make_instance("c", SIZES["XS"], seed=3, band=0.05)
    emptied = RemoveBrokers((0,))

    made = plan(instance.state, emptied, Settings(bands=BANDS, topic_slack=10**6))

    assert not [note for note in made.notes if note.what == "topic-spread"]
