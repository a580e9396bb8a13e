"""The plan folder: what is in each file, and what happens to what stood there."""

import json
import os
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.model.cluster import BrokerState
from planner.errors import BadInputError
from planner.kafka_files.file_parts import MOST_PARTITIONS_PER_FILE
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_records import ElectionRecord, PlanRecord
from planner.plan.documents.scored_plan import elections
from planner.plan.folder.plan_folder import plan_files, write_plan
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state
from support.naive import failed_ids, key_of, lists_of, live_ids
from support.plans import (
    contents,
    lists_in,
    lists_of_document,
    many_document,
    moves_in,
    planned_for,
    skewed_document,
)

GOALS = ["rebalance", "add-brokers", "remove-brokers"]
FILES = {
    "RUNBOOK.md",
    "moves.csv",
    "plan.json",
    "preferred-election.json",
    "reassignment.json",
    "rollback.json",
}


@cache
def plan_of(goal):
    options = {"broker_list": "1"} if goal == "remove-brokers" else {}
    return planned_for(skewed_document(), goal, **options).plan


def files_of(plan):
    return dict(plan_files(plan))


def entries(text):
    return {
        (entry["topic"], entry["partition"]): entry
        for entry in json.loads(text)["partitions"]
    }


def racks_of_leaders(document):
    """Where copies of each partition come from."""
    racks = {broker["id"]: broker["rack"] for broker in document["brokers"]}
    return {
        (topic["name"], p["partition"]): racks[p.get("leader", p["replicas"][0])]
        for topic in document["topics"]
        for p in topic["partitions"]
    }


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_files_tell_one_story(goal, tmp_path):
    document = skewed_document()
    before, leader_racks = lists_of_document(document), racks_of_leaders(document)
    plan = plan_of(goal)

    names = write_plan(plan, tmp_path / "p")

    target = lists_in(tmp_path / "p/reassignment.json")
    moves = moves_in(tmp_path / "p/moves.csv")
    said = json.loads((tmp_path / "p/plan.json").read_text())
    assert set(names) == FILES == set(contents(tmp_path / "p"))
    assert all(before[key] != replicas for key, replicas in target.items())
    assert {k: before[k] for k in target} == lists_in(tmp_path / "p/rollback.json")
    copies = [row for row in moves if row["kind"] == "replica"]
    added = {
        (*key, broker)
        for key, replicas in target.items()
        for broker in set(replicas) - set(before[key])
    }
    assert added == {(r["topic"], int(r["partition"]), int(r["to"])) for r in copies}
    assert said["moves"] == {
        "replicas": len(added),
        "bytes": sum(int(row["bytes"]) for row in moves),
        "cross_rack_bytes": sum(
            int(row["bytes"])
            for row in copies
            if row["to_rack"] != leader_racks[row["topic"], int(row["partition"])]
        ),
        "leaders": sum(target[key][0] != before[key][0] for key in target),
        "log_dirs": 0,
        "log_dir_bytes": 0,
        "partitions": len(target),
    }
    assert added, "the case is worth nothing if nothing moves"
    PlanRecord.model_validate(said)
    ElectionRecord.model_validate_json(
        (tmp_path / "p/preferred-election.json").read_text()
    )


@pytest.mark.not_quick
@pytest.mark.parametrize("goal", GOALS)
def test_moves_name_racks_and_sizes(goal, tmp_path):
    document = skewed_document()
    racks = {str(broker["id"]): broker["rack"] for broker in document["brokers"]}
    sizes = {
        (topic["name"], str(p["partition"])): str(p["size_bytes"])
        for topic in document["topics"]
        for p in topic["partitions"]
    }
    write_plan(plan_of(goal), tmp_path / "p")

    rows = moves_in(tmp_path / "p/moves.csv")

    assert {row["kind"] for row in rows} == {"replica", "leader"}
    for row in rows:
        size = sizes[row["topic"], row["partition"]]
        assert row["bytes"] == (size if row["kind"] == "replica" else "0")
        assert (row["from_rack"], row["to_rack"]) == (
            racks[row["from"]],
            racks[row["to"]],
        )


