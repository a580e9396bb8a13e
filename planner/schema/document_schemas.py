"""JSON Schemas of all documents, by name."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


def _snapshot() -> dict[str, Any]:
    from planner.snapshot.tables.snapshot_records import snapshot_schema

    return snapshot_schema()


def _elect() -> dict[str, Any]:
    from planner.kafka.actions.elections import ElectRecord

    return ElectRecord.model_json_schema()


def _document(name: str) -> dict[str, Any]:
    from planner.apply.apply_records import APPLY_DOCUMENTS
    from planner.failures.failure_records import FAILURE_DOCUMENTS
    from planner.plan.documents.check_records import DOCUMENTS
    from planner.plan.documents.plan_records import PLAN_DOCUMENTS
    from planner.plan.documents.wave_records import WAVE_DOCUMENTS
    from planner.score.score_records import SCORE_DOCUMENTS
    from planner.status.status_records import STATUS_DOCUMENTS

    known: dict[str, type[BaseModel]] = {
        **DOCUMENTS,
        **APPLY_DOCUMENTS,
        **PLAN_DOCUMENTS,
        **SCORE_DOCUMENTS,
        **STATUS_DOCUMENTS,
        **FAILURE_DOCUMENTS,
        **WAVE_DOCUMENTS,
    }
    return known[name].model_json_schema()


def _config(name: str) -> dict[str, Any]:
    from planner.config.config_records import ConfigExampleRecord, ConfigRecord

    models: dict[str, type[BaseModel]] = {
        "config": ConfigRecord,
        "config-example": ConfigExampleRecord,
    }
    return models[name].model_json_schema()


def _explain() -> dict[str, Any]:
    from planner.explain.explain_document import ExplainRecord

    return ExplainRecord.model_json_schema()


def _group() -> dict[str, Any]:
    from planner.group.group_records import GroupRecord

    return GroupRecord.model_json_schema()


def _group_assignment() -> dict[str, Any]:
    from planner.group.group_answers import GroupAssignmentRecord

    return GroupAssignmentRecord.model_json_schema()


def _group_show(name: str) -> dict[str, Any]:
    from planner.group.show_records import (
        GroupListRecord,
        GroupOffsetsRecord,
        GroupShowRecord,
    )

    models: dict[str, type[BaseModel]] = {
        "group-list": GroupListRecord,
        "group-offsets": GroupOffsetsRecord,
        "group-show": GroupShowRecord,
    }
    return models[name].model_json_schema()


def _group_what_if(name: str) -> dict[str, Any]:
    from planner.group.what_if.what_if_records import EventsRecord, WhatIfRecord

    models: dict[str, type[BaseModel]] = {
        "group-events": EventsRecord,
        "group-what-if": WhatIfRecord,
    }
    return models[name].model_json_schema()


def _scenarios() -> dict[str, Any]:
    from planner.what_if.changes.scenario_records import ScenariosRecord

    return ScenariosRecord.model_json_schema()


def _what_if() -> dict[str, Any]:
    from planner.what_if.what_if_answer import WhatIfRecord

    return WhatIfRecord.model_json_schema()


def _size() -> dict[str, Any]:
    from planner.sizing.sizing_document import SizeRecord

    return SizeRecord.model_json_schema()


def _broker_types() -> dict[str, Any]:
    from planner.sizing.broker_types import BrokerTypesRecord

    return BrokerTypesRecord.model_json_schema()


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "apply": partial(_document, "apply"),
    "broker-types": _broker_types,
    "check": partial(_document, "check"),
    "config": partial(_config, "config"),
    "config-example": partial(_config, "config-example"),
    "demo": partial(_document, "demo"),
    "elect": _elect,
    "error": partial(_document, "error"),
    "explain": _explain,
    "failures": partial(_document, "failures"),
    "failures-scenario": partial(_document, "failures-scenario"),
    "generate": partial(_document, "generate"),
    "group": _group,
    "group-assignment": _group_assignment,
    "group-events": partial(_group_what_if, "group-events"),
    "group-list": partial(_group_show, "group-list"),
    "group-offsets": partial(_group_show, "group-offsets"),
    "group-show": partial(_group_show, "group-show"),
    "group-what-if": partial(_group_what_if, "group-what-if"),
    "plan": partial(_document, "plan"),
    "preferred-election": partial(_document, "preferred-election"),
    "reassignment": partial(_document, "reassignment"),
    "scenarios": _scenarios,
    "score": partial(_document, "score"),
    "score-part": partial(_document, "score-part"),
    "size": _size,
    "snapshot": _snapshot,
    "status": partial(_document, "status"),
    "verify": partial(_document, "verify"),
    "waves": partial(_document, "waves"),
    "what-if": _what_if,
}
"""Functions that load the libraries of a schema when it is requested."""


def json_schema(name: str) -> dict[str, Any]:
    """
    Return the JSON Schema of a document.

    Raises
    ------
    KeyError
        If there is no document with this name.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **SCHEMAS[name](),
    }
