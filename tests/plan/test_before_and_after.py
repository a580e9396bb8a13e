"""Plans on clusters in which something was wrong before."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.model.cluster import BrokerState, LogDirState
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.run.make_plan import make
from planner.plan.run.prior_violations import remedy_of
from planner.plan.screen.plan_screen import plan_screen
from planner.snapshot import Snapshot, write_snapshot
from support.clusters import Dir, clusters, make_state
from support.commands import run

MET = {"optimal", "feasible", "nothing-to-do"}


def crowded():
    """Partition 0 lies in one rack, and broker 0 leads everything."""
    return make_state([[0, 1], [0, 2], [0, 3], [0, 2]], racks="aabb")


def planned(state, goal, own=None, rules=None, **options):
    request = PlanRequest(
        goal=goal,
        **(own or {}),
        **(rules or {}),
        **options,
    )
    return make(state, request)


def existing(made):
    return [one for one in to_document(made.plan)["notes"] if one["existing"]]


@pytest.mark.parametrize(
    ("goal", "options"),
    [("leaders", {}), ("demote", {"broker_list": "0"})],
)
def test_an_order_of_replicas_is_not_blamed_for_racks(goal, options):
    made = planned(crowded(), goal, **options)

    assert made.plan.status == "optimal"
    assert made.is_ok
    assert [one.rule for one in made.findings if one.existing] == ["rack"]
    assert to_document(made.plan)["shortfalls"] == []
    assert [one["message"] for one in existing(made)] == [
        "1 partition breaks the rack rule as before: t-0; plan fix --only racks "
        "repairs that"
    ]
    screen = "\n".join(plan_screen(made))
    assert "rules: ok" not in screen
    assert "as before 1 partition breaks the rack rule" in screen


def test_leaders_are_one_each_though_a_rack_is_crowded():
    made = planned(crowded(), "leaders")

    leaders = made.plan.placed.reassignment.after().partitions.leader_idx
    assert sorted(leaders.tolist()) == [0, 1, 2, 3]


def test_the_remedy_for_racks_repairs_them_by_one_copy():
    made = planned(crowded(), "fix", {"only": ("racks",)})

    assert (made.plan.status, made.plan.moves["replicas"]) == ("optimal", 1)
    assert made.findings == ()


def test_a_check_names_the_remedy_for_what_was_there_before(capsys, tmp_path):
    snapshot, hand = tmp_path / "s.json", tmp_path / "hand.json"
    write_snapshot(Snapshot.from_state(crowded()), snapshot)
    hand.write_text(
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,0]}]}'
    )

    as_json = run(capsys, "check", hand, "--snapshot", snapshot, "--format", "json")
    as_text = run(capsys, "check", hand, "--snapshot", snapshot)

    assert (as_json.code, as_text.code) == (0, 0)
    assert [
        (one["rule"], one["existing"], one["remedy"])
        for one in as_json.document["findings"]
    ] == [("rack", True, "plan fix --only racks")]
    assert "repaired by: plan fix --only racks" in as_text.out


@pytest.mark.parametrize(
    ("replicas", "goal", "options"),
    [
        pytest.param([[0, 1, 2]], "fix", {}, id="fix"),
        pytest.param([[0, 1, 2]], "remove-brokers", {"broker_list": "1"}, id="remove"),
        pytest.param([[0, 1, 2], [1]], "fix", {}, id="beside a lost one"),
    ],
)
def test_a_reason_names_the_option_for_brokers_that_may_come_back(
    replicas, goal, options
):
    state = make_state(
        replicas, racks="abcabc", states={1: BrokerState.DEAD, 2: BrokerState.FENCED}
    )

    made = planned(state, goal, options)

    message = to_document(made.plan)["reason"]["message"]
    assert message.startswith(
        "partitions with replicas on broker 2 are left alone: start broker 2; or, if "
        "gone for good, plan fix --lost 2"
    )
    assert ("no option helps" in message) == (len(replicas) > 1)
    lost = planned(state, "fix", {"lost": "2"})
    assert (lost.plan.status == "optimal") == (len(replicas) == 1)


FENCED, DEAD = BrokerState.FENCED, BrokerState.DEAD


@pytest.mark.parametrize(
    ("states", "rows"),
    [
        pytest.param({2: FENCED}, ([0, 2], [0, 1]), id="fenced"),
        pytest.param({2: BrokerState.SHUTTING_DOWN}, ([0, 2],), id="stopping"),
        pytest.param({2: FENCED, 5: DEAD}, ([0, 2, 5], [0, 5]), id="one dead"),
        pytest.param({2: FENCED, 5: FENCED}, ([0, 2, 5], [0, 2]), id="two"),
        pytest.param({2: DEAD}, ([0, 2], [0, 1]), id="dead"),
        pytest.param({2: DEAD}, ([0, 1, 2],), id="dead in a crowded rack"),
        pytest.param({2: FENCED}, ([0, 1, 2],), id="fenced in a crowded rack"),
    ],
)
def test_a_remedy_for_brokers_that_are_gone_repairs_what_it_is_for(states, rows):
    state = make_state([*rows], racks="aabbcc", states=states)
    held = planned(state, "leaders")

    assert held.findings
    for finding in held.findings:
        remedy = remedy_of(finding, state)
        options = {"only": ["offline"]} if "--only offline" in remedy else {}
        if "--lost" in remedy:
            options["lost"] = remedy.split()[-1]
        left = planned(state, "fix", options).findings
        assert finding.message not in {one.message for one in left}


def test_a_partition_that_is_being_reassigned_is_repaired_after_that(capsys, tmp_path):
    state = make_state([[0, 1, 2], [0, 2], [0, 3]], racks="aabb")
    document = Snapshot.from_state(state).to_document()
    document["topics"][0]["partitions"][1] |= {"replicas": [0, 1], "isr": [0]}
    document["topics"][0]["partitions"][1] |= {"adding_replicas": [1]}
    document["topics"][0]["partitions"][2] |= {"replicas": [0, 1], "isr": [0, 1]}
    snapshot, hand = tmp_path / "s.json", tmp_path / "hand.json"
    snapshot.write_text(json.dumps(document))
    hand.write_text(
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,0,2]}]}'
    )

    found = run(capsys, "check", hand, "--snapshot", snapshot, "--format", "json")

    remedies = {
        one["where"]["partition"]: one["remedy"]
        for one in found.document["findings"]
        if one["rule"] == "rack"
    }
    assert remedies == {
        1: "the end of its reassignment (kafka-planner status shows it), then plan fix "
        "--only racks",
        2: "plan fix --only racks",
    }


def test_a_replica_that_must_move_does_not_answer_for_those_that_stay():
    state = make_state([[0, 1, 3]], racks="aabbcc")

    made = planned(state, "remove-brokers", broker_list="3")

    assert made.plan.status in MET
    assert made.is_ok
    # Where the fewest lie, so that nothing gets worse.
    after = made.plan.placed.reassignment.after()
    racks = after.brokers.rack_idx[after.replicas.broker_idx].tolist()
    assert sorted(racks) in ([0, 0, 1], [0, 0, 2])
    assert existing(made)


def test_a_full_disk_elsewhere_is_named_and_not_blamed():
    state = make_state([[0], [1]], racks="abc", disk_bytes=100, size_bytes=[90, 10])

    made = planned(state, "remove-brokers", broker_list="1")
    fixed = planned(state, "rebalance")

    assert made.plan.status in MET
    assert made.is_ok
    assert [one["message"] for one in existing(made)] == [
        "broker 0 carries 90 B of disk and may carry 80 B, no more than before; plan "
        "rebalance relieves it"
    ]
    # Relieving it is what a rebalance is for.
    assert fixed.plan.status not in MET


@given(clusters(all_live=True), st.sampled_from(["leaders", "remove-brokers"]))
def test_no_plan_that_is_met_makes_anything_worse(state, goal):
    options = {}
    if goal == "remove-brokers":
        options["broker_list"] = str(int(state.brokers.ids[0]))

    made = planned(state, goal, effort="quick", **options)

    if made.plan.status in MET:
        assert made.is_ok, [one for one in made.findings if one.is_wrong]


@given(clusters(all_live=True))
def test_leaders_alone_never_lack_racks_disks_or_replicas(state):
    made = planned(state, "leaders", effort="quick")

    lacks = {one["where"].get("resource") for one in shortfalls(made)}
    assert lacks <= {"in", "out", "cpu", "leaders"}


def shortfalls(made):
    return to_document(made.plan)["shortfalls"]


MIXED = {"t": [[0, 1, 2], [1, 2, 3], [2, 3], [3, 4, 5], [5]]}


@pytest.mark.parametrize(
    ("goal", "own", "options"),
    [
        ("rebalance", {}, {}),
        ("remove-brokers", {}, {"broker_list": "5"}),
        ("add-brokers", {}, {"broker_list": "5"}),
        ("replace-broker", {"broker": "0", "with_broker": "3"}, {}),
        ("demote", {}, {"broker_list": "0"}),
        ("leaders", {}, {}),
    ],
)
def test_mixed_factors_are_named_by_every_operation(goal, own, options):
    state = make_state(MIXED, racks="abcabc", size_bytes=10)

    made = planned(state, goal, own, **options)

    assert [
        one["message"] for one in existing(made) if one["what"] == "mixed-factors"
    ] == [
        "topic t has mixed replication factors: 3 in partitions 0-1,3; 2 in partition "
        "2; 1 in partition 4. plan fix --only replication-factor makes all 3"
    ]
    assert made.is_ok


def test_the_remedy_for_mixed_factors_leaves_one():
    state = make_state(MIXED, racks="abcabc", size_bytes=10)

    made = planned(state, "fix", {"only": ("replication-factor",)})

    assert made.plan.status in MET
    assert existing(made) == []


def test_copies_without_a_place_lack_places_and_not_room():
    state = make_state(
        {"a": [[0], [2]], "b": [[0, 2, 1], [0, 1, 2]]},
        racks="abc",
        size_bytes=10,
        states={0: BrokerState.DEAD},
    )

    made = planned(state, "fix")

    messages = [one["message"] for one in shortfalls(made)]
    assert made.plan.status == "infeasible"
    lack = "b-0 needs 3 places on brokers, 2 can be had"
    assert any(one.startswith(lack) for one in messages)
    assert not [one for one in messages if "may carry 0" in one]


def test_removal_may_change_leadership_anywhere_unless_leaders_are_kept():
    lists = [[0, 1], [0, 1], [0, 2], [0, 2], [3, 1]]
    state = make_state(lists, racks="abcd")

    freed = planned(state, "remove-brokers", broker_list="3")
    kept = planned(
        state, "remove-brokers", rules={"keep_leaders": ".*"}, broker_list="3"
    )

    for made in (freed, kept):
        assert made.plan.status in MET
        assert made.plan.moves["replicas"] == 1
        assert made.is_ok
    deviation = [
        made.plan.placed.solution.certificate.deviation.value for made in (freed, kept)
    ]
    assert deviation[0] == 0 < deviation[1]
    assert kept.plan.moves["leaders"] <= 1 < freed.plan.moves["leaders"]


def test_a_replacement_says_what_leaders_would_gain():
    lists = [[0, 1], [0, 1], [0, 2], [0, 2], [3, 1]]
    state = make_state(lists, racks="abcdd", states={4: BrokerState.NEW})

    made = planned(state, "replace-broker", {"broker": "3", "with_broker": "4"})
    order = planned(made.plan.placed.reassignment.after(), "leaders")

    told = [n for n in to_document(made.plan)["notes"] if n["what"] == "leaders"]
    assert len(told) == 1
    assert told[0]["need"] < told[0]["have"]
    assert f"by {order.plan.moves['leaders']} leader change" in told[0]["message"]


def test_a_replacement_is_not_blamed_for_racks_that_it_leaves_as_they_were():
    state = make_state([[0, 1, 2]], racks="aabc")

    made = planned(state, "replace-broker", {"broker": "2", "with_broker": "3"})

    assert made.plan.status in MET
    assert made.plan.placed.reassignment.after().brokers_of(0) == [0, 1, 3]
    assert made.is_ok


def with_failed_dir(spare, racks="abc"):
    """Return brokers that all hold all replicas; a log dir of broker 2 has failed."""
    failed = [Dir("/d1", 1000, state=LogDirState.OFFLINE), *spare]
    return make_state(
        [[0, 1, 2], [1, 2, 0]],
        racks=racks,
        ids=range(len(racks)),
        size_bytes=100,
        disk_bytes=[1000, 1000, sum(one.size_bytes for one in spare)]
        + [1000] * len(racks[3:]),
        log_dirs={b: [Dir("/d1", 1000)] for b in range(len(racks))} | {2: failed},
        dirs=[["/d1"] * 3] * 2,
        isr=[[0, 1], [1, 0]],
    )


@pytest.mark.parametrize(
    ("state", "remedy"),
    [
        pytest.param(
            with_failed_dir([]),
            "replace the disk of broker 2, or add a broker",
            id="all",
        ),
        pytest.param(
            with_failed_dir([Dir("/d2", 1000)]),
            "restart broker 2 without /d1, or add a broker",
            id="another log dir",
        ),
        pytest.param(
            with_failed_dir([Dir("/d2", 150)]),
            "replace the disk of broker 2, or add a broker",
            id="another log dir without room",
        ),
        pytest.param(
            with_failed_dir([], racks="abcc"), "plan fix --only log-dirs", id="a broker"
        ),
    ],
)
def test_a_failed_log_dir_has_a_remedy_that_repairs_it(state, remedy):
    held = planned(state, "leaders")

    found = {remedy_of(one, state) for one in held.findings}

    assert found == {remedy}
    left = planned(state, "fix", {"only": ["log-dirs"]}).findings
    assert bool(left) == (remedy != "plan fix --only log-dirs")


@pytest.mark.parametrize("goal", ["fix", "rebalance"])
def test_check_names_no_command_that_the_plan_tried(capsys, tmp_path, goal):
    # Broker 3 could take the copies but for its rack, which the rule wants for others.
    state = with_failed_dir([], racks="abca")
    snapshot, folder = tmp_path / "s.json", tmp_path / "plan"
    write_snapshot(Snapshot.from_state(state), snapshot)
    made = run(capsys, "plan", goal, snapshot, "-o", folder)

    outcome = run(capsys, "check", folder, "--snapshot", snapshot, "--format", "json")
    screen = run(capsys, "check", folder, "--snapshot", snapshot).out

    assert made.code == 4
    assert outcome.document["findings"]
    assert {one["remedy"] for one in outcome.document["findings"]} == {None}
    assert "repaired by" not in screen


def test_the_disk_with_the_last_copy_is_repaired_and_not_replaced():
    failed = [Dir("/d1", 1000, state=LogDirState.OFFLINE)]
    state = make_state(
        [[0, 1]],
        racks="ab",
        size_bytes=100,
        disk_bytes=[0, 0],
        log_dirs={0: failed, 1: failed},
        dirs=[["/d1", "/d1"]],
        isr=[[0]],
        leaders=[None],
    )

    findings = planned(state, "leaders").findings

    found = {remedy_of(one, state) for one in findings if one.rule == "capacity"}
    assert len(found) == 1
    assert "log dir /d1 of broker 0" in found.pop()
