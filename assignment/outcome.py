"""Result of an assignor, and the changes it makes for the members."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assignment.group import ABSENT, Group
from placement.array_types import BoolArray, IndexArray, OffsetArray

__all__ = ["Assignment", "is_moved", "is_owned_by", "is_revoked"]


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """
    Member of each partition.

    Parameters
    ----------
    member_idx
        ``(P,)`` row of the member, or `ABSENT` where the partition is unassigned. The
        array is kept, not copied, and becomes read-only.
    """

    member_idx: IndexArray

    def __post_init__(self) -> None:
        self.member_idx.setflags(write=False)

    def counts(self, num_members: int) -> OffsetArray:
        """Return ``(M,)`` number of partitions of each member."""
        # The extra first bin counts unassigned partitions.
        return np.bincount(self.member_idx + 1, minlength=num_members + 1)[1:]

    def load(self, group: Group) -> npt.NDArray[np.float64]:
        """Return ``(M,)`` total weight of the partitions of each member."""
        weight, members = group.partitions.weight, group.num_members
        places = self.member_idx + 1
        return np.bincount(places, weight, members + 1)[1:].astype(np.float64)


def is_owned_by(group: Group, member_idx: IndexArray) -> BoolArray:
    """Return ``(P,)`` true where the given member is an owner of the partition."""
    is_owner = np.zeros(group.num_partitions, dtype=np.bool_)
    rows = group.owned.idx
    is_owner[rows[np.equal(member_idx[rows], group.owned.owner)]] = True
    return is_owner


def is_moved(group: Group, assignment: Assignment) -> BoolArray:
    """
    Return a mask of the partitions that change owner between present members.

    Returns
    -------
    ``(P,)`` true where a member owned the partition before and another reads it now.
    """
    was_owned = np.zeros(group.num_partitions, dtype=np.bool_)
    was_owned[group.owned.idx] = True
    is_read = np.not_equal(assignment.member_idx, ABSENT)
    return was_owned & is_read & ~is_owned_by(group, assignment.member_idx)


def is_revoked(group: Group, assignment: Assignment) -> BoolArray:
    """Return ``(K,)`` true for rows of `Group.owned` that their member revokes."""
    now = assignment.member_idx[group.owned.idx]
    return np.not_equal(now, group.owned.owner)


def idle_members(group: Group, assignment: Assignment) -> list[str]:
    """Return the ids of the members without partitions."""
    counts = assignment.counts(group.num_members)
    idle = np.nonzero(np.equal(counts, 0))[0].tolist()
    return [group.members.ids[member] for member in idle]
