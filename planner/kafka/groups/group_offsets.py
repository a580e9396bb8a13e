"""Offsets of a group on a running cluster: preview, reset and verification."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import IntArray
from planner.errors import BadInputError, ClusterUnavailableError, InputProblem
from planner.group.offsets.offsets_request import OffsetsRequest
from planner.group.offsets.offsets_table import OffsetRow, OffsetsTable
from planner.group.offsets.target_offsets import (
    BY_TIME,
    INACTIVE,
    UNKNOWN,
    LogColumns,
    Name,
    Target,
    refuse_active,
    refuse_kind,
    reset,
)
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.groups.group_listing import ListedGroup, describe, find_group
from planner.kafka.groups.log_offsets import (
    LogEnd,
    Offsets,
    commit_offsets,
    committed_offsets,
    log_offsets,
    look_command,
)
from planner.kafka.read.log_dirs import Partition
from planner.kafka.read.topic_metadata import read_topics, refuse_hidden

_NAMES_SHOWN = 20


def preview(
    client: ClusterClient, group_id: str, request: OffsetsRequest
) -> OffsetsTable:
    """
    Return the offsets that a reset would commit, without committing them.

    Parameters
    ----------
    client
        Client of the cluster.
    group_id
        Kafka's ``group.id``; a group that does not exist yet would be created.
    request
        Target of the offsets, which must be given, and selection of partitions.

    Raises
    ------
    BadInputError
        If the group has members or is of an unsupported kind, or a partition does not
        exist, has no leader, or has no offset to be shifted.
    ClusterUnavailableError
        If the cluster cannot be reached, or the user lacks permission.
    """
    if request.target is None:
        msg = "a request to set offsets says where to"
        raise ValueError(msg)
    state = inactive_state(client, group_id)
    committed = committed_offsets(client, group_id)
    names = _names(client, request, committed)
    logs = _read_logs(client, names, committed, request)
    found = reset(logs, request.target, request.number)
    return OffsetsTable(
        group_id=group_id,
        state=state,
        target=request.target,
        rows=_rows(logs, found.new),
        notes=found.notes,
    )


def inactive_state(client: ClusterClient, group_id: str) -> str | None:
    """
    Return the state of a group without members; `None` if there is no such group.

    Raises
    ------
    BadInputError
        If the group has members or is of an unsupported kind.
    """
    listed = find_group(client, group_id)
    if listed is None:
        return None
    _refuse_others(listed)
    _, answer = describe(client, listed)
    described: str = answer.group_state
    # Old brokers describe a group of the consumer protocol as dead, but list its state.
    for state in (described, listed.state):
        if state is not None and state not in INACTIVE:
            raise refuse_active(group_id, state)
    return described


def _refuse_others(listed: ListedGroup) -> None:
    refuse_kind(listed.group_id, listed.kind)
    if listed.protocol_type not in {"", "consumer"}:
        rule = "its members are no consumers, and it has no offsets of theirs"
        message = f"{listed.group_id} is no consumer group"
        raise _refuse(message, "protocol type", listed.protocol_type, rule, "")


def _refuse(
    message: str, place: str, value: str, rule: str, remedy: str
) -> BadInputError:
    problem = InputProblem(
        file="group", place=place, value=value, rule=rule, remedy=remedy
    )
    return BadInputError(message, [problem])


# -- which partitions --------------------------------------------------------


def _names(
    client: ClusterClient, request: OffsetsRequest, committed: Offsets
) -> list[Partition]:
    """Return the selected partitions; each must have a leader."""
    if request.target is Target.FILE:
        asked = [Partition(*name) for name in request.offsets]
    elif request.scope.is_all:
        asked = list(committed)
    else:
        asked = _of_topics(client, request.scope.topics)
    return _led(client, sorted(asked))


def _of_topics(
    client: ClusterClient, topics: Mapping[str, Sequence[int]]
) -> list[Partition]:
    whole = [name for name, numbers in topics.items() if not numbers]
    found = read_topics(client, whole)
    refuse_hidden(client, found)
    missing = [name for name in whole if found[name]["error_code"]]
    if missing:
        rule = "do not exist"
        raise _no_such(missing, "The topics", rule)
    sizes = [
        Partition(name, one["partition_index"])
        for name in whole
        for one in found[name]["partitions"]
    ]
    return sizes + [Partition(name, n) for name, ns in topics.items() for n in ns]


def _led(client: ClusterClient, names: list[Partition]) -> list[Partition]:
    """Return the partitions; raise if any does not exist or has no leader."""
    topics = read_topics(client, sorted({name.topic for name in names}))
    refuse_hidden(client, topics)
    leaders = {
        Partition(name, one["partition_index"]): one["leader_id"]
        for name, topic in topics.items()
        for one in topic["partitions"]
    }
    missing = [str(name) for name in names if name not in leaders]
    if missing:
        raise _no_such(missing, "The partitions", "do not exist")
    lost = [str(name) for name in names if leaders[name] < 0]
    if lost:
        raise _no_such(lost, "The partitions", "have no leader")
    return names


def _no_such(names: Sequence[str], what: str, rule: str) -> BadInputError:
    shown = ",".join(names[:_NAMES_SHOWN])
    more = " …" if len(names) > _NAMES_SHOWN else ""
    message = f'{what} "{shown}{more}" {rule}'
    problems = [
        InputProblem.of_option(name, "", rule, "leave it out") for name in names
    ]
    return BadInputError(message, problems)


# -- offsets -----------------------------------------------------------------


def _read_logs(
    client: ClusterClient,
    names: Sequence[Partition],
    committed: Offsets,
    request: OffsetsRequest,
) -> LogColumns:
    wanted: Mapping[Partition, int] = {}
    if request.target is Target.FILE:
        wanted = {Partition(*name): at for name, at in request.offsets.items()}
    elif request.target in BY_TIME:
        # Kafka has no times before 1970, and -1 has another meaning.
        wanted = log_offsets(client, names, max(request.number, 0))
    return LogColumns(
        names=names,
        committed=_column(names, committed),
        earliest=_column(names, log_offsets(client, names, LogEnd.EARLIEST)),
        latest=_column(names, log_offsets(client, names, LogEnd.LATEST)),
        wanted=_column(names, wanted),
    )


def _column(names: Iterable[Partition], offsets: Mapping[Partition, int]) -> IntArray:
    return np.array([offsets.get(name, UNKNOWN) for name in names], dtype=np.int64)


def _rows(logs: LogColumns, new: IntArray) -> list[OffsetRow]:
    columns = (logs.committed, logs.earliest, logs.latest, new)
    return [
        OffsetRow(
            topic=topic,
            partition=number,
            current=None if current == UNKNOWN else current,
            log_start=first,
            log_end=end,
            new=to,
        )
        for (topic, number), current, first, end, to in zip(
            logs.names, *(column.tolist() for column in columns), strict=True
        )
    ]


@dataclass(frozen=True, slots=True)
class _Replies:
    """Answers of the brokers after a commit of offsets."""

    errors: Mapping[Partition, str]
    committed: Offsets


def execute(client: ClusterClient, foreseen: OffsetsTable) -> OffsetsTable:
    """
    Commit the offsets of a preview, and read them back.

    Parameters
    ----------
    client
        Client of the cluster.
    foreseen
        Result of `preview`.

    Returns
    -------
    OffsetsTable
        Table with an error for each partition that was rejected, or has another offset.

    Raises
    ------
    BadInputError
        If the group has members now.
    ClusterUnavailableError
        If the cluster cannot be reached any more, or the user lacks permission.
    AnswerUnknownError
        If the offsets were sent and the result of the commit is unknown.
    """
    inactive_state(client, foreseen.group_id)
    wanted = {
        Partition(*row.name): row.new for row in foreseen.rows if row.new is not None
    }
    errors = commit_offsets(client, foreseen.group_id, wanted) if wanted else {}
    replies = _Replies(errors, _read_back(client, foreseen.group_id))
    rows = [replace(row, error=_error(row, replies)) for row in foreseen.rows]
    return replace(foreseen, is_done=True, rows=rows)


def _read_back(client: ClusterClient, group_id: str) -> Offsets:
    try:
        return committed_offsets(client, group_id)
    except ClusterUnavailableError as error:
        what = f"set offsets of group {group_id}"
        raise client.unknown(what, look_command(client, group_id), error) from None


def _error(row: OffsetRow, replies: _Replies) -> str | None:
    name: Name = row.name
    at = Partition(*name)
    if at in replies.errors:
        return replies.errors[at]
    now = replies.committed.get(at)
    return None if now == row.new else f"has {now} now: committed by another"
