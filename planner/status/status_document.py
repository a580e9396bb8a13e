"""The document of `status`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from placement.model.cluster import ABSENT
from placement.status import Leaderless, Obstacle, TopicTroubles
from planner.io.json_reader import parse_json
from planner.kafka_files.reassignment_file import format_reassignment
from planner.status.find_status import Status
from planner.status.impossible_facts import fact_text, suspect_text
from planner.status.min_isr_advice import min_isr_advice
from planner.status.running_moves import (
    OBSTACLE_NAMES,
    cancel_lists,
    moving_topics,
    obstacle_text,
    stuck_advice,
    stuck_groups,
)
from planner.status.status_records import (
    BrokersRecord,
    CheckedResource,
    ChoiceRecord,
    DownBrokerRecord,
    DownState,
    ImpossibleRecord,
    LeaderlessRecord,
    LogDirsRecord,
    MovesRecord,
    MovingTopicRecord,
    NoSourceRecord,
    OfflineDirRecord,
    QuorumRecord,
    RescueName,
    ShortTopicRecord,
    StatusRecord,
    StuckReason,
    StuckRecord,
    ThrottleRecord,
    UncleanRecord,
    UnknownRecord,
    Verdict,
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
    unclean_command,
    unclean_text,
    unplaced_brokers,
    unplaced_text,
)
from planner.text.data_age import dated_fields


def status_document(
    status: Status, address: Address, *, now: datetime
) -> dict[str, Any]:
    """Return the document of `status --format json`."""
    return status_record(status, address, now=now).model_dump(exclude_unset=True)


def status_record(status: Status, address: Address, *, now: datetime) -> StatusRecord:
    """Return the status of a cluster as a record."""
    found = status.troubles
    return StatusRecord(
        **dated_fields(status.cluster_id, status.taken_at, now),
        status=cast("Verdict", status.verdict),
        impossible=_impossible(status),
        brokers=_brokers(status, address),
        log_dirs=_log_dirs(status, address),
        leaderless=[_leaderless(status, one, address) for one in found.leaderless],
        no_source=_no_source(status),
        under_min_isr=_topics(status, found.under_min_isr),
        min_isr_choices=_choices(min_isr_advice(status, address)),
        under_replicated=_topics(status, found.under_replicated),
        reassignments=_reassignments(status, address),
        throttles=_throttles(status, address),
        quorum=_quorum(status),
        unknown=[
            UnknownRecord(what=one.what, message=one.message) for one in status.unknown
        ],
    )


def _impossible(status: Status) -> list[ImpossibleRecord]:
    state, found = status.state, status.troubles.impossible
    return [
        ImpossibleRecord(
            resource=cast("CheckedResource", str(one.resource)),
            broker=int(state.brokers.ids[one.broker_idx]),
            log_dir=None
            if one.log_dir_idx == ABSENT
            else state.log_dirs.paths[one.log_dir_idx],
            load=one.load,
            capacity=one.capacity,
            message=f"{fact_text(state, [one])}; "
            f"{suspect_text(state, [o for o in found if o.resource is one.resource])}",
        )
        for one in found
    ]


def _choices(advice: Sequence[Advice]) -> list[ChoiceRecord]:
    return [ChoiceRecord(choice=text, command=command) for text, command in advice]


def _brokers(status: Status, address: Address) -> BrokersRecord:
    found, brokers = status.troubles, status.state.brokers
    listed = [
        DownBrokerRecord(
            broker=int(brokers.ids[b]),
            rack=brokers.racks[brokers.rack_idx[b]],
            host=brokers.hosts[brokers.host_idx[b]],
            state=cast("DownState", state_of(brokers, b)),
            replicas=int(found.replicas_on[b]),
            message=broker_text(status, b),
        )
        for b in found.broker_idx.tolist()
    ]
    choices = _choices(broker_advice(status, address)) if listed else []
    return BrokersRecord(not_live=listed, choices=choices)


def _log_dirs(status: Status, address: Address) -> LogDirsRecord:
    found, dirs = status.troubles, status.state.log_dirs
    ids = status.state.brokers.ids[dirs.broker_idx]
    listed = [
        OfflineDirRecord(
            broker=int(ids[d]),
            log_dir=dirs.paths[d],
            replicas=int(found.replicas_in[d]),
            in_this_or_another=int(found.unplaced_on[dirs.broker_idx[d]]),
            message=log_dir_text(status, d),
        )
        for d in found.log_dir_idx.tolist()
    ]
    listed += [
        OfflineDirRecord(
            broker=int(status.state.brokers.ids[b]),
            log_dir=None,
            replicas=0,
            in_this_or_another=int(found.unplaced_on[b]),
            message=unplaced_text(status, b),
        )
        for b in unplaced_brokers(status)
    ]
    choices = _choices(log_dir_advice(status, address)) if listed else []
    return LogDirsRecord(offline=listed, choices=choices)


def _leaderless(status: Status, one: Leaderless, address: Address) -> LeaderlessRecord:
    p = one.partition_idx
    rescue = rescue_of(status, one)
    return LeaderlessRecord(
        **status.state.place_of(p),
        replicas=status.state.brokers_of(p),
        isr=list(one.isr) if status.has_isr[p] else None,
        elr=list(one.elr),
        last_known_elr=list(one.last_known_elr),
        out_of_sync=list(one.out_of_sync),
        rescue=cast("RescueName", str(rescue or "unknown")),
        rescue_brokers=list(one.brokers) if rescue is not None else [],
        unclean=UncleanRecord(
            leader=one.unclean_leader,
            lost_bytes=one.lost_bytes,
            command=unclean_command(status, one, address),
        ),
        message=_joined(
            leaderless_text(status, one),
            rescue_text(status, one),
            unclean_text(status, one),
        ),
    )


def _joined(*texts: str | None) -> str:
    return "; ".join(text for text in texts if text is not None)


def _no_source(status: Status) -> list[NoSourceRecord]:
    return [
        NoSourceRecord(
            **status.state.place_of(p),
            replicas=status.state.brokers_of(p),
            message=no_source_text(status, p),
        )
        for p in status.troubles.no_source.tolist()
    ]


def _topics(status: Status, found: TopicTroubles) -> list[ShortTopicRecord]:
    names = status.state.topics.names
    columns = (
        found.topic_idx,
        found.num_partitions,
        found.least_in_sync,
        found.needed,
    )
    return [
        ShortTopicRecord(
            topic=names[topic],
            partitions=partitions,
            least_in_sync=least,
            needed=needed,
        )
        for topic, partitions, least, needed in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]


def _reassignments(status: Status, address: Address) -> MovesRecord:
    moves = status.troubles.moves
    topics = [MovingTopicRecord(**topic) for topic in moving_topics(status)]
    stuck = [
        _stuck(status, p, obstacle, broker)
        for obstacle, broker, partitions in stuck_groups(status)
        for p in partitions
    ]
    return MovesRecord(
        partitions=len(moves.partition_idx),
        bytes=_total([topic.bytes for topic in topics]),
        bytes_left=_total([topic.bytes_left for topic in topics]),
        log_dir_moves=moves.num_log_dir_moves,
        topics=topics,
        stuck=stuck,
        cancel=parse_json(format_reassignment(cancel_lists(status))),
        choices=_choices(stuck_advice(status, address)) if stuck else [],
    )


def _stuck(status: Status, p: int, obstacle: Obstacle, broker: int) -> StuckRecord:
    state = status.state
    return StuckRecord(
        **state.place_of(p),
        reason=cast("StuckReason", OBSTACLE_NAMES[obstacle]),
        broker=None if broker == ABSENT else int(state.brokers.ids[broker]),
        message=f"{state.name_of(p)} {obstacle_text(status, obstacle, broker)}",
    )


def _total(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _throttles(status: Status, address: Address) -> list[ThrottleRecord]:
    return [
        ThrottleRecord(
            scope=throttle.scope,
            name=throttle.name,
            key=throttle.key,
            value=throttle.value,
            is_used=is_used,
            command=throttle.removal(address.connection),
        )
        for throttle, is_used in zip(
            status.throttles, status.is_throttle_used, strict=True
        )
    ]


def _quorum(status: Status) -> QuorumRecord | None:
    quorum = status.quorum
    if quorum is None:
        return None
    is_known = quorum.has_fetch_ages or bool(quorum.silent)
    return QuorumRecord(
        leader=quorum.leader,
        voters=list(quorum.voters),
        majority=quorum.majority,
        silent=list(quorum.silent) if is_known else None,
        may_fail=quorum.may_fail,
    )