def test_rollback_has_the_log_dirs_of_before():
    document = skewed_document()
    dirs = {
        (topic["name"], p["partition"]): p["log_dirs"]
        for topic in document["topics"]
        for p in topic["partitions"]
    }

    back = entries(files_of(plan_of("rebalance"))["rollback.json"])

    assert back
    for key, entry in back.items():
        assert entry["log_dirs"] == dirs[key]


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param(0, id="just-one-file"),
        pytest.param(1, id="one-partition-more"),
        pytest.param(1500, id="many-more"),
    ],
)
def test_long_files_are_also_cut(extra):
    moving = MOST_PARTITIONS_PER_FILE + extra
    plan = planned_for(
        many_document(moving), "remove-brokers", broker_list="1", effort="quick"
    ).plan

    files = files_of(plan)

    for name in ("reassignment", "rollback"):
        whole = entries(files[f"{name}.json"])
        parts = [files[f] for f in sorted(files) if f.startswith(f"{name}-")]
        cut = [entries(text) for text in parts]
        assert len(whole) == moving
        assert len(parts) == (2 if extra else 0)
        assert all(len(part) <= MOST_PARTITIONS_PER_FILE for part in cut)
        if parts:
            assert sum(map(len, cut)) == moving
            assert {k: v for part in cut for k, v in part.items()} == whole


def naive_elections(before, target):
    """Keys whose leader goes on leading, though another replica is first and live."""
    listed = lists_of(before) | target
    live, found = live_ids(before), set()
    for p in range(before.num_partitions):
        row = int(before.partitions.leader_idx[p])
        key = key_of(before, p)
        leader = None if row < 0 else int(before.brokers.ids[row])
        first = listed[key][0]
        able = live - failed_ids(before, p)
        if leader in listed[key] and leader != first and first in able:
            found.add(key)
    return found


def any_plan(state, goal, data):
    """Plan for brokers drawn; those to be filled must be live."""
    ids = live_ids(state) if goal == "add-brokers" else set(state.brokers.ids.tolist())
    if not ids or goal == "rebalance":
        return make(state, PlanRequest(goal="rebalance", effort="quick"))
    chosen = data.draw(st.sets(st.sampled_from(sorted(ids)), min_size=1))
    listed = ",".join(map(str, sorted(chosen)))
    return make(state, PlanRequest(goal=goal, broker_list=listed, effort="quick"))


@settings(max_examples=60)
@given(clusters(reassigning=True), st.sampled_from(GOALS), st.data())
def test_any_plan_keeps_the_promises_of_its_files(state, goal, data):
    planned = any_plan(state, goal, data)

    files = files_of(planned.plan)
    document = json.loads(files["plan.json"])
    target = {k: e["replicas"] for k, e in entries(files["reassignment.json"]).items()}
    back = {k: e["replicas"] for k, e in entries(files["rollback.json"]).items()}
    elected = {
        (e["topic"], e["partition"])
        for e in json.loads(files["preferred-election.json"])["partitions"]
    }
    before, live = lists_of(state), live_ids(state)

    PlanRecord.model_validate(document)
    is_met = document["status"] not in {"partial", "infeasible"}
    caused = {finding.rule for finding in planned.findings if not finding.existing}
    # A factor below the min ISR is named in every partition that a plan touches.
    assert caused <= {"min-isr"} or not is_met
    assert all(set(replicas) <= live for replicas in target.values())
    can_go_back = {key for key in target if set(before[key]) <= live}
    assert back == {key: before[key] for key in can_go_back}
    named = {
        (note["where"]["topic"], note["where"]["partition"])
        for note in document["notes"]
        if note["what"] == "not-in-rollback"
    }
    assert named == set(target) - can_go_back
    assert elected == naive_elections(state, target)
    assert (document["status"] == "nothing-to-do") == (
        is_met and not target and not elected
    )
    assert bool(document["shortfalls"]) or is_met


@pytest.mark.parametrize(
    ("replicas", "leader", "states", "elected"),
    [
        pytest.param([0, 1], 0, {}, False, id="first-leads"),
        pytest.param([0, 1], 1, {}, True, id="second-leads"),
        pytest.param([0, 1], None, {}, False, id="nobody-leads"),
        pytest.param([0, 1], 1, {0: BrokerState.FENCED}, False, id="first-is-not-live"),
    ],
)
def test_elections_of_partitions_that_stay(replicas, leader, states, elected):
    state = make_state(
        [replicas], racks="ab", leaders=[leader], states=states, isr=[[0, 1]]
    )

    plan = make(state, PlanRequest(goal="rebalance")).plan

    assert not json.loads(files_of(plan)["reassignment.json"])["partitions"]
    assert elections(plan).tolist() == [elected]
    assert (plan.status == "nothing-to-do") == (not elected)


