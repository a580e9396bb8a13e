"""Assignments of a group by Kafka's assignors and by `balanced`, for comparison."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assignment.assignors import ASSIGNORS, Assignor
from assignment.balanced.balanced_assignor import Balanced
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment
from placement.array_types import CountArray, RateArray
from planner.group.group_answers import UnevenTopicRecord

MOST_TRIED = 50_000
"""Subscribed partitions, summed over members, up to which Kafka's assignors run."""
NEAR = 1.05
"""Ratio to the least load up to which two assignors count as equally good."""
# cooperative-sticky is left out: it ends at the assignment of sticky.
CLASSIC = ("range", "roundrobin", "sticky")
SERVER = ("server-uniform", "server-range")


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """
    The assignment of one assignor, with its figures.

    Parameters
    ----------
    name
        Name of the assignor.
    busiest
        Largest ratio of load to capacity over all members.
    num_idle
        Number of members without a partition.
    widest
        ``(T,)`` spread of each topic: the most partitions that a subscriber reads, less
        the fewest.
    member_idx
        ``(P,)`` row of the member that reads each partition, or `ABSENT`.
    """

    name: str
    busiest: float
    num_idle: int
    widest: CountArray
    member_idx: npt.NDArray[np.int32]


def options_of(group: Group, kind: str | None, weight: RateArray) -> list[Option]:
    """
    Return the assignments of the assignors that suit a group, `balanced` last.

    Parameters
    ----------
    group
        The group.
    kind
        Kind of the group: ``classic``, ``consumer`` or `None`. ``consumer`` selects the
        assignors of the server, the others select those of the client.
    weight
        ``(P,)`` load of each partition on its reader. Not negative.
    """
    weighed = replace(group, partitions=replace(group.partitions, weight=weight))
    names = SERVER if kind == "consumer" else CLASSIC
    size = int(group.topics.num_partitions[group.subscribed.idx].sum())
    tried: list[Assignor] = []
    if size <= MOST_TRIED:
        tried = [each for each in ASSIGNORS if each.name in names]
    return [_option(weighed, each) for each in (*tried, Balanced())]


def assign_as_kafka(group: Group, assignor: Assignor) -> Assignment:
    """
    Return the assignment that a group gets from an assignor.

    A coordinator calls its own assignors without the subscriptions to missing topics;
    the assignors of clients get every subscription.
    """
    seen = group.without_missing_topics() if assignor.name in SERVER else group
    return assignor.assign(seen)


def _option(group: Group, assignor: Assignor) -> Option:
    made = assign_as_kafka(group, assignor)
    counts = made.counts(group.num_members)
    return Option(
        name=assignor.name,
        busiest=float((made.load(group) / group.members.capacity).max(initial=0)),
        num_idle=int(np.count_nonzero(counts == 0)),
        widest=widths(group, made.member_idx),
        member_idx=made.member_idx,
    )


def least_and_most(
    group: Group, member_idx: npt.NDArray[np.int32]
) -> tuple[CountArray, CountArray]:
    """Return ``(T,)`` fewest and ``(T,)`` most partitions that a subscriber reads."""
    topics, members = len(group.topics), group.num_members
    read = np.not_equal(member_idx, ABSENT)
    place = group.partitions.topic_idx[read].astype(np.int64) * members
    # Only subscribed pairs are counted: with ten thousand topics and a thousand
    # members, a table of all pairs would be mostly empty.
    places, held = np.unique(place + member_idx[read], return_counts=True)
    key = group.subscribed.idx.astype(np.int64) * members + group.subscribed.owner
    at = np.minimum(np.searchsorted(places, key), max(len(places) - 1, 0))
    counts = np.zeros(len(key), dtype=np.int64)
    if len(places):
        counts = np.where(places[at] == key, held[at], 0)
    most = np.zeros(topics, dtype=np.int64)
    least = np.full(topics, np.iinfo(np.int64).max)
    np.maximum.at(most, group.subscribed.idx, counts)
    np.minimum.at(least, group.subscribed.idx, counts)
    return np.minimum(least, most), most


def widths(group: Group, member_idx: npt.NDArray[np.int32]) -> CountArray:
    """Return ``(T,)`` spread of each topic: most less fewest partitions per reader."""
    least, most = least_and_most(group, member_idx)
    return most - least


def owners(group: Group) -> npt.NDArray[np.int32]:
    """Return ``(P,)`` current owner of each partition; the first of several owners."""
    member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    member_idx[group.owned.idx[::-1]] = group.owned.owner[::-1]
    return member_idx


def uneven_topics(
    group: Group, member_idx: npt.NDArray[np.int32]
) -> list[UnevenTopicRecord]:
    """Return the topics with a spread above 1 partition, the largest spread first."""
    least, most = least_and_most(group, member_idx)
    rows = np.nonzero(most - least > 1)[0]
    rows = rows[np.argsort(least[rows] - most[rows], kind="stable")]
    return [
        UnevenTopicRecord(
            name=group.topics.names[t], least=int(least[t]), most=int(most[t])
        )
        for t in rows.tolist()
    ]


def uneven_text(
    group: Group, member_idx: npt.NDArray[np.int32], options: Sequence[Option]
) -> str | None:
    """
    Return a sentence on the most unevenly read topic; `None` if all are even.

    Parameters
    ----------
    group
        The group.
    member_idx
        ``(P,)`` row of the member that reads each partition, or `ABSENT`.
    options
        Assignments of other assignors, searched for one that evens the topic.
    """
    uneven = uneven_topics(group, member_idx)
    if not uneven:
        return None
    first = uneven[0]
    row = group.topics.names.index(first.name)
    now = first.most - first.least
    evener = [one.name for one in options if one.widest[row] <= max(1, now // 4)]
    more = f" ({len(uneven) - 1} more topics are uneven)" if len(uneven) > 1 else ""
    text = (
        f"{first.name} is uneven: {first.least} to {first.most} of its "
        f"{int(group.topics.num_partitions[row])} partitions per member{more}"
    )
    helps = joined(evener) if evener else "no assignor that was tried"
    verb = "evens" if len(evener) < 2 else "even"
    return f"{text}; {helps} {verb} it"


def amount(value: float) -> str:
    """
    Format a load: whole from 1000 on, four significant digits below.

    Examples
    --------
    >>> amount(43272.0), amount(2.5), amount(1234567.0)
    ('43272', '2.5', '1234567')
    """
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def joined(names: Sequence[str]) -> str:
    """
    Join names with commas, the last one with "and".

    Examples
    --------
    >>> joined(["range", "roundrobin", "sticky"])
    'range, roundrobin and sticky'
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def near_best(options: Sequence[Option]) -> Iterator[str]:
    """Yield the assignors within `NEAR` of the least load of the busiest member."""
    least = min(one.busiest for one in options)
    for one in options:
        if one.busiest <= least * NEAR:
            yield one.name


def matching_assignor(
    options: Sequence[Option], now: npt.NDArray[np.int32]
) -> str | None:
    """Return the assignor of Kafka that gives the current assignment, or `None`."""
    for one in options:
        if one.name != "balanced" and np.array_equal(one.member_idx, now):
            return one.name
    return None
