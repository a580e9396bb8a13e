"""
Temporary hops for copies that wait for each other's disks in a cycle.

Where no copy has room, each full broker waits for one of its own replicas to leave, and
that replica waits for room on another broker; the waits form a cycle. A temporary hop
of one replica to a broker outside breaks the cycle.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from placement.array_types import RowArray
from placement.model.cluster import ABSENT, ClusterState
from placement.model.copies import Copies
from placement.model.reassignment import Reassignment
from placement.waves.wave_packing import Claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """
    Reason why none of the remaining copies has room.

    Parameters
    ----------
    rows
        Rows of the copies in the cycle; without a cycle, the first remaining copy of
        each partition.
    brokers
        Ids of the brokers in the cycle, each waiting for the next.
    short_bytes
        Smallest number of bytes that the target of one of these copies lacks.
    """

    rows: tuple[int, ...]
    brokers: tuple[int, ...]
    short_bytes: int


def name_cycle(
    state: ClusterState,
    copies: Copies,
    rest: list[int],
    room: RowArray,
    dir_room: RowArray,
    fills: RowArray,
    claims: Claims,
) -> Stuck:
    """
    Return a cycle of brokers that wait for each other, along the smallest copies.

    Parameters
    ----------
    state, copies
        Cluster before the waves, and all copies.
    rest
        Rows of the copies without a wave.
    room, dir_room
        ``(B,)``, ``(D,)`` bytes of room on brokers and in log dirs.
    fills
        ``(E,)`` bytes by which each copy alone overfills its target.
    claims
        Log dirs that keep room for copies without a named log dir.
    """
    waits = _first_copies(copies, rest)
    # The smallest copy that leaves a broker would free it first.
    leaves: dict[int, int] = {}
    for row in sorted(waits, key=lambda row: (int(copies.size_bytes[row]), row)):
        if copies.removed_idx[row] != ABSENT:
            leaves.setdefault(int(copies.drops_idx[row]), row)
    path: list[int] = []
    broker = int(copies.target_idx[waits[0]])
    while broker in leaves and broker not in path:
        path.append(broker)
        broker = int(copies.target_idx[leaves[broker]])
    cycle = path[path.index(broker) :] if broker in path else []
    rows = [leaves[b] for b in cycle]
    lacking = rows or waits
    short = min(_lacks(copies, row, room, dir_room, fills, claims) for row in lacking)
    return Stuck(
        rows=tuple(rows or waits),
        brokers=tuple(int(state.brokers.ids[b]) for b in cycle),
        short_bytes=max(short, 0),
    )


def _lacks(
    copies: Copies,
    row: int,
    room: RowArray,
    dir_room: RowArray,
    fills: RowArray,
    claims: Claims,
) -> int:
    """Return the bytes that the target of a copy lacks."""
    target, size = int(copies.target_idx[row]), int(copies.size_bytes[row])
    free, short = int(room[target]), int(fills[row])
    if copies.target_dir[row] != ABSENT:
        free = min(free, int(dir_room[copies.target_dir[row]]))
    elif copies.passes[row]:
        short = max(short, claims.lacks(target, size, dir_room))
    return max(size - free, short)


def _first_copies(copies: Copies, rest: list[int]) -> list[int]:
    """Return the first remaining copy of each partition."""
    seen: set[int] = set()
    found = []
    for row in rest:
        partition = int(copies.partition_idx[row])
        if partition not in seen:
            seen.add(partition)
            found.append(row)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """
    Temporary hop of a replica to a broker outside the cycle.

    Parameters
    ----------
    row
        Row of the extra copy; the original copy of the replica follows it.
    partition_idx
        Row of the partition.
    from_idx, via_idx, to_idx
        Rows of the brokers of the replica: current, temporary and final.
    size_bytes
        Bytes of the extra copy.
    freed_bytes
        Bytes freed on the current broker.
    from_dir
        Row of the log dir that the replica leaves, or `ABSENT`.
    source_idx
        Row of the broker that sends the extra copy.
    """

    row: int
    partition_idx: int
    from_idx: int
    via_idx: int
    to_idx: int
    size_bytes: int
    freed_bytes: int
    from_dir: int
    source_idx: int

    def moved(self, row: int) -> int:
        """Return the row of a copy after the extra copy is inserted."""
        return row + 1 if row >= self.row else row

    def into(self, copies: Copies, wave: RowArray) -> tuple[Copies, RowArray]:
        """Return copies and waves with the extra copy, which the next copy deletes."""
        extra = {
            "partition_idx": self.partition_idx,
            "source_idx": self.source_idx,
            "target_idx": self.via_idx,
            "drops_idx": self.from_idx,
            "size_bytes": self.size_bytes,
            "freed_bytes": self.freed_bytes,
            "target_dir": ABSENT,
            "drops_dir": self.from_dir,
        }
        columns = {
            column.name: np.insert(
                getattr(copies, column.name), self.row, extra[column.name]
            )
            for column in fields(copies)
        }
        columns["drops_idx"][self.row + 1] = self.via_idx
        columns["freed_bytes"][self.row + 1] = self.size_bytes
        columns["drops_dir"][self.row + 1] = ABSENT
        return replace(copies, **columns), np.insert(wave, self.row, -1)


def find_hop(
    reassignment: Reassignment,
    copies: Copies,
    wave: RowArray,
    stuck: Stuck,
    room: RowArray,
    lacks_of: Callable[[int], RowArray],
) -> Hop | None:
    """
    Return a hop of the smallest replica of a cycle that fits elsewhere, or `None`.

    A replica fits on a live broker with room for it and for the writes during the
    copy, without another replica of the partition, and where racks are no worse.
    Leaders, and replicas that hopped before, do not hop.

    Parameters
    ----------
    reassignment, copies, wave
        Change of the placement, its copies, and ``(E,)`` wave of each, or -1.
    stuck
        Cycle of copies that wait for each other.
    room
        ``(B,)`` bytes of room on each broker.
    lacks_of
        Function of a copy's row that returns ``(B,)`` bytes by which writes during the
        copy overfill each broker.
    """
    order = sorted(stuck.rows, key=lambda row: (int(copies.size_bytes[row]), row))
    for row in order:
        leaves = int(copies.removed_idx[row])
        if leaves in {ABSENT, int(copies.source_idx[row])}:
            continue
        if _is_hop(copies, row) or _is_hop(copies, row + 1):
            # At most one hop per replica: otherwise a replica could hop for ever.
            continue
        via = _place_for(reassignment, copies, wave, row, room, lacks_of(row))
        if via is not None:
            return Hop(
                row=row,
                partition_idx=int(copies.partition_idx[row]),
                from_idx=int(copies.drops_idx[row]),
                via_idx=via,
                to_idx=int(copies.target_idx[row]),
                size_bytes=int(copies.size_bytes[row]),
                freed_bytes=int(copies.freed_bytes[row]),
                from_dir=int(copies.drops_dir[row]),
                source_idx=int(copies.source_idx[row]),
            )
    return None


def _is_hop(copies: Copies, row: int) -> bool:
    """Return whether the row before a copy is its temporary hop."""
    before = row - 1
    return (
        0 <= before < len(copies) - 1
        and copies.partition_idx[before] == copies.partition_idx[row]
        and copies.target_idx[before] == copies.drops_idx[row]
    )


def _place_for(
    reassignment: Reassignment,
    copies: Copies,
    wave: RowArray,
    row: int,
    room: RowArray,
    lacks: RowArray,
) -> int | None:
    state = reassignment.before
    partition = int(copies.partition_idx[row])
    start, stop = state.replicas.start[partition : partition + 2].tolist()
    members = set(state.replicas.broker_idx[start:stop].tolist())
    begin, end = reassignment.start[partition : partition + 2].tolist()
    members |= set(reassignment.broker_idx[begin:end].tolist())
    rack = state.brokers.rack_idx
    now = set(state.replicas.broker_idx[start:stop].tolist())
    for other in np.nonzero(copies.partition_idx == partition)[0].tolist():
        if wave[other] >= 0:
            now.discard(int(copies.removed_idx[other]))
            now.add(int(copies.target_idx[other]))
    now.discard(ABSENT)
    now.discard(int(copies.drops_idx[row]))
    near = {int(rack[broker]) for broker in now}
    own = {int(rack[copies.drops_idx[row]]), int(rack[copies.target_idx[row]])}
    for broker in np.argsort(-room, kind="stable").tolist():
        fits = room[broker] >= copies.size_bytes[row] and not lacks[broker]
        is_free = broker not in members and state.brokers.is_live[broker]
        is_apart = int(rack[broker]) not in near or int(rack[broker]) in own
        if fits and is_free and is_apart:
            return int(broker)
    return None
