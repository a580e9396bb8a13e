"""Aggregation of partitions that the same members may read into classes."""

from dataclasses import dataclass

import numpy as np

from assignment.assignors.claims import sole_owners
from assignment.group import ABSENT, Group
from assignment.rows import order_by
from placement.array_types import IndexArray, RowArray


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """
    Classes of partitions, and the members that may read each class.

    Parameters
    ----------
    class_idx
        ``(P,)`` class of each partition; `ABSENT` where its topic has no reader.
    start, member_idx
        ``(K + 1,)``, ``(E,)`` members of class ``k`` are
        ``member_idx[start[k]:start[k + 1]]``, ascending. Each entry is an edge.
    price
        ``(E,)`` 1 where the member's rack has no replica of the class, else 0. `None`
        if racks do not count.
    owner_idx
        ``(P,)`` member that owns the partition and still reads it, or `ABSENT`.
    edge_idx
        ``(P,)`` edge of that owner and the partition's class, or `ABSENT`.
    """

    class_idx: IndexArray
    start: RowArray
    member_idx: RowArray
    price: RowArray | None
    owner_idx: IndexArray
    edge_idx: RowArray

    @property
    def num_classes(self) -> int:
        """Number of classes, ``K``."""
        return len(self.start) - 1


def classes_of(group: Group, *, by_topic: bool = False) -> Classes:
    """
    Aggregate partitions with readers by these readers, and by racks if racks count.

    Parameters
    ----------
    group
        The group.
    by_topic
        Whether every topic is a class of its own; racks are ignored then.
    """
    topic_class, lists = _topics(group) if by_topic else _by_subscribers(group)
    class_idx = topic_class[group.partitions.topic_idx]
    prices = None
    if not by_topic and racks_count(group):
        class_idx, lists, prices = _by_rack(group, class_idx, lists)
    start = np.cumsum([0, *(len(each) for each in lists)], dtype=np.int64)
    member_idx = np.concatenate([*lists, np.zeros(0, dtype=np.int32)]).astype(np.int64)
    owner_idx, edge_idx = _owners(group, class_idx, start, member_idx)
    price = None if prices is None else np.concatenate([*prices, member_idx[:0]])
    return Classes(
        class_idx.astype(np.int32), start, member_idx, price, owner_idx, edge_idx
    )


def _by_subscribers(group: Group) -> tuple[RowArray, list[IndexArray]]:
    """Return the class of each topic, and the members of each class."""
    subscribers = group.subscribers
    topic_class = np.full(len(group.topics), ABSENT, dtype=np.int64)
    known: dict[bytes, int] = {}
    lists: list[IndexArray] = []
    # Slicing one byte string is ten times as fast as slicing an array.
    raw, width = subscribers.idx.tobytes(), subscribers.idx.itemsize
    starts = (subscribers.start * width).tolist()
    for topic in np.nonzero(group.is_read)[0].tolist():
        members = raw[starts[topic] : starts[topic + 1]]
        number = known.setdefault(members, len(lists))
        if number == len(lists):
            lists.append(subscribers.of(topic))
        topic_class[topic] = number
    return topic_class, lists


def _topics(group: Group) -> tuple[RowArray, list[IndexArray]]:
    """Return one class for each topic with readers, and the members of each class."""
    subscribers, read = group.subscribers, np.nonzero(group.is_read)[0]
    topic_class = np.full(len(group.topics), ABSENT, dtype=np.int64)
    topic_class[read] = np.arange(len(read))
    return topic_class, [subscribers.of(topic) for topic in read.tolist()]


def racks_count(group: Group) -> bool:
    """Return whether any member has a rack and any replica a known rack."""
    has_rack = bool(np.not_equal(group.members.rack_idx, ABSENT).any())
    return has_rack and len(group.partitions.racks.idx) > 0


def _by_rack(
    group: Group, class_idx: RowArray, lists: list[IndexArray]
) -> tuple[RowArray, list[IndexArray], list[RowArray]]:
    """Split classes by the racks of replicas; price members in other racks."""
    rows = np.nonzero(np.not_equal(class_idx, ABSENT))[0]
    keys = np.column_stack([class_idx[rows], _rack_bits(group)[rows]])
    first, number = _numbered(keys)
    split = np.full(len(class_idx), ABSENT, dtype=np.int64)
    split[rows] = number
    samples = rows[first].tolist()
    members = [lists[class_idx[row]] for row in samples]
    racks = [tuple(set(group.partitions.racks.of(row).tolist())) for row in samples]
    prices = [_far(group, who, near) for near, who in zip(racks, members, strict=True)]
    return split, members, prices