def test_a_leader_that_is_removed_needs_no_election():
    state = make_state([[0, 1]], racks="abc", leaders=[1])

    plan = make(state, PlanRequest(goal="remove-brokers", broker_list="1")).plan

    (entry,) = json.loads(files_of(plan)["reassignment.json"])["partitions"]
    assert set(entry["replicas"]) == {0, 2}
    assert not elections(plan).any()


def test_partitions_of_a_dead_broker_have_no_way_back():
    state = make_state(
        {"a": [[0, 1], [1, 2]], "b": [[2, 0]]},
        racks="abcd",
        states={0: BrokerState.DEAD},
    )

    files = files_of(make(state, PlanRequest(goal="rebalance")).plan)

    document = json.loads(files["plan.json"])
    notes = [n for n in document["notes"] if n["what"] == "not-in-rollback"]
    assert {("a", 0), ("b", 0)} <= set(entries(files["reassignment.json"]))
    assert {("a", 0), ("b", 0)}.isdisjoint(entries(files["rollback.json"]))
    assert [note["where"] for note in notes] == [
        {"topic": "a", "partition": 0},
        {"topic": "b", "partition": 0},
    ]


def test_a_longer_plan_is_replaced_as_a_whole(tmp_path):
    many = planned_for(
        many_document(MOST_PARTITIONS_PER_FILE + 1),
        "remove-brokers",
        broker_list="1",
        effort="quick",
    )
    write_plan(many.plan, tmp_path / "p")
    assert "reassignment-002.json" in contents(tmp_path / "p")
    fresh = plan_of("rebalance")

    write_plan(fresh, tmp_path / "p")

    assert set(contents(tmp_path / "p")) == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def stand_file(path):
    path.write_text("mine")


def stand_folder(path):
    path.mkdir()
    (path / "mine").write_text("mine")


def stand_other_plan(path):
    path.mkdir()
    (path / "plan.json").write_text('{"format": "something/else"}')


def stand_list(path):
    path.mkdir()
    (path / "plan.json").write_text("[1]")


def stand_link(path):
    write_plan(plan_of("rebalance"), path.with_name("real"))
    path.symlink_to(path.with_name("real"))


def stand_broken_link(path):
    path.symlink_to(path.with_name("nowhere"))


def tree(folder):
    return sorted(
        (str(path.relative_to(folder)), path.is_file() and path.read_bytes())
        for path in folder.rglob("*")
    )


@pytest.mark.parametrize(
    "stand",
    [
        stand_file,
        stand_folder,
        stand_other_plan,
        stand_list,
        stand_link,
        stand_broken_link,
    ],
)
def test_what_is_no_plan_is_left_as_it_is(stand, tmp_path):
    stand(tmp_path / "p")
    before = tree(tmp_path)

    with pytest.raises(BadInputError) as caught:
        write_plan(plan_of("rebalance"), tmp_path / "p")

    assert "not a plan folder" in caught.value.problems[0].rule
    assert tree(tmp_path) == before


def test_a_parent_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")

    with pytest.raises(BadInputError, match="will not write"):
        write_plan(plan_of("rebalance"), tmp_path / "file" / "p")

    assert tree(tmp_path) == [("file", b"mine")]


def test_a_plan_comes_back_where_the_new_one_cannot_take_its_place(
    tmp_path, monkeypatch
):
    write_plan(plan_of("rebalance"), tmp_path / "p")
    before = tree(tmp_path)
    rename = Path.rename

    def refuse_fresh(self, target):
        if self.name == "plan":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse_fresh)
    with pytest.raises(BadInputError) as caught:
        write_plan(plan_of("add-brokers"), tmp_path / "p")

    assert "No space left" in caught.value.problems[0].rule
    assert tree(tmp_path) == before


def test_parents_are_made(tmp_path):
    write_plan(plan_of("rebalance"), tmp_path / "a" / "b" / "p")

    assert set(contents(tmp_path / "a" / "b" / "p")) == FILES


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path):
    tmp_path.chmod(0o500)

    with pytest.raises(BadInputError, match="will not write"):
        write_plan(plan_of("rebalance"), tmp_path / "p")

    tmp_path.chmod(0o700)
    assert tree(tmp_path) == []
