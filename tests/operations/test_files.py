"""What is written of any plan of these operations, on any cluster."""

import csv
import io
import json

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.model.cluster import ClusterState
from planner.errors import BadInputError
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.documents.plan_records import PlanRecord
from planner.plan.folder.plan_folder import plan_files
from planner.plan.run.make_plan import make
from support.clusters import clusters
from support.operations import lists_after, lists_of


@st.composite
def requests(draw) -> tuple[ClusterState, PlanRequest]:
    state = draw(clusters(min_brokers=2, reassigning=True))
    ids = state.brokers.ids.tolist()
    old, new = draw(st.lists(st.sampled_from(ids), min_size=2, max_size=2, unique=True))
    live = state.brokers.ids[state.brokers.is_live].tolist()
    goal, own, brokers = draw(
        st.sampled_from(
            [
                (
                    "replace-broker",
                    {"broker": [str(old)], "with_broker": [str(new)]},
                    None,
                ),
                ("demote", {}, str(old)),
                ("fix", {}, None),
                ("set-replication-factor", {"replication_factor": 3}, None),
                ("set-replication-factor", {"replication_factor": 2}, None),
            ]
        )
    )
    assume(goal != "replace-broker" or new in live)
    request = PlanRequest(
        goal=goal,
        broker_list=brokers,
        # Named one by one, topics may go below min.insync.replicas.
        topic=state.topics.names if goal == "set-replication-factor" else (),
        effort="quick",
        **own,
    )
    return state, request


def planned(state: ClusterState, request: PlanRequest):
    try:
        return make(state, request)
    except BadInputError as error:  # pragma: no cover - tells what is wrong
        raise AssertionError(error.problems) from error


@settings(max_examples=50)
@given(requests())
def test_files_say_what_the_lists_do(case):
    state, request = case

    plan = planned(state, request).plan

    files = dict(plan_files(plan))
    document = json.loads(files["plan.json"])
    PlanRecord.model_validate(to_document(plan))
    moves = list(csv.DictReader(io.StringIO(files["moves.csv"])))
    entries = json.loads(files["reassignment.json"])["partitions"]
    before, after = lists_of(state), lists_after(plan.placed)
    changed = [p for p in range(len(before)) if before[p] != after[p]]
    assert [entry["replicas"] for entry in entries] == [after[p] for p in changed]
    came = sum(len(set(after[p]) - set(before[p])) for p in changed)
    assert document["moves"]["replicas"] == came
    assert sum(row["kind"] == "replica" for row in moves) == came
    shrunk = sum(max(len(before[p]) - len(after[p]), 0) for p in changed)
    assert sum(row["kind"] == "drop" for row in moves) == shrunk
    assert sum(row["kind"] == "leader" for row in moves) == sum(
        before[p][0] != after[p][0] for p in changed
    )
    live = set(state.brokers.ids[state.brokers.is_live].tolist())
    back = json.loads(files["rollback.json"])["partitions"]
    wanted = [before[p] for p in changed if set(before[p]) <= live]
    assert [entry["replicas"] for entry in back] == wanted


@settings(max_examples=20)
@given(requests())
def test_the_same_request_has_the_same_files(case):
    state, request = case

    assert dict(plan_files(planned(state, request).plan)) == dict(
        plan_files(planned(state, request).plan)
    )