_RACKS_PER_WORD = 62


def _rack_bits(group: Group) -> RowArray:
    """Return ``(P, W)`` racks of each partition as a bit set."""
    racks = group.partitions.racks
    words, bits = np.divmod(racks.idx.astype(np.int64), _RACKS_PER_WORD)
    num_words = -(-len(group.racks) // _RACKS_PER_WORD)
    found = np.zeros((group.num_partitions, num_words), dtype=np.int64)
    np.bitwise_or.at(found, (racks.owner, words), np.left_shift(1, bits))
    return found


def _numbered(keys: RowArray) -> tuple[RowArray, RowArray]:
    """
    Assign numbers to distinct rows in the order of their first appearance.

    Return the first row of each number, and ``(N,)`` the number of each row.
    """
    order = np.lexsort(keys.T[::-1])
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = (np.diff(keys[order], axis=0) != 0).any(axis=1)
    # The sort is stable: of equal rows the first comes first.
    first = order[is_new]
    by_appearance = np.argsort(first, kind="stable")
    rank = np.empty(len(first), dtype=np.int64)
    rank[by_appearance] = np.arange(len(first))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = rank[np.cumsum(is_new) - 1]
    return first[by_appearance], number


def _far(group: Group, members: IndexArray, racks: tuple[int, ...]) -> RowArray:
    """Return 1 for members whose rack is known and has no replica."""
    of_member = group.members.rack_idx[members]
    is_near = np.isin(of_member, racks) | np.equal(of_member, ABSENT)
    return np.where(is_near | (not racks), 0, 1).astype(np.int64)


def _owners(
    group: Group, class_idx: RowArray, start: RowArray, member_idx: RowArray
) -> tuple[IndexArray, RowArray]:
    owner_idx = sole_owners(group)
    owner_idx[np.equal(class_idx, ABSENT)] = ABSENT
    edge_idx = np.full(len(owner_idx), ABSENT, dtype=np.int64)
    rows = np.nonzero(np.not_equal(owner_idx, ABSENT))[0]
    width = group.num_members
    keys = np.repeat(np.arange(len(start) - 1), np.diff(start)) * width + member_idx
    wanted = class_idx[rows] * width + owner_idx[rows]
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    is_reader = np.equal(keys[at], wanted) if len(keys) else np.zeros(0, dtype=np.bool_)
    edge_idx[rows[is_reader]] = at[is_reader]
    owner_idx[rows[~is_reader]] = ABSENT
    return owner_idx, edge_idx


def hand_out(classes: Classes, count: RowArray) -> IndexArray:
    """
    Return the member of each partition, from counts per class and member.

    Parameters
    ----------
    classes
        Partitions by the members that may read them.
    count
        ``(E,)`` number of partitions of each edge; the counts of a class sum up to its
        size.

    Returns
    -------
    ``(P,)`` member of each partition. A member keeps its first owned partitions.
    """
    member_idx = np.full(len(classes.class_idx), ABSENT, dtype=np.int32)
    owned = np.nonzero(np.not_equal(classes.edge_idx, ABSENT))[0]
    by_edge = owned[order_by(classes.edge_idx[owned], len(count))]
    edge = classes.edge_idx[by_edge]
    at_home = np.bincount(edge, minlength=len(count))
    first = np.cumsum(at_home) - at_home
    is_kept = np.arange(len(edge)) - first[edge] < count[edge]
    kept = by_edge[is_kept]
    member_idx[kept] = classes.owner_idx[kept]
    is_free = np.equal(member_idx, ABSENT) & np.not_equal(classes.class_idx, ABSENT)
    free = np.nonzero(is_free)[0]
    free = free[order_by(classes.class_idx[free], classes.num_classes)]
    wanted = count - np.minimum(at_home, count)
    member_idx[free] = np.repeat(classes.member_idx, wanted)
    return member_idx
