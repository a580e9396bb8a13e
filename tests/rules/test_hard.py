"""Goals that are hard: met in full, or the plan says which are missed and why."""

from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState
from placement.model.load import RESOURCES, Resource
from placement.operations.rebalance import Rebalance
from placement.planning.elastic.hard_goals import missed_goals
from placement.planning.plan import plan
from placement.rules.registry import HARD, goals_named
from planner.cli.plan.plan_options import without_overruled
from planner.errors import BadInputError
from planner.options.cluster_options import read_request
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state

MET = {"optimal", "feasible", "nothing-to-do"}
GOALS = {
    "potential_out": True,
    "leader_in": True,
    "spread_topics": "t.*",
    "spread_topic_leaders": "t.*",
    "min_topic_leaders": ("t0=1",),
    "even_positions": True,
}


def planned(state, hard, goal="rebalance", options=None, **rules):
    request = PlanRequest(goal=goal, hard=hard, **rules, **(options or {}))
    return make(state, request)


def wrong_goals(made):
    """Return the hard goals that the checker finds missed."""
    named = goals_named(HARD)
    return {one.rule for one in made.findings if one.rule in named and not one.soft}


@pytest.mark.not_quick
def test_a_band_that_cannot_be_met_is_no_plan():
    state = make_state([[0], [0], [1]], size_bytes=[3, 3, 2], racks="ab")
    options = {"resources": "disk", "band": ["0"]}

    soft = planned(state, (), options=options)
    hard = planned(state, ("band-disk",), options=options)

    assert soft.plan.status in MET
    assert hard.plan.status == "infeasible"
    document = to_document(hard.plan)
    assert document["settings"]["hard"] == ["band-disk"]
    first = document["shortfalls"][0]
    assert first["what"] == "band-disk"
    assert first["where"] == {"broker": 0, "resource": "disk"}
    assert first["message"].endswith(
        "outside its band of disk: band-disk is hard. Add a broker to rack a or leave "
        "out --hard band-disk."
    )
    (rule,) = document["reason"]["rules"]
    assert rule["remedy"] == "leave out --hard band-disk"
    assert wrong_goals(hard) == {"band-disk"}
    # It was missed by as much before: the status says so, and the plan is no worse.
    assert hard.is_ok


def test_leaders_that_no_election_elects_count_for_no_band():
    # The last partition has live replicas, but none that may lead.
    state = make_state(
        [[0, 1], [1, 0], [0, 1]], racks="ab",
        isr=[[0, 1], [0, 1], []], leaders=[0, 1, None],
    )  # fmt: skip
    found = plan(
        state,
        Rebalance(),
        Settings(bands={Resource.LEADERS: 0}, hard=goals_named(["band-leaders"])),
    )

    assert not list(missed_goals(found, found.draft.settings))
    assert found.has_met_rules
    assert found.is_nothing


@pytest.mark.slow
def test_a_soft_rule_that_gives_way_makes_no_hard_goal_soft():
    # Three replicas a broker are too few, and no plan with more is found in the bands.
    rows = [[0, 4], [0, 8], [0, 4], [0, 8], [4, 0], [0, 4], [0, 8], [0, 4]]
    state = make_state(
        rows, ids=[0, 4, 8, 11], racks="aaaa", states={11: BrokerState.NEW},
        leaders=[0, 0, 0, 0, 4, 4, 0, 4], size_bytes=[20, 10, 20, 20, 5, 0, 80, 10],
        in_rate=[10.0, 0.0, 10.0, 3.0, 30.0, 0.0, 10.0, 3.0],
        out_rate=[0.0, 10.0, 0.0, 30.0, 10.0, 10.0, 30.0, 3.0],
    )  # fmt: skip
    options = {"effort": "quick", "exclude_brokers_for_leaders": "0"}
    rules = {"max_replicas_per_broker": 3, "soft": ("max-replicas",)}

    soft = planned(state, (), "rebalance", options, **rules)
    hard = planned(state, ("bands",), "rebalance", options, **rules)
    positions = planned(
        state, ("even-positions",), "rebalance", options, even_positions=True, **rules
    )

    assert soft.plan.status in MET
    assert "soft-rule" in {note.what for note in hard.plan.placed.notes}
    assert wrong_goals(hard)
    for made in (hard, positions):
        missed = {short.level for short in made.plan.placed.solution.shortfalls}
        assert wrong_goals(made) <= missed
        assert bool(missed) == (made.plan.status not in MET)


