"""plan.json: contents of a plan, its cost and its certificate."""

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from placement.core.bounds.overfull_sets import BIN
from placement.core.model.solution import Bounded, Shortfall
from placement.draft.draft import Note
from placement.log_dirs.dir_problem import LOG_DIR
from placement.log_dirs.kept_replicas import FAILED_LOG_DIR
from placement.model.cluster import ClusterState, sum_rows
from placement.model.load import UNITS, Resource
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.fetch_sources import NO_SOURCE
from placement.rules.registry import RULES
from planner.kafka_files.creation import Creation
from planner.plan.documents.cluster_fingerprint import fingerprint
from planner.plan.documents.infeasibility import HOST, reason_document, shortfall_text
from planner.plan.documents.log_dir_document import dirs_document, log_dir_place
from planner.plan.documents.note_document import note_document
from planner.plan.documents.placement_score import score_document
from planner.plan.documents.proof_document import proof_document
from planner.plan.documents.scored_plan import Plan, score_of, unknown_bytes
from planner.plan.documents.wrong_lines import wrong_lines
from planner.plan.waves.wave_document import stuck_notes, summary
from planner.text.document_numbers import rounded
from planner.text.format import ids_text

FORMAT = "kafka-planner/plan"
VERSION = 1
CAPPED = {"moves": "moves", "cost": "bytes", "crossing": "cross_rack_bytes"}


def to_document(plan: Plan) -> dict[str, Any]:
    """Return plan.json, which depends on the input alone."""
    if plan not in _documents:
        _documents[plan] = _document(plan)
    return dict(_documents[plan])


_documents: WeakKeyDictionary[Plan, dict[str, Any]] = WeakKeyDictionary()


def _document(plan: Plan) -> dict[str, Any]:
    state, placed = plan.state, plan.placed
    found = (*rollback_notes(plan), *throttle_notes(plan), *stuck_notes(plan.waves))
    notes = (*placed.notes, *found)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "goal": plan.goal,
        "status": plan.status,
        "snapshot": {
            "cluster_id": state.cluster_id,
            "taken_at": plan.taken_at,
            "fingerprint": fingerprint(plan.identity or state),
        },
        "topic_ids": topic_ids(plan),
        "settings": dict(plan.settings),
        "moves": plan.moves | unknown_bytes(plan),
        "certificate": _certificate(placed),
        "before": score_document(state, plan.before),
        "after": score_document(state, plan.after),
        "shortfalls": [
            shortfall_document(placed, shortfall)
            for shortfall in placed.solution.shortfalls
        ],
        "reason": None
        if plan.infeasible_set is None
        else reason_document(placed, plan.infeasible_set),
        "notes": [*map(note_document, notes)],
        "waves": summary(plan.waves),
        "not_in_rollback": lists_not_in_rollback(plan),
        "summary": [
            {"label": label, "text": text} for label, text in wrong_lines(plan).items()
        ],
    }
    if placed.log_dirs is not None:
        document["log_dirs"] = dirs_document(state, placed.log_dirs)
    if plan.creation is not None:
        document |= _created(plan, plan.creation, plan.existing or state)
    return document


def _created(plan: Plan, creation: Creation, before: ClusterState) -> dict[str, Any]:
    return {
        "before": score_document(before, score_of(plan.placed, before)),
        "new_partitions": {
            "topic": creation.topic,
            "first": creation.first,
            "partitions": len(creation.lists),
            "replicas": sum(map(len, creation.lists)),
        },
    }


def topic_ids(plan: Plan) -> dict[str, str]:
    """Return the ids of changed topics: recreating one of them makes a plan stale."""
    topics = (plan.existing or plan.state).topics
    named = dict(zip(topics.names, topics.topic_ids, strict=True))
    known = {name: named.get(name) for name in _changed_topics(plan)}
    return {name: topic_id for name, topic_id in known.items() if topic_id}


def _changed_topics(plan: Plan) -> list[str]:
    """Return the topics that change, or that get partitions."""
    if plan.creation is not None:
        return [plan.creation.topic]
    state, changed = plan.state, plan.placed.reassignment.is_changed
    rows = np.unique(state.partitions.topic_idx[changed]).tolist()
    return [state.topics.names[row] for row in rows]


def _certificate(placed: PlannedPlacement) -> dict[str, Any]:
    proven = placed.solution.certificate
    listed = {
        "bytes": proven.cost,
        "replicas": proven.moves,
        "deviation": proven.deviation,
        "log_dir_bytes": None if placed.log_dirs is None else placed.log_dirs.cost,
        "leaders": proven.roles,
        "most_led": proven.share,
    }
    found = {name: one for name, one in listed.items() if one is not None}
    return {name: _bounded(placed, bounded) for name, bounded in found.items()}


