"""Rules that are soft: kept where they can be, else broken by as little as can be."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings
from placement.draft.draft import DEFAULT_THRESHOLDS, Settings
from placement.model.cluster import BrokerState
from placement.model.load import Resource
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.plan import plan
from placement.rules.registry import ALWAYS_HARD, LIFTED, SOFT, rules_named
from planner.errors import BadInputError
from planner.options.declared.plan_options import RULE_NAMES
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state
from support.naive import lists_of, rack_of
from support.operations import lists_after, newly_wrong

MET = {"optimal", "feasible", "nothing-to-do"}
TWO = {"racks": "ab"}
HOST = {"hosts": {0: "h", 1: "h"}, "racks": "ab"}
GONE = {0: BrokerState.DEAD}
PAIRS = [[0], [0], [1], [1]]


def planned(state, soft, goal="rebalance", **options):
    rules = {name: options.pop(name) for name in RULE_NAMES & options.keys()}
    request = PlanRequest(goal=goal, soft=soft, **rules, **options)
    return make(state, request)


def soft_notes(made):
    return [note for note in made.plan.placed.notes if note.what == "soft-rule"]


CASES = [
    pytest.param(
        make_state(PAIRS, size_bytes=45, disk_bytes=100, **TWO), {}, "capacity-disk",
        id="disk",
    ),
    pytest.param(
        make_state(PAIRS, in_rate=45.0, broker_in=100.0, **TWO), {}, "capacity-in",
        id="in",
    ),
    pytest.param(
        make_state(PAIRS, out_rate=45.0, broker_out=100.0, **TWO), {}, "capacity-out",
        id="out",
    ),
    pytest.param(
        make_state(PAIRS, leader_cpu=2.0, broker_cpu=5.0, **TWO), {}, "capacity-cpu",
        id="cpu",
    ),
    *(
        pytest.param(
            make_state([[0], [1]], **load, **HOST),
            {"host_capacity_threshold": [f"{resource}=0.3"]}, f"host-{resource}",
            id=f"{resource}-of-a-host",
        )
        for resource, load in {
            "disk": {"size_bytes": 40, "disk_bytes": 100},
            "in": {"in_rate": 40.0, "broker_in": 100.0},
            "out": {"out_rate": 40.0, "broker_out": 100.0},
            "cpu": {"leader_cpu": 2.0, "broker_cpu": 5.0},
        }.items()
    ),
    pytest.param(
        make_state([[0], [0], [1]], max_replicas=1, **TWO), {}, "max-replicas",
        id="max-replicas",
    ),
    pytest.param(
        make_state([[0, 1, 2]], racks="aab"), {"rack_rule": "strict"}, "rack",
        id="strict-racks",
    ),
    pytest.param(
        make_state([[0, 2], [1, 2]], racks="aab", size_bytes=30,
                   disk_bytes=[200, 200, 50]),
        {}, "rack", id="racks-where-a-disk-is-full",
    ),
    pytest.param(
        make_state([[0, 1]], racks="abb", states={0: BrokerState.DEAD},
                   broker_sets={0: "gold", 1: "silver", 2: "silver"}),
        {"broker_set": [".*=gold"]}, "broker-set", id="broker-set",
    ),
    pytest.param(
        make_state({"a": [[0, 1]], "b": [[0, 1]]}, **TWO), {"topics_apart": ["a=b"]},
        "topics-apart", id="too-few-brokers-to-be-apart",
    ),
    pytest.param(
        make_state({"a": [[0, 1]], "b": [[0]]}, **TWO), {"topics_together": ["a|b"]},
        "topics-together", id="together-with-other-factors",
    ),
    pytest.param(
        make_state([[0, 1]], racks="abb", states=GONE), {"locality_scoped": True},
        "locality-scoped", id="a-rack-that-is-gone",
    ),
    *(
        pytest.param(
            make_state([[0, 1], [0, 1]], racks="aba", size_bytes=10, states=GONE),
            {name.replace("-", "_"): cap}, name, id=name,
        )
        for name, cap in {
            "max-moves": 1, "max-bytes": "15", "max-cross-rack-bytes": "10",
        }.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize(("state", "rules", "name"), CASES)
def test_a_soft_rule_makes_no_plan_impossible(state, rules, name):
    assert planned(state, (), **rules).plan.status == "infeasible"

    made = planned(state, (name,), **rules)

    assert made.plan.status in MET
    assert made.plan.infeasible_set is None
    assert made.is_ok
    assert soft_notes(made)
    assert all(f"{name} is soft" in note.message for note in soft_notes(made))
    document = to_document(made.plan)
    assert document["settings"]["soft"] == [name]
    assert "soft-rule" in {note["what"] for note in document["notes"]}
    found = [one for one in made.findings if not one.existing]
    assert all(one.soft for one in found)


def test_every_soft_rule_has_a_case():
    named = {case.values[2] for case in CASES}

    assert named == set(rules_named(SOFT))
    assert named <= set(LIFTED)


def test_what_is_named_first_gives_way_first():
    state = make_state(
        [[0, 2], [1, 2]], racks="aab", size_bytes=30, disk_bytes=[200, 200, 50]
    )

    racks, disks = (
        planned(state, ("rack", "capacity")),
        planned(state, ("capacity", "rack")),
    )

    [note] = soft_notes(racks)
    assert "not spread over racks" in note.message
    [note] = soft_notes(disks)
    assert note.message == (
        "broker 2 uses 120.0% of its disk, 80% is the most: capacity-disk is soft, "
        "and gives way"
    )
    assert disks.plan.status == "nothing-to-do"
    # One of two partitions is enough.
    rack = rack_of(state)
    lists = lists_of(racks.plan.placed.reassignment.after()).values()
    assert sorted(len({rack[b] for b in row}) for row in lists) == [1, 2]


def test_rules_that_can_be_kept_are_kept():
    state = make_state(
        [[0, 1], [0, 1], [0, 2]], racks="abc", size_bytes=30, disk_bytes=100
    )

    hard, soft = planned(state, ()), planned(state, ("rack", "capacity"))

    assert lists_of(soft.plan.placed.reassignment.after()) == lists_of(
        hard.plan.placed.reassignment.after()
    )
    assert not soft_notes(soft)


def test_other_hard_rules_still_make_a_plan_impossible():
    state = make_state(
        [[0], [0], [1], [1]], size_bytes=45, disk_bytes=100, max_replicas=1, **TWO
    )

    made = planned(state, ("capacity",))

    assert made.plan.status == "infeasible"
    assert made.plan.infeasible_set.rules == ("max-replicas",)


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.lists(st.integers(20, 90), min_size=2, max_size=3),
)
def test_a_disk_is_over_by_as_little_as_can_be(sizes, disks):
    count = len(disks)
    state = make_state(
        [[0] for _ in sizes], ids=list(range(count)), size_bytes=sizes,
        disk_bytes=disks, racks="abc"[:count],
    )  # fmt: skip
    chosen = Settings(soft=("capacity-disk",), resources=())

    found = plan(state, Rebalance(), chosen)

    def beyond(place):
        held = Counter()
        for broker, size in zip(place, sizes, strict=True):
            held[broker] += size
        caps = [int(disk * 0.8 + 1e-9) for disk in disks]
        over = ((held[b] - cap) / cap for b, cap in enumerate(caps))
        return max(0.0, *over)

    least = min(beyond(place) for place in product(range(count), repeat=len(sizes)))
    assert found.has_met_rules
    reached = beyond([row[0] for row in lists_after(found)])
    assert reached == pytest.approx(least, abs=1e-9)


@settings(max_examples=50)
@given(
    clusters(min_brokers=2),
    st.sampled_from([Rebalance(), RemoveBrokers((0, 1))]),
    st.permutations(["rack", "capacity", "max-replicas"]).flatmap(
        lambda names: st.integers(1, 3).map(lambda last: tuple(names[:last]))
    ),
)
def test_soft_rules_of_any_cluster(state, operation, soft):
    tight = dict.fromkeys(DEFAULT_THRESHOLDS, 0.3)
    chosen = {"capacity_thresholds": tight, "max_replicas": 4, "effort": "quick"}
    hard = plan(state, operation, Settings(**chosen))

    found = plan(state, operation, Settings(**chosen, soft=soft))

    if hard.has_met_rules:
        assert lists_after(found) == lists_after(hard)
        return
    rules = CheckSettings(
        capacity_thresholds={str(r): v for r, v in tight.items()},
        soft=frozenset(soft),
    )
    assert not [one for one in newly_wrong(found, rules) if not one.soft] or (
        not found.has_met_rules
    )
    lifted = Settings(**chosen)
    for rule in rules_named(soft):
        lifted = LIFTED[rule].lifted(lifted)
    without = plan(state, operation, lifted)
    assert found.has_met_rules or not without.has_met_rules


@pytest.mark.parametrize("name", ["nothing", *ALWAYS_HARD])
def test_what_cannot_be_soft_is_refused_in_one_line(name):
    with pytest.raises(BadInputError) as refused:
        planned(make_state([[0]]), (name,))

    [problem] = refused.value.problems
    assert problem.place == "--soft"
    assert problem.value == name
    assert "\n" not in problem.rule


def test_resources_of_thresholds_are_those_that_can_be_soft():
    assert set(SOFT["capacity"]) == {f"capacity-{r}" for r in DEFAULT_THRESHOLDS}
    assert Resource.DISK in DEFAULT_THRESHOLDS
