"""The document of `status`."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from placement.model.cluster import ABSENT
from placement.status import Leaderless, TopicTroubles
from planner.kafka_files.reassignment_file import format_reassignment
from planner.status.find_status import Status
from planner.status.impossible_facts import fact_text, suspect_text
from planner.status.running_moves import (
    OBSTACLE_NAMES,
    cancel_lists,
    moving_topics,
    obstacle_text,
    stuck_advice,
    stuck_groups,
)
from planner.status.trouble_sentences import (
    Address,
    Advice,
    broker_advice,
    broker_text,
    leaderless_text,
    log_dir_advice,
    log_dir_text,
    no_source_text,
    rescue_of,
    rescue_text,
    state_of,
    topic_and_number,
    unclean_command,
    unclean_text,
    unplaced_brokers,
    unplaced_text,
)
from planner.text.data_age import age_s

Document = dict[str, Any]


def status_document(status: Status, address: Address, *, now: datetime) -> Document:
    """Return the document of `status --format json`."""
    age = age_s(status.taken_at, now)
    return {
        "cluster_id": status.cluster_id,
        "taken_at": status.taken_at,
        "data_age_s": None if age is None else round(age),
        "status": status.verdict,
        "impossible": _impossible(status),
        "brokers": _brokers(status, address),
        "log_dirs": _log_dirs(status, address),
        "leaderless": [_leaderless(status, one, address) for one in _lost(status)],
        "no_source": _no_source(status),
        "under_min_isr": _topics(status, status.troubles.under_min_isr),
        "under_replicated": _topics(status, status.troubles.under_replicated),
        "reassignments": _reassignments(status, address),
        "throttles": _throttles(status, address),
        "quorum": _quorum(status),
        "unknown": [
            {"what": one.what, "message": one.message} for one in status.unknown
        ],
    }


def _impossible(status: Status) -> list[Document]:
    state, found = status.state, status.troubles.impossible
    return [
        {
            "resource": str(one.resource),
            "broker": int(state.brokers.ids[one.broker_idx]),
            "log_dir": None
            if one.log_dir_idx == ABSENT
            else state.log_dirs.paths[one.log_dir_idx],
            "load": one.load,
            "capacity": one.capacity,
            "message": f"{fact_text(state, [one])}; "
            f"{suspect_text(state, [o for o in found if o.resource is one.resource])}",
        }
        for one in found
    ]


def _lost(status: Status) -> Sequence[Leaderless]:
    return status.troubles.leaderless


def _choices(advice: Sequence[Advice]) -> list[Document]:
    return [{"choice": text, "command": command} for text, command in advice]


def _brokers(status: Status, address: Address) -> Document:
    found, brokers = status.troubles, status.state.brokers
    listed = [
        {
            "broker": int(brokers.ids[b]),
            "rack": brokers.racks[brokers.rack_idx[b]],
            "host": brokers.hosts[brokers.host_idx[b]],
            "state": state_of(brokers, b),
            "replicas": int(found.replicas_on[b]),
            "message": broker_text(status, b),
        }
        for b in found.broker_idx.tolist()
    ]
    choices = _choices(broker_advice(status, address)) if listed else []
    return {"not_live": listed, "choices": choices}


def _log_dirs(status: Status, address: Address) -> Document:
    found, dirs = status.troubles, status.state.log_dirs
    ids = status.state.brokers.ids[dirs.broker_idx]
    listed: list[Document] = [
        {
            "broker": int(ids[d]),
            "log_dir": dirs.paths[d],
            "replicas": int(found.replicas_in[d]),
            "in_this_or_another": int(found.unplaced_on[dirs.broker_idx[d]]),
            "message": log_dir_text(status, d),
        }
        for d in found.log_dir_idx.tolist()
    ]
    listed += [
        {
            "broker": int(status.state.brokers.ids[b]),
            "log_dir": None,
            "replicas": 0,
            "in_this_or_another": int(found.unplaced_on[b]),
            "message": unplaced_text(status, b),
        }
        for b in unplaced_brokers(status)
    ]
    choices = _choices(log_dir_advice(status, address)) if listed else []
    return {"offline": listed, "choices": choices}


def _place(status: Status, p: int) -> Document:
    topic, number = topic_and_number(status.state, p)
    return {"topic": topic, "partition": number}


def _leaderless(status: Status, one: Leaderless, address: Address) -> Document:
    p = one.partition_idx
    rescue = rescue_of(status, one)
    return {
        **_place(status, p),
        "replicas": status.state.brokers_of(p),
        "isr": list(one.isr) if status.has_isr[p] else None,
        "elr": list(one.elr),
        "last_known_elr": list(one.last_known_elr),
        "out_of_sync": list(one.out_of_sync),
        "rescue": "unknown" if rescue is None else str(rescue),
        "rescue_brokers": list(one.brokers) if rescue is not None else [],
        "unclean": {
            "leader": one.unclean_leader,
            "lost_bytes": one.lost_bytes,
            "command": unclean_command(status, one, address),
        },
        "message": _joined(
            leaderless_text(status, one),
            rescue_text(status, one),
            unclean_text(status, one),
        ),
    }


def _joined(*texts: str | None) -> str:
    return "; ".join(text for text in texts if text is not None)


def _no_source(status: Status) -> list[Document]:
    return [
        {
            **_place(status, p),
            "replicas": status.state.brokers_of(p),
            "message": no_source_text(status, p),
        }
        for p in status.troubles.no_source.tolist()
    ]


def _topics(status: Status, found: TopicTroubles) -> list[Document]:
    names = status.state.topics.names
    columns = (
        found.topic_idx,
        found.num_partitions,
        found.least_in_sync,
        found.needed,
    )
    return [
        {
            "topic": names[topic],
            "partitions": partitions,
            "least_in_sync": least,
            "needed": needed,
        }
        for topic, partitions, least, needed in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]


def _reassignments(status: Status, address: Address) -> Document:
    moves = status.troubles.moves
    topics = moving_topics(status)
    stuck = [
        {
            **_place(status, p),
            "reason": OBSTACLE_NAMES[obstacle],
            "broker": None
            if broker == ABSENT
            else int(status.state.brokers.ids[broker]),
            "message": f"{status.state.name_of(p)} "
            f"{obstacle_text(status, obstacle, broker)}",
        }
        for obstacle, broker, partitions in stuck_groups(status)
        for p in partitions
    ]
    return {
        "partitions": len(moves.partition_idx),
        "bytes": _total(topics, "bytes"),
        "bytes_left": _total(topics, "bytes_left"),
        "log_dir_moves": moves.num_log_dir_moves,
        "topics": [dict(topic) for topic in topics],
        "stuck": stuck,
        "cancel": json.loads(format_reassignment(cancel_lists(status))),
        "choices": _choices(stuck_advice(status, address)) if stuck else [],
    }


def _total(topics: Sequence[Mapping[str, Any]], name: str) -> int | None:
    values = [topic[name] for topic in topics]
    return None if None in values else sum(values)


def _throttles(status: Status, address: Address) -> list[Document]:
    return [
        {
            "scope": throttle.scope,
            "name": throttle.name,
            "key": throttle.key,
            "value": throttle.value,
            "is_used": is_used,
            "command": throttle.removal(address.connection),
        }
        for throttle, is_used in zip(
            status.throttles, status.is_throttle_used, strict=True
        )
    ]


def _quorum(status: Status) -> Document | None:
    quorum = status.quorum
    if quorum is None:
        return None
    return {
        "leader": quorum.leader,
        "voters": list(quorum.voters),
        "majority": quorum.majority,
        "silent": list(quorum.silent) if quorum.has_fetch_ages else None,
        "may_fail": quorum.may_fail,
    }
