"""Total lag of many groups of a running cluster."""

from collections.abc import Iterable, Mapping, Sequence

from planner.errors import BadInputError
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.background_tasks import each_at_once
from planner.kafka.client.cluster_errors import NotAuthorisedError
from planner.kafka.groups import group_members
from planner.kafka.groups.group_listing import ListedGroup, describe
from planner.kafka.groups.live_group import leaders_of
from planner.kafka.groups.log_offsets import (
    LogEnd,
    log_offsets,
    offsets_of,
)
from planner.kafka.read.log_dirs import Partition
from planner.kafka.read.topic_metadata import UNKNOWN_TOPIC, read_topics

_READERS = {
    "classic": group_members.classic,
    "consumer": group_members.consumer,
    "share": group_members.share,
}
Positions = dict[Partition, int | None]


def total_lags(
    client: ClusterClient, groups: Sequence[ListedGroup]
) -> dict[str, int | None]:
    """
    Return the total lag in messages, by group.

    Parameters
    ----------
    client
        Client of the cluster.
    groups
        Groups as listed by the brokers.

    Returns
    -------
    dict
        `None` where any part is unknown: a partition that is owned without a committed
        offset (unless it is empty), has no leader, or is hidden from the user.

    Raises
    ------
    ClusterUnavailableError
        If the cluster cannot be reached.
    """
    found = each_at_once(lambda group: _positions(client, group), groups)
    positions = {
        group.group_id: one for group, one in zip(groups, found, strict=True) if one
    }
    names = {name for one in positions.values() for name in one}
    logs = _read_logs(client, names)
    lags = {group_id: _total(one, logs) for group_id, one in positions.items()}
    return {group.group_id: lags.get(group.group_id) for group in groups}


def _positions(client: ClusterClient, group: ListedGroup) -> Positions | None:
    """Return the committed offset of each partition; `None` if the group is hidden."""
    try:
        committed = offsets_of(client, group)
        owned = _owned(client, group)
    except (NotAuthorisedError, BadInputError):  # or deleted meanwhile
        return None
    return {**dict.fromkeys(owned), **committed}


def _owned(client: ClusterClient, group: ListedGroup) -> Iterable[Partition]:
    """Yield the partitions that members own now."""
    if group.kind not in _READERS or group.state in {"Empty", "Dead"}:
        return
    _, answer = describe(client, group)
    for member in _READERS[group.kind](answer).members:
        for topic, numbers in member["owned"].items():
            yield from (Partition(topic, number) for number in numbers)


def _read_logs(
    client: ClusterClient, names: Iterable[Partition]
) -> Mapping[Partition, tuple[int, int]]:
    """Return the log start and log end offset of each visible partition."""
    wanted = set(names)
    topics = read_topics(client, sorted({name.topic for name in wanted}))
    led = [name for name, leader in leaders_of(topics).items() if leader >= 0]
    seen = [name for name in led if name in wanted]
    starts = log_offsets(client, seen, LogEnd.EARLIEST)
    ends = log_offsets(client, seen, LogEnd.LATEST)
    logs = {name: (starts[name], ends[name]) for name in seen if name in ends}
    gone = {n for n, one in topics.items() if one["error_code"] == UNKNOWN_TOPIC}
    # A deleted topic has no lag.
    return logs | {name: (0, 0) for name in wanted if name.topic in gone}


def _total(
    positions: Positions, logs: Mapping[Partition, tuple[int, int]]
) -> int | None:
    total = 0
    for name, at in positions.items():
        if name not in logs:
            return None
        start, end = logs[name]
        if at is None and start != end:
            return None
        total += max(0, end - at) if at is not None else 0
    return total
