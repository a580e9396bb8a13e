"""What we print is what its JSON Schema says."""

import json

import pytest
from hypothesis import given, settings

from planner.options.plan_request import PlanRequest
from planner.plan.documents.check_records import ReassignmentRecord
from planner.plan.documents.plan_document import to_document
from planner.plan.documents.plan_records import (
    ElectionRecord,
    ErrorRecord,
    PlanRecord,
    ScorePartRecord,
)
from planner.plan.folder.plan_folder import plan_files
from planner.plan.run.make_plan import make
from planner.schema import SCHEMAS, json_schema
from support.clusters import clusters, make_state
from support.commands import run


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_each_document_has_a_schema(name):
    schema = json_schema(name)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    # Lines of several kinds have a schema each.
    kinds = [one["$ref"].rpartition("/")[2] for one in schema.get("anyOf", ())]
    for one in [schema["$defs"][kind] for kind in kinds] or [schema]:
        assert one["type"] == "object"
        assert set(one.get("required", ())) <= set(one["properties"])


def test_every_document_is_known_by_its_name(capsys):
    found = run(capsys, "schema", "list", "--format", "json")

    assert found.document == sorted(SCHEMAS)
    assert {"plan", "reassignment", "preferred-election", "score-part"} <= set(SCHEMAS)


def test_resources_have_kafka_planners_names():
    broker = json_schema("score-part")["$defs"]["BrokerRecord"]["properties"]

    assert set(broker) == {
        "broker", "rack", "disk", "in", "out", "cpu", "replicas", "leaders",
    }  # fmt: skip


@settings(max_examples=40)
@given(clusters(reassigning=True))
def test_files_of_any_plan_keep_their_schemas(state):
    plan = make(state, PlanRequest(goal="rebalance", effort="quick")).plan

    files = dict(plan_files(plan))

    document = json.loads(files["plan.json"])
    PlanRecord.model_validate(document)
    ScorePartRecord.model_validate(document["before"])
    ScorePartRecord.model_validate(document["after"])
    ElectionRecord.model_validate_json(files["preferred-election.json"])
    for name in ("reassignment.json", "rollback.json"):
        ReassignmentRecord.model_validate_json(files[name])


def test_the_document_of_a_plan_has_the_documented_fields():
    state = make_state([[0], [0]], racks="ab", size_bytes=10)

    document = to_document(make(state, PlanRequest(goal="rebalance")).plan)

    assert list(document) == [
        "format", "version", "goal", "status", "snapshot", "topic_ids", "settings",
        "moves", "certificate", "before", "after", "shortfalls", "reason", "notes",
        "waves", "not_in_rollback", "summary",
    ]  # fmt: skip
    assert document["status"] == "optimal"
    assert document["certificate"]["bytes"]["value"] == 10
    assert document["certificate"]["bytes"]["lower_bound"] == 10
    assert document["certificate"]["bytes"]["gap"] == 0


def test_a_distance_that_must_stay_is_proven_with_its_brokers():
    # Nothing may go to the empty broker 2, and 0 and 1 hold all of it between them.
    state = make_state([[0], [1]] * 6, racks="aab", size_bytes=10)
    request = PlanRequest(goal="rebalance", exclude_brokers_for_replicas="2")

    found = to_document(make(state, request).plan)["certificate"]["deviation"]

    assert found["value"] >= found["lower_bound"] > 0.3
    assert found["proof"]["kind"] == "water-fill"
    assert found["proof"]["side"] in {"over", "under"}
    assert set(found["proof"]["brokers"]) <= set(state.brokers.ids.tolist())


def test_a_fingerprint_is_what_interface_says():
    import hashlib

    state = make_state(
        {"a": [[2, 0]], "b": [[1]]}, ids=[0, 1, 2], racks="x-y", topic_ids=["id", None]
    )
    lines = "broker\t0\tx\nbroker\t1\t\nbroker\t2\ty\na\tid\t0\t2,0\nb\t\t0\t1\n"

    document = to_document(make(state, PlanRequest(goal="rebalance")).plan)

    expected = hashlib.sha256(lines.encode()).hexdigest()
    assert document["snapshot"]["fingerprint"] == expected


def test_refusals_keep_their_schema(capsys):
    for arguments in (["plan", "rebalance"], ["plan", "rebalance", "nowhere.json"]):
        found = run(capsys, *arguments, "--format", "json")

        assert ErrorRecord.model_validate(found.document).num_problems == 1
