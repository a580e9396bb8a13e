"""JSON Schemas of all documents, by name."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from planner.io.problems import place_text

SCHEMAS: Mapping[str, str] = {
    "apply": "planner.execution.apply_records:ApplyPreviewRecord",
    "apply-event": "planner.execution.run.run_records:Event",
    "broker-types": "planner.sizing.broker_types:BrokerTypesRecord",
    "check": "planner.plan.documents.check_records:CheckRecord",
    "config": "planner.config.config_records:ConfigRecord",
    "config-example": "planner.config.config_records:ConfigExampleRecord",
    "demo": "planner.plan.documents.plan_records:DemoRecord",
    "elect": "planner.kafka.actions.elections:ElectRecord",
    "error": "planner.plan.documents.plan_records:ErrorRecord",
    "explain": "planner.explain.explain_document:ExplainRecord",
    "failures": "planner.failures.failure_records:AllFailuresRecord",
    "failures-scenario": "planner.failures.failure_records:ScenarioRecord",
    "generate": "planner.plan.documents.check_records:GenerateRecord",
    "group": "planner.group.group_records:GroupRecord",
    "group-assignment": "planner.group.group_answers:GroupAssignmentRecord",
    "group-events": "planner.group.what_if.what_if_records:EventsRecord",
    "group-list": "planner.group.show_records:GroupListRecord",
    "group-offsets": "planner.group.show_records:GroupOffsetsRecord",
    "group-show": "planner.group.show_records:GroupShowRecord",
    "group-what-if": "planner.group.what_if.what_if_records:WhatIfRecord",
    "keys-grow": "planner.keys.growth.growth_document:KeysGrowRecord",
    "keys-skew": "planner.keys.skew_document:KeysSkewRecord",
    "partitions-audit": "planner.partitions.audit_document:PartitionsAuditRecord",
    "partitions-size": "planner.partitions.size_document:PartitionsSizeRecord",
    "plan": "planner.plan.documents.plan_records:PlanRecord",
    "preferred-election": "planner.plan.documents.plan_records:ElectionRecord",
    "reassignment": "planner.plan.documents.check_records:ReassignmentRecord",
    "report": "planner.report.report_records:ReportRecord",
    "scenarios": "planner.what_if.changes.scenario_records:ScenariosRecord",
    "score": "planner.score.score_records:ScoreRecord",
    "score-part": "planner.plan.documents.plan_records:ScorePartRecord",
    "size": "planner.sizing.sizing_document:SizeRecord",
    "snapshot": "planner.snapshot.tables.snapshot_records:SnapshotRecord",
    "status": "planner.status.status_records:StatusRecord",
    "ui": "planner.ui.ui_run:UiRecord",
    "verify": "planner.plan.documents.check_records:VerifyRecord",
    "waves": "planner.plan.documents.wave_records:WavesRecord",
    "what-if": "planner.what_if.what_if_records:WhatIfRecord",
}
"""Record of each document; its module is imported when the schema is requested."""


def misfits(name: str, data: bytes) -> list[tuple[str, str]]:
    """
    Return where a document does not fit its record, and the rule there.

    Parameters
    ----------
    name
        Name of the document.
    data
        The document as JSON.

    Raises
    ------
    KeyError
        If there is no document with this name.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(resolve_name(SCHEMAS[name])).validate_json(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        return [(place_text(each["loc"]), each["msg"]) for each in found]
    return []


def json_schema(name: str) -> dict[str, Any]:
    """
    Return the JSON Schema of a document.

    Raises
    ------
    KeyError
        If there is no document with this name.
    """
    record = resolve_name(SCHEMAS[name])

    from pydantic import TypeAdapter

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **TypeAdapter(record).json_schema(),
    }
