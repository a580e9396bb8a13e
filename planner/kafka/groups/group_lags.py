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
    Offsets,
    committed_offsets,
    log_offsets,
    share_start_offsets,
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
    Return messages behind the end, by group.

    Parameters
    ----------
    client
        The cluster.
    groups
        As listed.

    Returns
    -------
    dict
        `None` where any part is unknown: a partition that is read without a committed
        offset (unless it is empty), without a leader, or hidden from the user.

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
    """Return what a group has committed of each partition; `None`: not to be seen."""
    try:
        committed = _offsets(client, group)
        owned = _owned(client, group)
    except (NotAuthorisedError, BadInputError):  # or deleted meanwhile
        return None
    return {**dict.fromkeys(owned), **committed}


def _offsets(client: ClusterClient, group: ListedGroup) -> Offsets:
    if group.kind == "share":
        return share_start_offsets(client, group.group_id, group.coordinator)
    return committed_offsets(client, group.group_id)


def _owned(client: ClusterClient, group: ListedGroup) -> Iterable[Partition]:
    """Yield the partitions that members read now."""
    if group.kind not in _READERS or group.state in {"Empty", "Dead"}:
        return
    _, answer = describe(client, group)
    for member in _READERS[group.kind](answer).members:
        for topic, numbers in member["owned"].items():
            yield from (Partition(topic, number) for number in numbers)


def _read_logs(
    client: ClusterClient, names: Iterable[Partition]
) -> Mapping[Partition, tuple[int, int]]:
    """Return the first and the last offset of each partition that can be seen."""
    wanted = set(names)
    topics = read_topics(client, sorted({name.topic for name in wanted}))
    led = [name for name, leader in leaders_of(topics).items() if leader >= 0]
    seen = [name for name in led if name in wanted]
    starts = log_offsets(client, seen, LogEnd.EARLIEST)
    ends = log_offsets(client, seen, LogEnd.LATEST)
    logs = {name: (starts[name], ends[name]) for name in seen if name in ends}
    gone = {n for n, one in topics.items() if one["error_code"] == UNKNOWN_TOPIC}
    # Nothing is left to read of a topic that was deleted.
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