def test_a_hard_goal_goes_before_soft_ones():
    # To even out what comes in both heavy ones must part; disks then differ.
    state = make_state(
        [[0], [0], [1], [1]], size_bytes=[90, 10, 90, 10], racks="ab",
        in_rate=[90.0, 90.0, 10.0, 10.0],
    )  # fmt: skip
    options = {"resources": "disk,in", "band": ["0.01"]}

    made = planned(state, ("band-in",), options=options)

    assert made.plan.status in MET
    assert not wrong_goals(made)


def test_goals_in_the_way_of_a_hard_one_are_left_aside():
    # Even disks need the two large ones apart, even rates need them together.
    state = make_state(
        [[0], [1], [0]], size_bytes=[60, 60, 10], in_rate=[10.0, 10.0, 20.0],
        racks="ab",
    )  # fmt: skip
    chosen = {"resources": (Resource.DISK, Resource.IN)}
    bands = {Resource.DISK: 0.1, Resource.IN: 0.0}

    found = plan(
        state, Rebalance(),
        Settings(bands=bands, hard=frozenset({"band-in"}), **chosen),
    )  # fmt: skip

    assert found.has_met_rules
    assert not list(missed_goals(found, found.draft.settings))
    assert "goals-left" in {note.what for note in found.notes}


LEADERS_SPREAD = "spread-topic-leaders"
HARDS = st.sets(st.sampled_from(sorted(HARD)), min_size=1, max_size=3)
GOAL = st.sampled_from(["rebalance", "rebalance", "leaders", "remove-brokers"])


def told_apart(state, hard, goal, options, preset):
    """Return what the solver misses and what the checker does; `None`: rules broken."""
    request = PlanRequest(
        goal=goal, effort="quick", **options,
        hard=tuple(sorted(hard)), **GOALS, rules=preset,
    )  # fmt: skip
    # Reasons cost the most of all, and say nothing here.
    with mock.patch("planner.plan.run.make_plan.explain_impossible", return_value=None):
        made = make(state, request)
    placed = made.plan.placed
    if any(one.what != "goal" for one in placed.solution.shortfalls):
        return None
    chosen = read_request(request, state).settings
    missed = {one.level for one in missed_goals(placed, chosen)}
    assert (made.plan.status in MET) == (not missed)
    return missed, wrong_goals(made)


@settings(max_examples=60)
@given(
    clusters(min_brokers=2, all_live=True),
    HARDS,
    GOAL,
    st.booleans(),
    st.sampled_from([None, "cruise-control"]),
)
def test_the_checker_finds_just_the_goals_that_are_missed(
    state, hard, goal, is_wide, preset
):
    options = {"band": ["0.6"]} if is_wide else {}
    if goal == "remove-brokers":
        options["broker_list"] = str(int(state.brokers.ids[0]))

    told = told_apart(state, hard, goal, options, preset)

    assert told is None or told[0] == told[1]


def test_leaders_are_counted_by_the_first_of_each_list_even_out_of_sync():
    # Broker 1 is demoted, and of the last partition the only one in sync.
    lists = {
        "t0": [[0, 1], [0, 2], [1, 2]],
        "t1": [[0, 1, 2, 3], [0, 2, 3, 1], [3, 1, 2], [0, 1, 2, 3]],
    }
    isr = [*lists["t0"], *lists["t1"][:3], [1]]
    state = make_state(
        lists, racks="aaaa", states={1: BrokerState.DEMOTED}, isr=isr,
        leaders=[0, 0, 1, 0, 0, 3, 0],
    )  # fmt: skip

    told = told_apart(state, {"band-leaders", "even-positions"}, "rebalance", {}, None)

    assert told == (set(), set())


@pytest.mark.not_quick
@given(
    st.lists(st.permutations(range(4)), min_size=1, max_size=12),
    st.sampled_from([0.1, 0.5, 1.8]),
    st.sampled_from(["0-1", "1-1", "2-40"]),
    st.sets(st.integers(0, 3), max_size=3),
)
def test_leaders_of_topics_are_spread_or_the_checker_says_where_not(
    lists, band, gap, barred
):
    state = make_state([row[:2] for row in lists], ids=[0, 1, 2, 3], racks="abcd")
    request = PlanRequest(
        goal="leaders", effort="quick",
        exclude_brokers_for_leaders=",".join(map(str, sorted(barred))) or None,
        hard=(LEADERS_SPREAD,), spread_topic_leaders="t", spread_band=band,
            spread_gap=gap,
    )  # fmt: skip

    made = make(state, request)

    chosen = read_request(request, state).settings
    missed = {one.level for one in missed_goals(made.plan.placed, chosen)}
    assert missed == wrong_goals(made)
    assert (made.plan.status in MET) == (not missed)


