"""Summary of a group for `group show`: members, topics and lags."""

from collections.abc import Iterator

import numpy as np

from assignment.group import Group
from planner.group.assignor_comparison import least_and_most, owners
from planner.group.group_advice import Aim, advise
from planner.group.group_document import GroupDocument, lags_of
from planner.group.show_records import (
    GroupShowRecord,
    PastEndRecord,
    ShownMemberRecord,
    ShownTopicRecord,
)


def summarize(document: GroupDocument, aim: Aim | None = None) -> GroupShowRecord:
    """
    Return the document of `group show --format json`.

    Parameters
    ----------
    document
        The group, with offsets where they are known.
    aim
        A time to catch up in, for the advice on the number of members.
    """
    record = document.record
    group = document.to_group()
    claims = np.bincount(group.owned.idx, minlength=group.num_partitions)
    lags = [lag for topic in record.topics for lag in lags_of(topic)]
    members = [_member(document, group, row) for row in range(group.num_members)]
    return GroupShowRecord(
        group_id=record.group_id,
        type=record.type,
        state=record.state,
        assignor=record.assignor,
        coordinator=record.coordinator,
        num_members=document.num_members,
        num_partitions=group.num_partitions,
        unowned=int(np.count_nonzero(np.equal(claims, 0)))
        if document.has_owners
        else None,
        claimed_twice=int(np.count_nonzero(claims > 1)),
        idle_members=[one.member_id for one in members if not one.partitions],
        lag=_total(lags),
        known_lag=_known(lags),
        unknown_lags=sum(lag is None for lag in lags),
        past_end=list(_past_end(document)),
        topics=_topics(document, group),
        members=members,
        notes=list(document.notes),
        advice=advise(document, aim),
    )


def _member(document: GroupDocument, group: Group, row: int) -> ShownMemberRecord:
    member, owned = document.record.members[row], group.owned.of(row)
    return ShownMemberRecord(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        host=member.host,
        rack=member.rack,
        topics=[group.topics.names[t] for t in group.subscribed.of(row)],
        partitions=member.num_owned or len(owned),
        load=float(group.partitions.weight[owned].sum()),
        lag=_sum_lags(document, row),
    )


def _topics(document: GroupDocument, group: Group) -> list[ShownTopicRecord]:
    per_member = _per_member(group)
    return [
        ShownTopicRecord(
            name=topic.name,
            partitions=topic.partitions,
            committed=sum(
                offset is not None for offset in topic.committed_offsets or ()
            ),
            lag=_total(lags := lags_of(topic)),
            known_lag=_known(lags),
            largest_lag=max((lag for lag in lags if lag is not None), default=None),
            least_per_member=per_member[topic.name][0],
            most_per_member=per_member[topic.name][1],
        )
        for topic in document.record.topics
    ]


def _per_member(group: Group) -> dict[str, tuple[int | None, int | None]]:
    """Return the fewest and the most partitions of each topic that a member reads."""
    is_known = bool(len(group.owned.idx))
    least, most = least_and_most(group, owners(group))
    has_readers = np.bincount(group.subscribed.idx, minlength=len(group.topics)) > 0
    return {
        name: (int(least[t]), int(most[t]))
        if is_known and has_readers[t]
        else (None, None)
        for t, name in enumerate(group.topics.names)
    }


def _past_end(document: GroupDocument) -> Iterator[PastEndRecord]:
    """Yield the offsets that were committed past the end of their log."""
    for topic in document.record.topics:
        pairs = zip(
            topic.committed_offsets or (), topic.log_end_offsets or (), strict=False
        )
        for number, (committed, end) in enumerate(pairs):
            if committed is not None and end is not None and committed > end:
                yield PastEndRecord(
                    topic=topic.name, partition=number, committed=committed, log_end=end
                )


def _sum_lags(document: GroupDocument, member: int) -> int | None:
    lags = {topic.name: lags_of(topic) for topic in document.record.topics}
    owned = document.record.members[member].owned or {}
    return _total(
        [
            lags[name][number]
            for name, numbers in owned.items()
            if name in lags
            for number in numbers
            if number < len(lags[name])
        ]
    )


def _total(lags: list[int | None]) -> int | None:
    """Return the sum of the lags; `None` where any is unknown, or the list is empty."""
    return None if None in lags else _known(lags)


def _known(lags: list[int | None]) -> int | None:
    """Return the sum of the known lags; `None` if none is known."""
    known = [lag for lag in lags if lag is not None]
    return sum(known) if known else None
