"""The consumer groups that are assigned, made by seed, and what is wanted of each."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assignment.balanced.balanced_assignor import Balanced
from assignment.group import (
    ABSENT,
    NOT_SENT,
    Group,
    GroupPartitions,
    GroupTopics,
    Members,
)
from assignment.outcome import Assignment
from assignment.rows import Rows

CHANGED = 0.05
"""So many of the members leave, or join."""
DRIFT = 0.5
"""Sigma of the lognormal factor by which weights change meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consuming:
    """
    One row: a group, what happens to it, and what is wanted.

    Parameters
    ----------
    num_partitions, num_members
        Of the group before anything happens.
    per_topic
        Partitions of each topic.
    topics_each
        Topics that each member reads, drawn at random; 0: all.
    is_weighted
        Whether weights are lognormal (σ = 1); else all are 1.
    change
        ``fresh``: nobody owns anything; ``leave``, ``join``: so many of the members do,
        after an assignment.
    must_s, aim_s
        Seconds.
    must_ratio
        Moved, against what had to be.
    must_even
        Largest load over the mean, where shares are not counts; 0: as proven.
    is_compared
        Whether kafka-python's own sticky assignor is given the same.
    """

    num_partitions: int
    num_members: int
    per_topic: int = 500
    topics_each: int = 0
    is_weighted: bool = False
    change: str = "fresh"
    must_s: float = float("inf")
    aim_s: float = float("inf")
    must_ratio: float = 1.0
    must_even: float = 0.0
    is_compared: bool = False

    @property
    def name(self) -> str:
        """As it stands in the table."""
        size = f"{_short(self.num_partitions)} x {self.num_members:,}"
        edges = self.num_members * self.topics_each
        kind = f", {_short(edges)} subscriptions" if edges else ""
        weights = ", weighted" if self.is_weighted else ""
        drift = " and drift" if self.is_weighted and self.change != "fresh" else ""
        change = {"leave": f"5 % leave{drift}", "join": f"5 % join{drift}"}
        return f"{size}{kind}{weights}, {change.get(self.change, self.change)}"


def _short(number: int) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:g} M"
    return f"{number / 1000:g} k" if number >= 1000 else str(number)


def make_group(row: Consuming, seed: int) -> Group:
    """Return the group that is to be assigned."""
    rng = np.random.default_rng(seed)
    group = _fresh(row, rng)
    if row.change == "fresh":
        return group
    stays = np.sort(rng.permutation(row.num_members)[: _num_staying(row)])
    if row.change == "join":
        # The newcomers owned nothing, since they were not there.
        before = Balanced().assign(group.with_members(stays))
        return _drifted(_owning(group, stays[before.member_idx]), row, rng)
    before = Balanced().assign(group)
    owned = _owning(group, before.member_idx)
    return _drifted(owned.with_members(stays), row, rng)


def _num_staying(row: Consuming) -> int:
    return row.num_members - max(1, int(row.num_members * CHANGED))


def _fresh(row: Consuming, rng: np.random.Generator) -> Group:
    sizes = np.full(-(-row.num_partitions // row.per_topic), row.per_topic)
    sizes[-1] += row.num_partitions - sizes.sum()
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    topic_idx = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    weight = np.ones(row.num_partitions)
    if row.is_weighted:
        weight = rng.lognormal(0.0, 1.0, row.num_partitions)
    nothing = Rows(np.zeros(row.num_members + 1, dtype=np.int64), topic_idx[:0])
    return Group(
        group_id="benchmark",
        racks=(),
        topics=GroupTopics(
            names=tuple(f"t{topic:05}" for topic in range(len(sizes))),
            topic_ids=(None,) * len(sizes),
            start=start,
        ),
        partitions=GroupPartitions(
            topic_idx=topic_idx,
            weight=weight,
            racks=Rows(np.zeros(row.num_partitions + 1, dtype=np.int64), topic_idx[:0]),
        ),
        members=_members(row.num_members),
        subscribed=_subscribed(row, len(sizes), rng),
        owned=nothing,
    )


def _members(count: int) -> Members:
    none = (None,) * count
    return Members(
        ids=tuple(f"c{member:05}" for member in range(count)),
        instance_ids=none,
        rack_idx=np.full(count, ABSENT, dtype=np.int32),
        capacity=np.ones(count),
        generation=np.full(count, NOT_SENT, dtype=np.int64),
        subscription_generation=np.full(count, NOT_SENT, dtype=np.int64),
        patterns=none,
        user_data=none,
    )


def _subscribed(row: Consuming, num_topics: int, rng: np.random.Generator) -> Rows:
    each = row.topics_each or num_topics
    lists = [
        np.sort(rng.permutation(num_topics)[:each]) if row.topics_each else every
        for every in [np.arange(num_topics)] * row.num_members
    ]
    start = np.arange(row.num_members + 1, dtype=np.int64) * each
    return Rows(start, np.concatenate(lists).astype(np.int32))


def _owning(group: Group, member_idx: npt.NDArray[np.int32]) -> Group:
    """Return the group with members that own what they were assigned."""
    rows = np.nonzero(member_idx >= 0)[0]
    rows = rows[np.argsort(member_idx[rows], kind="stable")].astype(np.int32)
    counts = Assignment(member_idx).counts(group.num_members)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return replace(group, owned=Rows(start, rows))


def _drifted(group: Group, row: Consuming, rng: np.random.Generator) -> Group:
    if not row.is_weighted:
        return group
    factor = rng.lognormal(0.0, DRIFT, group.num_partitions)
    weight = group.partitions.weight * factor
    return replace(group, partitions=replace(group.partitions, weight=weight))


CHANGES = ("fresh", "leave", "join")
SAME = [
    Consuming(
        num_partitions=1_000_000,
        num_members=2000,
        change=change,
        must_s=0.1,
        aim_s=0.015,
    )
    for change in CHANGES
]
DIFFERENT = [
    Consuming(
        num_partitions=200_000,
        num_members=2000,
        per_topic=40,
        topics_each=each,
        change=change,
        must_s=0.5,
        aim_s=0.05,
        must_ratio=1.02,
    )
    for each in (250, 28)
    for change in CHANGES
]
WEIGHTED = [
    Consuming(
        num_partitions=1_000_000,
        num_members=2000,
        is_weighted=True,
        change=change,
        must_s=1.0,
        aim_s=0.25,
        must_ratio=1.02,
        must_even=even,
    )
    for change, even in (("fresh", 1.001), ("leave", 1.05))
]
COMPARED = [
    Consuming(
        num_partitions=10_000,
        num_members=200,
        per_topic=50,
        topics_each=each,
        change=change,
        must_ratio=1.02 if each else 1.0,
        is_compared=True,
    )
    for each in (0, 20)
    for change in ("fresh", "leave")
]
CONSUMING = (*SAME, *DIFFERENT, *WEIGHTED, *COMPARED)
SMOKE = tuple(
    replace(row, num_partitions=240, num_members=20, per_topic=12, topics_each=each)
    for row, each in (
        *((row, 0) for row in SAME),
        *((row, 5) for row in DIFFERENT[:3]),
        *((replace(row, must_even=1.5), 0) for row in WEIGHTED),
        (COMPARED[1], 0),
        (COMPARED[3], 5),
    )
)
"""Every kind once, for the tests."""