def _bounded(placed: PlannedPlacement, bounded: Bounded) -> dict[str, Any]:
    gap, solver_bound = bounded.gap, bounded.solver_bound
    return {
        "value": rounded(bounded.value),
        "lower_bound": rounded(bounded.lower_bound),
        "gap": None if gap is None else rounded(gap),
        "proof": proof_document(placed, bounded.proof),
        "solver_bound": None if solver_bound is None else rounded(solver_bound),
        "solver": bounded.solver,
        "solver_keeps_spread": bounded.is_spread,
    }


def shortfall_document(
    placed: PlannedPlacement, shortfall: Shortfall
) -> dict[str, Any]:
    """Return a shortfall, with brokers and partitions by name."""
    state = placed.draft.state
    where: dict[str, Any] = {}
    if shortfall.group >= 0:
        where |= state.place_of(shortfall.group)
    if shortfall.level == LOG_DIR:
        where |= log_dir_place(state, shortfall)
    elif shortfall.bin >= 0:
        where["broker"] = int(state.brokers.ids[shortfall.bin])
    elif shortfall.level == BIN and shortfall.node >= 0:
        where["broker"] = int(state.brokers.ids[shortfall.node])
    is_host = shortfall.node >= 0 and shortfall.level == HOST
    if is_host and state.brokers.hosts[shortfall.node] is not None:
        where["host"] = state.brokers.hosts[shortfall.node]
    is_rack = shortfall.node >= 0 and shortfall.level not in {LOG_DIR, HOST, BIN}
    if is_rack and state.brokers.racks[shortfall.node] is not None:
        where["rack"] = state.brokers.racks[shortfall.node]
    if shortfall.resource:
        where["resource"] = shortfall.resource
    unit = UNITS[Resource(shortfall.resource)] if shortfall.resource else 1
    have, need = shortfall.have / unit, shortfall.need / unit
    return {
        "what": _what(shortfall),
        "have": rounded(have),
        "need": rounded(need),
        "where": where,
        "message": shortfall.message or shortfall_text(placed, shortfall),
        "existing": False,
        "proven": shortfall.is_proven,
    }


def _what(shortfall: Shortfall) -> str:
    named = {
        **CAPPED,
        "goal": shortfall.level,
        "band-disk": shortfall.what,
        NO_SOURCE: NO_SOURCE,
        FAILED_LOG_DIR: FAILED_LOG_DIR,
    }
    own = shortfall.what if shortfall.what in RULES else ""
    return (
        named.get(shortfall.what) or own or shortfall.resource or f"{shortfall.level}s"
    )


def _lost(plan: Plan) -> npt.NDArray[np.int64]:
    """Return the rows of changed partitions with a broker that is not live."""
    state = plan.state
    off = ~state.brokers.is_live[state.replicas.broker_idx]
    lost = sum_rows(off, state.replicas.start) > 0
    return np.nonzero(lost & plan.placed.reassignment.is_changed)[0]


def lists_not_in_rollback(plan: Plan) -> list[dict[str, Any]]:
    """Return the lists before the plan that rollback.json omits, for `verify`."""
    state = plan.state
    return [
        {**state.place_of(p), "replicas": state.brokers_of(p)}
        for p in _lost(plan).tolist()
    ]


def rollback_notes(plan: Plan) -> Iterable[Note]:
    """Yield a note for each partition that no rollback can move back."""
    state = plan.state
    for p in _lost(plan):
        yield Note(
            what="not-in-rollback",
            message=f"{state.name_of(p)} is not in rollback.json: its old list names a "
            "broker that is not live",
            where=state.place_of(p),
        )


def throttle_notes(plan: Plan) -> Iterable[Note]:
    """Yield a note if Kafka's throttle fails since a list names a broker not live."""
    state, reassignment = plan.state, plan.placed.reassignment
    if not reassignment.is_copied.any():
        return
    replicas = state.replicas
    off = ~state.brokers.is_live[replicas.broker_idx]
    off &= reassignment.is_changed[replicas.partition_idx]
    dead = np.unique(state.brokers.ids[replicas.broker_idx[off]]).tolist()
    if dead:
        yield Note(
            what="throttle-waits",
            message="lists that change name brokers that are not live "
            f"({ids_text(dead)}): with --throttle Kafka's tool waits 60 s for them, "
            "fails, starts nothing and leaves throttles on the others; RUNBOOK.md has "
            "the commands that do without it",
            where={"broker": dead[0]} if len(dead) == 1 else {},
        )
