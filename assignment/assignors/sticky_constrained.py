"""
Sticky assignors where all members subscribe to the same topics.

The quota of every member is the floor or the ceiling of the mean count. Members keep
owned partitions up to their quota, and the rest is assigned round robin.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from assignment.assignors.claims import Claims
from assignment.assignors.order import partitions_by_topic, topics_by_name
from assignment.assignors.racks import Racks, look_at_racks
from assignment.group import ABSENT, Group
from placement.array_types import BoolArray, IndexArray, RowArray
from placement.kafka_java.java_orders import ranks


@dataclass(frozen=True, slots=True)
class Given:
    """
    Assignment made by a sticky algorithm.

    Parameters
    ----------
    member_idx
        ``(P,)`` row of the member, or `ABSENT`.
    is_changing_hands
        ``(P,)`` true where the cooperative assignor waits for another member to revoke
        the partition first.
    """

    member_idx: IndexArray
    is_changing_hands: BoolArray


@dataclass(slots=True)
class _Quotas:
    """Quotas, and members by their distance to the quotas."""

    low: int
    high: int
    num_high: int
    """Number of members that get one partition more than `low`."""
    at_high: int = 0
    """Number of members that have `high` partitions already."""
    under_low: list[int] = field(default_factory=list)
    at_low: list[int] = field(default_factory=list)
    """Members at `low` that may still get one partition more."""

    @property
    def may_exceed(self) -> bool:
        return self.at_high < self.num_high

    def fill_to_high(self) -> None:
        self.at_high += 1
        if not self.may_exceed:
            self.at_low.clear()


def assign_constrained(group: Group, claims: Claims) -> Given:
    """
    Return the member of each partition.

    Parameters
    ----------
    group
        Group whose members all subscribe to the same topics.
    claims
        Owners of its partitions after conflicting claims are resolved.
    """
    rows = partitions_by_topic(group, topics_by_name(group))
    racks = look_at_racks(group, rows)
    low, num_high = divmod(len(rows), group.num_members)
    quotas = _Quotas(low, low + bool(num_high), num_high)
    member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    counts = _keep(group, claims, racks, quotas, member_idx)
    left = rows[np.equal(member_idx[rows], ABSENT)]
    rank = ranks(group.members.ids)
    quotas.under_low.sort(key=rank.__getitem__)
    quotas.at_low.sort(key=rank.__getitem__)
    if racks:
        left = _deal_near(left, racks, quotas, counts, member_idx)
    _deal(left, quotas, counts, member_idx)
    return Given(member_idx, _changing_hands(claims, member_idx))


def _keep(
    group: Group,
    claims: Claims,
    racks: Racks,
    quotas: _Quotas,
    member_idx: IndexArray,
) -> list[int]:
    """Assign owned partitions to their owners up to the quotas; return the counts."""
    owned = _owned_in_order(group, claims, racks)
    counts = []
    for member in range(group.num_members):
        rows = owned[member]
        kept = _num_kept(member, len(rows), quotas)
        member_idx[rows[:kept]] = member
        counts.append(kept)
    return counts


def _owned_in_order(group: Group, claims: Claims, racks: Racks) -> list[RowArray]:
    """Return the partitions each member may keep, by number and then by topic."""
    rows = np.nonzero(np.not_equal(claims.owner_idx, ABSENT) & ~claims.is_contested)[0]
    owner = claims.owner_idx[rows]
    if racks:
        is_near = [
            not racks.mismatch(member, row)
            for member, row in zip(owner.tolist(), rows.tolist(), strict=True)
        ]
        rows, owner = rows[is_near], owner[is_near]
    rank = group.topics.rank[group.partitions.topic_idx[rows]]
    order = np.lexsort((rank, group.number[rows], owner))
    ends = np.searchsorted(owner[order], np.arange(1, group.num_members))
    return np.split(rows[order], ends)


def _num_kept(member: int, num_owned: int, quotas: _Quotas) -> int:
    if num_owned < quotas.low:
        quotas.under_low.append(member)
        return num_owned
    if num_owned >= quotas.high and quotas.may_exceed:
        quotas.fill_to_high()
        return quotas.high
    if quotas.may_exceed:
        quotas.at_low.append(member)
    return quotas.low


def _deal_near(
    left: RowArray,
    racks: Racks,
    quotas: _Quotas,
    counts: list[int],
    member_idx: IndexArray,
) -> RowArray:
    """Assign partitions to members in their racks; return those without such one."""
    # Partitions with the fewest readers in their racks come first; ties keep order.
    rows = sorted(left.tolist(), key=racks.num_readers.__getitem__)
    rest, at = [], 0
    for row in rows:
        member, at = _next_near(row, racks, quotas, counts, at)
        if member == ABSENT:
            rest.append(row)
        else:
            member_idx[row] = member
            counts[member] += 1
    return np.array(rest, dtype=np.int64)


def _next_near(
    row: int, racks: Racks, quotas: _Quotas, counts: list[int], at: int
) -> tuple[int, int]:
    """Return a member in a rack of the partition, and the next start position."""
    found = _find_near(row, racks, quotas.under_low, at)
    if found != ABSENT:
        return _take_under_low(found, quotas, counts)
    found = _find_near(row, racks, quotas.at_low, 0)
    if found == ABSENT:
        return ABSENT, at
    member = quotas.at_low[found]
    if counts[member] + 1 == quotas.high:
        del quotas.at_low[found]
        quotas.fill_to_high()
    return member, at


def _find_near(row: int, racks: Racks, members: list[int], at: int) -> int:
    """Return the cyclically next position of a member in a rack of the partition."""
    for step in range(len(members)):
        position = (at + step) % len(members)
        if racks.match(members[position], row):
            return position
    return ABSENT


def _take_under_low(
    position: int, quotas: _Quotas, counts: list[int]
) -> tuple[int, int]:
    member = quotas.under_low[position]
    count = counts[member] + 1
    if count < quotas.low:
        position += 1
    else:
        del quotas.under_low[position]
        if count < quotas.high and quotas.may_exceed:
            quotas.at_low.append(member)
    return member, position % max(1, len(quotas.under_low))


def _deal(
    left: RowArray, quotas: _Quotas, counts: list[int], member_idx: IndexArray
) -> None:
    """Assign the rest in rounds over members below the low quota, then one each."""
    under = np.array(quotas.under_low, dtype=np.int64)
    need = quotas.low - np.array([counts[member] for member in under], dtype=np.int64)
    position = np.repeat(np.arange(len(under)), need)
    turn = np.arange(len(position)) - np.repeat(np.cumsum(need) - need, need)
    in_turn = position[np.lexsort((position, turn))]
    num = min(len(in_turn), len(left))
    member_idx[left[:num]] = under[in_turn[:num]]
    rest = left[num:]
    member_idx[rest] = _in_line(under, need, quotas.at_low)[: len(rest)]


def _in_line(
    under: npt.NDArray[np.int64], need: npt.NDArray[np.int64], at_low: list[int]
) -> npt.NDArray[np.int64]:
    """Return the members that get one more, in the order they reach the low quota."""
    filled = under[np.argsort(need, kind="stable")]
    return np.concatenate([np.array(at_low, dtype=np.int64), filled])


def _changing_hands(claims: Claims, member_idx: IndexArray) -> BoolArray:
    owner = claims.owner_idx
    was_anothers = np.not_equal(owner, ABSENT) & np.not_equal(owner, member_idx)
    is_given = np.not_equal(member_idx, ABSENT)
    changing: BoolArray = is_given & (was_anothers | claims.is_contested)
    return changing
