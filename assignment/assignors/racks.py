"""
Rack awareness of the client's assignors (KIP-881).

Racks count where at least one member's rack holds a replica and the partitions do
not all have replicas in the same racks.
"""

from dataclasses import dataclass, field

import numpy as np

from assignment.group import ABSENT, Group
from placement.array_types import RowArray


def counts(member_racks: set[int], partition_racks: list[frozenset[int]]) -> bool:
    """
    Return whether the assignors consider racks.

    Parameters
    ----------
    member_racks
        Racks of the members; empty if no member has a rack.
    partition_racks
        Racks of each partition's replicas.
    """
    everywhere = frozenset[int]().union(*partition_racks)
    if everywhere.isdisjoint(member_racks):
        return False
    return any(racks != everywhere for racks in partition_racks)


def rack_of_members(group: Group) -> list[int]:
    """Return the rack of each member; `ABSENT` for no rack and for an empty name."""
    return [
        rack if rack != ABSENT and group.racks[rack] else ABSENT
        for rack in group.members.rack_idx.tolist()
    ]


@dataclass(frozen=True, slots=True)
class Racks:
    """
    Racks that the sticky assignors consider; all fields are empty if none count.

    Parameters
    ----------
    of_member
        Rack of each member, or `ABSENT`.
    of_partition
        Racks of the replicas, by row of the partition.
    num_readers
        Number of members in one of the partition's racks, by row of the partition.
    """

    of_member: list[int] = field(default_factory=list)
    of_partition: dict[int, frozenset[int]] = field(default_factory=dict)
    num_readers: dict[int, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.of_member)

    def mismatch(self, member: int, partition: int) -> bool:
        """Return whether a member's rack is known and has no replica of a partition."""
        if not self.of_member or self.of_member[member] == ABSENT:
            return False
        return self.of_member[member] not in self.of_partition[partition]

    def match(self, member: int, partition: int) -> bool:
        """Return whether a member's rack has a replica of a partition."""
        return self.of_member[member] in self.of_partition[partition]


def look_at_racks(group: Group, partitions: RowArray) -> Racks:
    """Return the racks of the members and of the given partitions."""
    of_member = rack_of_members(group)
    members_in: dict[int, int] = {}
    for rack in of_member:
        if rack != ABSENT:
            members_in[rack] = members_in.get(rack, 0) + 1
    if not members_in:
        return Racks()
    rows = partitions.tolist()
    of_partition = {p: racks_of(group, p) for p in rows}
    if not counts(set(members_in), list(of_partition.values())):
        return Racks()
    readers = {
        p: sum(members_in.get(rack, 0) for rack in racks)
        for p, racks in of_partition.items()
    }
    return Racks(of_member, of_partition, readers)


def racks_of(group: Group, partition: int) -> frozenset[int]:
    """Return the racks of one partition's replicas."""
    return frozenset(np.unique(group.partitions.racks.of(partition)).tolist())
