"""Log dirs inside brokers: what is hard, what is soft, and why no plan is there."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.draft.draft import Settings
from placement.model.cluster import LogDirState
from placement.model.load import Resource
from placement.operations.log_dirs import LogDirs
from placement.planning.elastic.hard_dir_band import missed_dirs
from placement.planning.infeasibility.infeasible_rules import explain_impossible
from placement.planning.plan import plan
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.run.make_plan import make
from planner.snapshot import Snapshot, write_snapshot
from support.clusters import Dir, clusters, make_state
from support.commands import run

MET = {"optimal", "feasible", "nothing-to-do"}
PAIR = {0: [Dir("/a", 100), Dir("/b", 100)]}


def on_two(*sizes, where="a", **columns):
    """One broker with replicas of these sizes in the log dirs that letters name."""
    where = where.ljust(len(sizes), where[-1])
    return make_state(
        {f"t{row}": [[0]] for row in range(len(sizes))}, racks="a",
        size_bytes=list(sizes), dirs=[[f"/{letter}"] for letter in where],
        **({"log_dirs": PAIR} | columns),
    )  # fmt: skip


def planned(state, hard=(), soft=(), goal="log-dirs", **options):
    request = PlanRequest(goal=goal, hard=hard, soft=soft, **options)
    return make(state, request)


def missed(made):
    return {finding.rule for finding in made.findings}


def wrong(made):
    return {finding.rule for finding in made.findings if finding.is_wrong}


@pytest.mark.not_quick
def test_a_band_of_log_dirs_that_is_hard_and_out_of_reach_is_no_plan():
    state = on_two(3, 3, 2, where="aab")

    soft = planned(state, band=["0"])
    hard = planned(state, ("band-disk",), band=["0"])

    assert (soft.plan.status, wrong(soft)) == ("optimal", set())
    assert (hard.plan.status, missed(hard)) == ("infeasible", {"band-disk"})
    document = to_document(hard.plan)
    first = document["shortfalls"][0]
    assert first["what"] == "band-disk"
    assert first["where"] == {"broker": 0, "log_dir": "/a", "resource": "disk"}
    assert first["message"] == (
        "log dir /a of broker 0 is 25.0% of its share outside its band of disk: "
        "band-disk is hard. Leave out --hard band-disk."
    )
    assert document["moves"] == to_document(soft.plan)["moves"]
    assert document["reason"]["rules"][0]["remedy"] == "leave out --hard band-disk"


def test_a_hard_band_of_log_dirs_that_is_reached_is_a_plan():
    made = planned(on_two(3, 3), ("bands",))

    assert (made.plan.status, made.findings) == ("optimal", ())
    assert made.plan.moves["log_dirs"] == 1


def test_a_cap_can_keep_log_dirs_from_a_hard_band():
    made = planned(on_two(3, 3), ("band-disk",), max_moves=0)

    told = to_document(made.plan)["reason"]
    helping = {one["rule"] for one in told["rules"] if one["helps"]}
    assert (made.plan.status, missed(made)) == ("partial", {"band-disk"})
    assert helping == {"band-disk", "max-moves"}


def test_bands_of_log_dirs_do_not_count_where_only_what_is_over_moves():
    request = PlanRequest(
        goal="log-dirs",
        hard=("band-disk",),
        only_over_threshold=True,
    )

    made = make(on_two(3, 3), request)

    assert (made.plan.status, wrong(made)) == ("nothing-to-do", set())


def test_check_holds_a_plan_of_log_dirs_to_its_hard_band(capsys, tmp_path):
    state = on_two(3, 3, 2, 0, where="aabc", log_dirs={0: [*PAIR[0], Dir("/c", 100)]})
    snapshot, folder = tmp_path / "snapshot.json", tmp_path / "plan"
    write_snapshot(Snapshot.from_state(state), snapshot)
    options = ["--hard", "band-disk", "--empty", "0:/c", "--band", "0"]

    made = run(capsys, "plan", "log-dirs", snapshot, *options, "-o", folder)
    told = run(capsys, "check", folder, "--snapshot", snapshot, "--format", "json")

    assert made.code == 4
    # Missed as it was before: the plan ends partial, and makes nothing worse.
    assert told.code == 0
    findings = told.document["findings"]
    assert all(one["existing"] for one in findings)
    assert {one["rule"] for one in findings} == {"band-disk"}
    assert {one["where"]["log_dir"] for one in findings} == {"/a", "/b"}


@settings(max_examples=60, deadline=None)
@given(
    clusters(reassigning=True),
    st.sampled_from(["0", "0.02", "0.1", "0.6"]),
    st.booleans(),
)
def test_the_checker_finds_just_the_log_dirs_that_are_missed(state, band, empties):
    dirs = state.log_dirs
    empty = []
    if empties and len(dirs):
        empty = [f"{state.brokers.ids[dirs.broker_idx[0]]}:{dirs.paths[0]}"]

    made = planned(state, ("band-disk",), band=[band], empty=empty, effort="quick")

    placed = made.plan.placed
    missed = {one.bin for one in missed_dirs(placed, placed.draft.settings)}
    others = [one for one in placed.solution.shortfalls if one.what != "band-disk"]
    if others:
        return
    rows = {
        (int(state.brokers.ids[dirs.broker_idx[d]]), dirs.paths[d]): d
        for d in range(len(dirs))
    }
    found = {
        rows[one.where.broker, one.where.log_dir]
        for one in made.findings
        if one.rule == "band-disk"
    }
    assert found == missed
    assert (made.plan.status in MET) == (not missed)


def test_a_soft_threshold_gives_way_in_log_dirs_and_is_reported():
    state = on_two(50, 40, where="ab")
    options = {"empty": ["0:/a"]}

    hard = planned(state, **options)
    soft = planned(state, soft=("capacity-disk",), **options)

    assert hard.plan.status == "infeasible"
    assert (soft.plan.status, soft.is_ok) == ("optimal", True)
    [note] = [one for one in soft.plan.placed.notes if one.what == "soft-rule"]
    assert note.where == {"broker": 0, "log_dir": "/b", "resource": "disk"}
    assert (note.have, note.need) == (90, 80)
    assert note.message == (
        "log dir /b of broker 0 uses 90.0% of its file system, 80% is the most: "
        "capacity-disk is soft, and gives way"
    )
    assert [(one.rule, one.soft) for one in soft.findings] == [
        ("log-dir-capacity", True)
    ]


def test_a_soft_threshold_of_log_dirs_is_broken_by_as_little_as_can_be():
    # 90 come to two log dirs that may hold 40 each: 50 in one, or 80.
    log_dirs = {0: [Dir("/a", 200), Dir("/b", 100), Dir("/c", 100)]}
    state = on_two(40, 30, 20, log_dirs=log_dirs)
    options = {"empty": ["0:/a"], "capacity_threshold": ["disk=0.4"]}

    made = planned(state, soft=("capacity",), band=["disk=1"], **options)

    assert made.plan.status in MET
    assert sorted(made.plan.placed.log_dirs.after.tolist()) == [0, 40, 50]


def test_a_soft_threshold_that_can_be_kept_is_kept():
    state = on_two(50, 20, where="ab")

    soft, hard = (
        planned(state, soft=soft, empty=["0:/a"]) for soft in (("capacity-disk",), ())
    )

    assert soft.plan.status == hard.plan.status == "optimal"
    assert soft.plan.placed.notes == hard.plan.placed.notes


def test_with_log_dirs_a_soft_threshold_gives_way_there_too():
    log_dirs = {b: [Dir("/a", 50), Dir("/b", 50)] for b in (0, 1)}
    state = make_state(
        [[0], [0], [1]], racks="ab", size_bytes=[50, 40, 1], log_dirs=log_dirs,
        disk_bytes=100, dirs=[["/a"], ["/b"], ["/a"]],
    )  # fmt: skip

    made = planned(
        state, soft=("capacity-disk",), goal="remove-brokers", broker_list="0",
        with_log_dirs=True,
    )  # fmt: skip

    told = {n.where.get("log_dir") for n in made.plan.placed.notes if n.have}
    assert (made.plan.status in MET, made.is_ok) == (True, True)
    assert told == {"/a", "/b", None}
    assert made.plan.placed.log_dirs.after.tolist()[2:] == [41, 50]


def test_disks_meanwhile_count_where_a_threshold_gives_way():
    state = on_two(50, 40, where="ab")

    made = planned(state, soft=("capacity-disk",), empty=["0:/a"], transient_disk=True)

    assert (made.plan.status, made.plan.moves["log_dirs"]) == ("optimal", 1)


REASONS = [
    pytest.param(
        on_two(50, 40, where="ab"), Settings(), (0,), {"capacity-disk"},
        id="no-room-beside-the-emptied-one",
    ),
    pytest.param(
        on_two(30, 30), Settings(max_moves=1), (0,), {"max-moves"}, id="max-moves"
    ),
    pytest.param(
        on_two(30, 30), Settings(max_bytes=59), (0,), {"max-bytes"}, id="max-bytes"
    ),
    pytest.param(
        on_two(30, 30), Settings(excluded_topics=np.array([False, True])), (0,),
        {"exclude-topics"}, id="excluded-topics",
    ),
    pytest.param(
        on_two(30, log_dirs={
            0: [Dir("/a", 100), Dir("/b", 100, state=LogDirState.CORDONED)]
        }),
        Settings(), (0,), {"log-dirs"}, id="the-other-one-is-cordoned",
    ),
    pytest.param(on_two(30), Settings(), (0, 1), set(), id="all-are-emptied"),
]  # fmt: skip


@pytest.mark.parametrize(("state", "chosen", "to_empty", "rules"), REASONS)
def test_the_reason_of_log_dirs_is_these_rules(state, chosen, to_empty, rules):
    operation = LogDirs(to_empty)

    found = plan(state, operation, chosen)
    why = explain_impossible(operation, chosen, found)

    assert not found.has_met_rules
    assert found.solution.shortfalls
    assert set(why.rules) == rules
    assert (why.is_proven, why.is_irreducible) == (True, True)
    assert all(why.helps)


def test_the_reason_is_in_the_words_of_log_dirs():
    made = planned(on_two(50, 40, where="ab"), empty=["0:/a"])

    assert to_document(made.plan)["reason"]["message"] == (
        "cannot be kept: no log dir over 80% of its file system"
    )


def test_what_may_move_in_one_broker_leaves_room_for_what_must_in_another():
    log_dirs = {b: [Dir("/a"), Dir("/b"), Dir("/c")] for b in (0, 1)}
    state = make_state(
        [[0], [0], [0], [1]], racks="ab", size_bytes=[1, 9, 9, 5], log_dirs=log_dirs,
        dirs=[["/a"], ["/b"], ["/b"], ["/a"]],
    )  # fmt: skip

    placed = plan(state, LogDirs((0, 3)), Settings(max_moves=2))

    assert placed.has_met_rules
    assert placed.log_dirs.after[[0, 3]].tolist() == [0, 0]


@settings(max_examples=40)
@given(
    clusters(),
    st.sets(st.integers(0, 5), max_size=3),
    st.builds(
        Settings,
        max_moves=st.sampled_from([None, 0, 1]),
        hard=st.sampled_from([frozenset(), frozenset({"band-disk"})]),
        capacity_thresholds=st.sampled_from([{}, {Resource.DISK: 0.5}]),
        effort=st.just("quick"),
    ),
)
def test_remedies_help(state, rows, chosen):
    operation = LogDirs(tuple(row for row in rows if row < len(state.log_dirs)))

    found = plan(state, operation, chosen)
    why = explain_impossible(operation, chosen, found)

    assert (why is None) == found.has_met_rules
    if why is None or "max-moves" not in why.rules:
        return
    helps = why.helps[why.rules.index("max-moves")]
    assert (
        not helps
        or plan(state, operation, replace(chosen, max_moves=None)).has_met_rules
    )
