"""The document of `score`."""

from collections.abc import Mapping
from math import isnan
from typing import Any

import numpy as np

from placement.array_types import RateArray
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES
from placement.score.cluster_score import ClusterScore
from placement.score.hot_spots import HotSpot
from placement.score.known_loads import known_dir_loads, known_rack_loads, known_spread
from planner.plan.documents.note_document import note_document
from planner.plan.documents.placement_score import (
    score_document as placement_document,
)
from planner.score.make_score import Scored
from planner.score.partition_skew import skew_documents
from planner.score.score_summary import summary_lines
from planner.score.score_tables import rack_brokers
from planner.snapshot.tables.snapshot_columns import LOG_DIR_STATES
from planner.text.document_numbers import rounded


def score_document(scored: Scored) -> dict[str, Any]:
    """Return the document of `score --format json` for one snapshot."""
    score = scored.score
    age = scored.data_age_s
    return {
        "cluster_id": scored.cluster_id,
        "taken_at": scored.taken_at,
        "data_age_s": None if age is None else round(age, 3),
        **placement_document(score.state, score.placed),
        "by_rack": _by_rack(score),
        "by_log_dir": _by_log_dir(score),
        "by_topic": _by_topic(score),
        "hot_spots": [hot_spot_document(score.state, spot) for spot in score.hot_spots],
        "num_hot_spots": score.num_hot_spots,
        "skewed_topics": skew_documents(score),
        "min_bytes_to_balance": score.min_bytes_to_balance,
        "notes": [
            {k: v for k, v in note_document(note).items() if k != "existing"}
            for note in score.notes
        ],
        "complete": score.is_complete,
        "summary": [
            {"label": label, "text": text} for label, text in summary_lines(scored)
        ],
    }


def _cells(columns: Mapping[str, RateArray]) -> list[dict[str, Any]]:
    """Return the loads of each rack or log dir, by resource and name of the column."""
    return [
        {
            str(resource): {
                name: _known_number(float(values[row, r]))
                for name, values in columns.items()
            }
            for r, resource in enumerate(RESOURCES)
        }
        for row in range(len(columns["load"]))
    ]


def _known_number(value: float) -> float | int | None:
    return None if isnan(value) else rounded(value)


def _by_rack(score: ClusterScore) -> list[dict[str, Any]]:
    racks, of_rack = score.state.brokers.racks, rack_brokers(score)
    holds = score.racks.brokers[:, 0].tolist()
    return [
        {"rack": racks[k], "broker": of_rack[k], "brokers": holds[k], **cells}
        for k, cells in enumerate(
            _cells(known_rack_loads(score.state, score.placed, score.racks))
        )
    ]


def _by_log_dir(score: ClusterScore) -> list[dict[str, Any]]:
    dirs = score.state.log_dirs
    ids = score.state.brokers.ids[dirs.broker_idx].tolist()
    states = [LOG_DIR_STATES[code] for code in dirs.state.tolist()]
    return [
        {"broker": ids[d], "log_dir": dirs.paths[d], "state": states[d], **cells}
        for d, cells in enumerate(
            _cells(known_dir_loads(score.state, score.placed, score.log_dirs))
        )
    ]


def _by_topic(score: ClusterScore) -> list[dict[str, Any]]:
    topics = score.topics
    figures = {
        str(resource): _topic_cells(score, r) for r, resource in enumerate(RESOURCES)
    }
    broken = {rule: counts.tolist() for rule, counts in topics.broken.items()}
    return [
        {
            "topic": name,
            "partitions": partitions,
            "replicas": replicas,
            "resources": {resource: cells[t] for resource, cells in figures.items()},
            "violations": {rule: counts[t] for rule, counts in broken.items()},
        }
        for t, (name, partitions, replicas) in enumerate(
            zip(
                score.state.topics.names,
                topics.partitions.tolist(),
                topics.replicas.tolist(),
                strict=True,
            )
        )
    ]


def _topic_cells(score: ClusterScore, r: int) -> list[dict[str, Any]]:
    spread = known_spread(score.topics.spread[r], score.topics.known_fraction[:, r])
    rows = np.stack(list(spread.values()), axis=1).tolist()
    return [dict(zip(spread, map(_known_number, row), strict=True)) for row in rows]


def hot_spot_document(state: ClusterState, spot: HotSpot) -> dict[str, Any]:
    """Return the document of a hot spot, with broker ids and names of partitions."""
    brokers = state.brokers
    names = state.topics.names
    return {
        "broker": int(brokers.ids[spot.broker_idx]),
        "rack": brokers.racks[brokers.rack_idx[spot.broker_idx]],
        "resource": str(spot.resource),
        "load": rounded(spot.load),
        "limit": rounded(spot.limit),
        "excess": rounded(spot.excess),
        "is_over_threshold": spot.is_over_threshold,
        "fixed": rounded(spot.fixed),
        "topics": [
            {
                "topic": names[topic.topic_idx],
                "load": rounded(topic.load),
                "fraction": rounded(topic.fraction),
            }
            for topic in spot.topics
        ],
        "partitions": [
            {
                **state.place_of(hot.partition_idx),
                "load": rounded(hot.load),
                "leads": hot.leads,
            }
            for hot in spot.partitions
        ],
        "would_leaders_do": spot.would_leaders_do,
        "leader_moves": [
            {
                **state.place_of(move.partition_idx),
                "to_broker": int(brokers.ids[move.to_broker_idx]),
            }
            for move in spot.leader_moves
        ],
    }
