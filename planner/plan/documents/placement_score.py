"""Score of a placement in documents: `before` and `after` of plans, and `score`."""

from math import isnan
from typing import Any

import numpy as np

from placement.array_types import RateArray
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES
from placement.score import Score
from placement.score.known_loads import has_capacities, known_figures, known_loads
from planner.text.document_numbers import rounded, rounded_all


def score_document(state: ClusterState, score: Score) -> dict[str, Any]:
    """Return the part of a score document that depends on the placement alone."""
    return {
        "brokers": state.num_brokers,
        "partitions": state.num_partitions,
        "replicas": len(state.replicas),
        "resources": {
            str(resource): {
                name: None if isnan(value) else rounded(value)
                for name, value in known_figures(
                    values, has_use=has_capacities(state, resource)
                ).items()
            }
            for resource, values in score.resources.items()
        },
        "violations": dict(score.violations),
        "by_broker": _broker_rows(state, score),
    }


def _broker_rows(state: ClusterState, score: Score) -> list[dict[str, Any]]:
    columns = known_loads(state, score)
    # Single numbers of numpy are slow, and each broker has thirty.
    values = [_rounded_rows(column) for column in columns.values()]
    brokers = state.brokers
    return [
        {"broker": broker_id, "rack": brokers.racks[rack]}
        | {
            str(resource): dict(zip(columns, cells, strict=True))
            for resource, cells in zip(RESOURCES, zip(*rows, strict=True), strict=True)
        }
        for broker_id, rack, *rows in zip(
            brokers.ids.tolist(), brokers.rack_idx.tolist(), *values, strict=True
        )
    ]


def _rounded_rows(values: RateArray) -> list[list[float | None]]:
    """Return rows rounded as in documents, with null for unknown numbers."""
    unknown = np.isnan(values)
    rows = rounded_all(np.where(unknown, 0.0, values)).astype(np.object_)
    rows[unknown] = None
    return rows.tolist()  # type: ignore[no-any-return] # an array of objects
