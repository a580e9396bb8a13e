"""Schemas and libraries that others publish, to hold examples against."""

import copy
import json
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from jsonschema.validators import validator_for

FOLDER = Path(__file__).parents[1] / "data" / "schemas"
WORKFLOW, RULES, KUBERNETES = (
    "github-workflow.json",
    "prometheus-rules.json",
    "kubernetes-1.31.json",
)
KINDS = {
    "PersistentVolumeClaim": "io.k8s.api.core.v1.PersistentVolumeClaim",
    "CronJob": "io.k8s.api.batch.v1.CronJob",
    "Deployment": "io.k8s.api.apps.v1.Deployment",
}
"""Definition of each kind of resource."""


def misfits(name: str, document: Any, definition: str = "") -> list[str]:
    """
    Return what a schema finds wrong with a document, each with its place.

    Parameters
    ----------
    name
        File of the schema.
    document
        The parsed document.
    definition
        Name of a definition in the schema; empty for the schema itself.
    """
    schema = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    if definition:
        schema["$ref"] = f"#/$defs/{definition}"
    validator = validator_for(schema)
    validator.check_schema(schema)
    return [
        f"{'.'.join(map(str, error.path))}: {error.message}"
        for error in validator(schema).iter_errors(document)
    ]


def unread_fields(dashboard: dict[str, Any]) -> list[str]:
    """Return the fields of a dashboard that Grafana's library loses or changes."""
    read = Dashboard.from_json(copy.deepcopy(dashboard))
    return _lost(dashboard, json.loads(JSONEncoder().encode(read)), "")


def _lost(given: Any, kept: Any, place: str) -> list[str]:
    if isinstance(given, dict) and isinstance(kept, dict):
        pairs = [(f"{place}.{k}", v, kept.get(k)) for k, v in given.items()]
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        zipped = zip(given, kept, strict=True)
        pairs = [(f"{place}[{n}]", a, b) for n, (a, b) in enumerate(zipped)]
    else:
        return [] if given == kept else [place]
    return [lost for at, a, b in pairs for lost in _lost(a, b, at)]