@pytest.mark.parametrize(
    ("goal", "rules"),
    [
        ("leader-in", {"leader_in": True}),
        ("min-topic-leaders", {"min_topic_leaders": ("t=1",)}),
        ("spread-topic-leaders", {"spread_topic_leaders": "t"}),
    ],
)
def test_who_holds_nothing_has_no_part_in_goals_of_leaders(goal, rules):
    rows = [[0, 1], [1, 0], [0, 1], [1, 0]]
    state = make_state(rows, ids=[0, 1, 2], racks="abc", in_rate=3.0, out_rate=1.0)

    made = planned(state, (goal,), goal="leaders", **rules)

    assert made.plan.status in MET
    assert wrong_goals(made) == set()


def test_every_band_is_named():
    assert HARD["bands"] == tuple(f"band-{resource}" for resource in RESOURCES)


@pytest.mark.parametrize(
    ("hard", "soft", "rules", "value"),
    [
        (("nothing",), (), {}, "nothing"),
        (("leader-in",), (), {}, "leader-in"),
        (("spread-topics",), (), {}, "spread-topics"),
        (("rack",), ("rack",), {}, "rack"),
        (("capacity-in",), ("capacity",), {}, "capacity-in"),
        (("bands",), ("band-in",), {}, "band-in"),
    ],
)
def test_what_cannot_be_hard_is_refused(hard, soft, rules, value):
    with pytest.raises(BadInputError) as refused:
        planned(make_state([[0]]), hard, soft=soft, **rules)

    assert [(one.place, one.value) for one in refused.value.problems] == [
        ("--hard", value)
    ]


def test_rules_that_are_hard_as_it_is_may_be_named():
    made = planned(make_state([[0], [1]], racks="ab"), ("rack", "max-moves", "bands"))

    assert made.plan.status in MET
    assert made.plan.settings["hard"] == sorted(HARD["bands"])


def test_plans_that_meet_their_goals_are_the_same():
    state = make_state([[0, 1]] * 6, racks="abc", size_bytes=5)

    hard, soft = planned(state, ("bands",)), planned(state, ())

    assert hard.plan.status == soft.plan.status
    assert hard.plan.placed.solution.status in {Status.OPTIMAL, Status.FEASIBLE}
    assert (
        hard.plan.placed.reassignment.broker_idx
        == soft.plan.placed.reassignment.broker_idx
    ).all()


@pytest.mark.parametrize(
    ("soft", "hard", "sources", "expected"),
    [
        (["rack"], ["rack"], {"hard": "COMMANDLINE"}, ([], ["rack"])),
        (["rack"], ["rack"], {"soft": "ENVIRONMENT"}, (["rack"], [])),
        (["rack"], ["rack"], {}, (["rack"], ["rack"])),
        (
            ["capacity"], ["capacity-in"], {"hard": "COMMANDLINE"},
            (["capacity-disk", "capacity-out", "capacity-cpu"], ["capacity-in"]),
        ),
        (["rack"], ["bands"], {"hard": "COMMANDLINE"}, (["rack"], ["bands"])),
        (None, ["bands"], {"hard": "COMMANDLINE"}, (None, ["bands"])),
    ],
)  # fmt: skip
def test_the_line_goes_before_the_file(soft, hard, sources, expected):
    found = without_overruled({"soft": soft, "hard": hard}, sources)

    assert (found["soft"], found["hard"]) == expected


def test_brokers_to_come_are_to_be_filled_like_those_that_are_named():
    state = make_state([[0], [1]] * 6, racks="abc")
    options = {
        "broker_list": "2",
        "new_broker": ("id=3,rack=d,like=0",),
        "resources": "replicas",
        "max_moves": 0,
    }

    made = planned(state, ("band-replicas",), "add-brokers", options)

    low = {one.where.broker for one in made.findings if one.rule == "band-replicas"}
    assert low >= {2, 3}
