"""
Independent check of an assignment, which shares no code with the assignors.

The check depends on the columns of the group alone. Its input are claims, pairs of a
member and a partition, which can represent a partition assigned twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from assignment.group import ABSENT, Group

RULES = (
    "unknown-member",
    "unknown-topic",
    "unknown-partition",
    "not-subscribed",
    "assigned-twice",
    "unassigned",
)
"""Rules that the check covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    Violation of one rule at one place.

    Parameters
    ----------
    rule
        One of `RULES`.
    message
        One sentence with the subject, its value and the rule.
    member, topic, partition
        Place of the violation, by Kafka's names; `None` where not applicable.
    """

    rule: str
    message: str
    member: str | None = None
    topic: str | None = None
    partition: int | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the finding in the form of `--format json`."""
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """
    Claimed pairs of a member and a partition that it reads.

    Parameters
    ----------
    member_idx, partition_idx
        ``(N,)`` rows of the group, one pair per position.
    """

    member_idx: npt.NDArray[np.int64]
    partition_idx: npt.NDArray[np.int64]


def check(
    group: Group, member_idx: npt.NDArray[np.integer], *, is_cooperative: bool = False
) -> list[Finding]:
    """
    Check the member of each partition.

    Parameters
    ----------
    group
        Group that the assignment belongs to.
    member_idx
        ``(P,)`` row of the member, or -1 where the partition is unassigned.
    is_cooperative
        Whether a partition may stay unassigned while its owner has to revoke it first.

    Returns
    -------
    Violations; empty if the assignment is valid.
    """
    rows = np.nonzero(np.not_equal(member_idx, ABSENT))[0]
    claims = Claims(np.asarray(member_idx, dtype=np.int64)[rows], rows)
    return check_claims(group, claims, is_cooperative=is_cooperative)


def check_claims(
    group: Group, claims: Claims, *, is_cooperative: bool = False
) -> list[Finding]:
    """Check pairs of a member and a partition; see `check`."""
    times = np.bincount(claims.partition_idx, minlength=len(group.partitions))
    return [
        *_not_subscribed(group, claims),
        *_twice(group, claims, times),
        *_left_out(group, times, is_cooperative=is_cooperative),
    ]


def check_named(
    group: Group, assignment: Mapping[str, Mapping[str, Sequence[int]]]
) -> tuple[Claims, list[Finding]]:
    """
    Check an assignment by names: member to topic to partition numbers.

    Returns
    -------
    The pairs with known names, and the violations of all pairs.
    """
    findings: list[Finding] = []
    member_row = {member: row for row, member in enumerate(group.members.ids)}
    pairs: list[tuple[int, int]] = []
    for member, topics in assignment.items():
        if member in member_row:
            pairs += (
                (member_row[member], row)
                for row in _rows_of(group, member, topics, findings)
            )
            continue
        findings.append(
            Finding(
                rule="unknown-member",
                message=f"{member} is given partitions, but is no member of the group",
                member=member,
            )
        )
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    claims = Claims(columns[:, 0], columns[:, 1])
    return claims, [*findings, *check_claims(group, claims)]


def _rows_of(
    group: Group,
    member: str,
    topics: Mapping[str, Sequence[int]],
    findings: list[Finding],
) -> Iterator[int]:
    """Yield the rows of partitions that exist; add the others to the findings."""
    for topic, numbers in topics.items():
        if topic not in group.topics.names:
            message = f"{member} is given {topic}, which does not exist"
            findings.append(
                Finding(
                    rule="unknown-topic", message=message, member=member, topic=topic
                )
            )
            continue
        row = group.topics.names.index(topic)
        start, stop = group.topics.start[row : row + 2].tolist()
        for number in numbers:
            if 0 <= number < stop - start:
                yield start + number
            else:
                findings.append(_unknown_partition(member, topic, number, stop - start))


def _unknown_partition(member: str, topic: str, number: int, size: int) -> Finding:
    return Finding(
        rule="unknown-partition",
        message=f"{member} is given {topic}-{number}; {topic} has {size} partitions",
        member=member,
        topic=topic,
        partition=number,
    )


def _place(group: Group, row: int) -> tuple[str, int]:
    topic = int(group.partitions.topic_idx[row])
    return group.topics.names[topic], row - int(group.topics.start[topic])


def _is_among(
    asked: npt.NDArray[np.int64], known: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return a mask of the keys that are known."""
    if not len(known):
        return np.zeros(len(asked), dtype=np.bool_)
    ordered = np.sort(known)
    at = np.minimum(np.searchsorted(ordered, asked), len(ordered) - 1)
    found: npt.NDArray[np.bool_] = np.equal(ordered[at], asked)
    return found


def _not_subscribed(group: Group, claims: Claims) -> Iterable[Finding]:
    topic_idx = group.partitions.topic_idx[claims.partition_idx]
    width = max(1, len(group.topics.names))
    owners = np.repeat(
        np.arange(len(group.members.ids)), np.diff(group.subscribed.start)
    )
    may = owners * width + group.subscribed.idx
    asked = claims.member_idx * width + topic_idx
    for at in np.nonzero(~_is_among(asked, may))[0].tolist():
        topic, number = _place(group, int(claims.partition_idx[at]))
        member = group.members.ids[claims.member_idx[at]]
        yield Finding(
            rule="not-subscribed",
            message=f"{member} is given {topic}-{number}, but does not read {topic}",
            member=member,
            topic=topic,
            partition=number,
        )


def _twice(
    group: Group, claims: Claims, times: npt.NDArray[np.int64]
) -> Iterable[Finding]:
    for row in np.nonzero(times > 1)[0].tolist():
        holders = claims.member_idx[np.equal(claims.partition_idx, row)].tolist()
        who = ", ".join(group.members.ids[member] for member in holders)
        topic, number = _place(group, row)
        yield Finding(
            rule="assigned-twice",
            message=f"{topic}-{number} is given to {who}; one member reads a partition",
            topic=topic,
            partition=number,
        )


def _left_out(
    group: Group, times: npt.NDArray[np.int64], *, is_cooperative: bool
) -> Iterable[Finding]:
    is_subscribed = np.zeros(len(group.topics.names), dtype=np.bool_)
    is_subscribed[group.subscribed.idx] = True
    is_left = np.equal(times, 0) & is_subscribed[group.partitions.topic_idx]
    if is_cooperative:
        is_left[group.owned.idx] = False
    for row in np.nonzero(is_left)[0].tolist():
        topic, number = _place(group, row)
        yield Finding(
            rule="unassigned",
            message=f"{topic}-{number} has no member, though {topic} has subscribers",
            topic=topic,
            partition=number,
        )
