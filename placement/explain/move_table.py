"""Moves of a reassignment, a row per copy and per change of the first replica."""

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.model.cluster import ABSENT
from placement.model.load import RESOURCES, WeightArray, Weights
from placement.model.reassignment import Reassignment


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Moves:
    """
    Copies, dropped replicas and changes of the first replica: ``M`` moves by partition.

    Parameters
    ----------
    partition_idx
        ``(M,)`` row of the partition.
    is_copy
        ``(M,)`` true for copies; false if another replica comes first.
    is_drop
        ``(M,)`` true for replicas that are removed without a replacement.
    place
        ``(M,)`` place in the target lists; `ABSENT` for dropped replicas.
    origin
        ``(M,)`` replica row before; `ABSENT` for a copy that replaces none.
    source, target
        ``(M,)`` rows of brokers: the one that gives up the replica, or led by the list
        before, and the one that gets it. `ABSENT` if a list grows or shrinks.
    copied_bytes
        ``(M,)`` bytes. 0 except for copies.
    weight
        ``(M, R)`` load that the target gains and the source loses.
    own
        ``(M,)`` bytes by which the replica on the source differs from the leader's.
    is_free
        ``(M,)`` whether the move could be left out alone: false if leadership changes
        because the replica leaves.
    """

    partition_idx: RowArray
    is_copy: BoolArray
    is_drop: BoolArray
    place: RowArray
    origin: RowArray
    source: IndexArray
    target: IndexArray
    copied_bytes: WeightArray
    weight: WeightArray
    own: WeightArray
    is_free: BoolArray

    def __len__(self) -> int:
        return len(self.partition_idx)

    def part(self, rows: slice) -> Self:
        """Return some of the moves."""
        return replace(
            self,
            **{field.name: getattr(self, field.name)[rows] for field in fields(self)},
        )

    @property
    def is_resizing(self) -> BoolArray:
        """``(M,)`` true if a list grows or shrinks."""
        return np.equal(self.source, ABSENT) | np.equal(self.target, ABSENT)


def list_moves(reassignment: Reassignment, weights: Weights) -> Moves:
    """
    List the moves of a reassignment by partition: copies in the order of places first.

    A reassignment does not pair removed with added replicas. Each copy is paired with a
    removed replica of the same rack if possible.

    Parameters
    ----------
    reassignment
        Replica lists before and after.
    weights
        Weights of the replicas of the cluster before.
    """
    replicas = reassignment.before.replicas
    copied = np.nonzero(reassignment.is_copied)[0]
    dropped = np.nonzero(reassignment.is_dropped)[0]
    led = np.nonzero(reassignment.is_led_anew)[0]
    partition = np.concatenate(
        [reassignment.partition_idx[copied], replicas.partition_idx[dropped], led]
    ).astype(np.int64)
    nowhere = np.full(len(dropped), ABSENT, dtype=np.int64)
    place = np.concatenate([copied, nowhere, reassignment.start[led]])
    replaced = replaced_in_rack(reassignment, copied)
    origin = np.concatenate([replaced, dropped, replicas.start[led]])
    kind = np.repeat([0, 1, 2], [len(copied), len(dropped), len(led)])
    order = np.lexsort((place, kind, partition))
    partition, kind = partition[order], kind[order]
    place, origin = place[order], origin[order]
    is_copy, is_drop = np.equal(kind, 0), np.equal(kind, 1)
    source = replicas.broker_idx_at(origin)
    leads = np.equal(place, reassignment.start[partition])
    weight = weights.replica[partition] * ~np.equal(kind, 2)[:, None]
    weight = weight + weights.leader[partition] * leads[:, None]
    own = weights.own[origin] if len(weights.own) else np.zeros(len(order), np.int64)
    to = np.append(reassignment.broker_idx, ABSENT)[place].astype(np.int32)
    return Moves(
        partition_idx=partition,
        is_copy=is_copy,
        is_drop=is_drop,
        place=place,
        origin=origin,
        source=source,
        target=to,
        copied_bytes=np.where(is_copy, weights.copy_bytes[partition], 0),
        weight=weight.reshape(len(order), len(RESOURCES)),
        own=own * is_copy,
        is_free=is_copy | is_drop | _still_holds(reassignment, partition, source),
    )


def replaced_in_rack(reassignment: Reassignment, copied: RowArray) -> RowArray:
    """
    Return the replica row that each copy replaces, in the same rack if possible.

    Pairs within one rack are kept. The other copies are paired within racks as often as
    possible, and the remaining ones in the order of their places.

    Parameters
    ----------
    reassignment
        The reassignment whose copies are paired.
    copied
        ``(C,)`` places that are copies, ascending.
    """
    before = reassignment.before
    origin = reassignment.origin[copied].astype(np.int64)
    # One more row for copies that replace none: they are in no rack.
    rack = np.append(before.brokers.rack_idx, ABSENT).astype(np.int64)
    source_rack = rack[before.replicas.broker_idx_at(origin)]
    target_rack = rack[reassignment.broker_idx[copied]]
    crosses = np.nonzero(np.not_equal(source_rack, target_rack))[0]
    if not len(crosses):
        return origin
    partition = reassignment.partition_idx[copied[crosses]].astype(np.int64)
    width = int(rack.max()) + 2
    target_key = _ranked(partition * width + target_rack[crosses] + 1)
    source_key = _ranked(partition * width + source_rack[crosses] + 1)
    _, target, source = np.intersect1d(target_key, source_key, return_indices=True)
    replaced = origin.copy()
    replaced[crosses[target]] = origin[crosses[source]]
    # The unpaired copies and replicas are both sorted by partition, equally many each.
    replaced[np.delete(crosses, target)] = origin[np.delete(crosses, source)]
    return replaced


def _ranked(key: RowArray) -> RowArray:
    """Return ``(C,)`` one number for a key and a rank among those that share it."""
    order = np.argsort(key, kind="stable")
    placed = key[order]
    is_first = np.ones(len(key), dtype=np.bool_)
    is_first[1:] = placed[1:] != placed[:-1]
    first = np.maximum.accumulate(np.where(is_first, np.arange(len(key)), 0))
    rank = np.empty(len(key), dtype=np.int64)
    rank[order] = np.arange(len(key)) - first
    ranked: RowArray = key * len(key) + rank
    return ranked


def _still_holds(
    reassignment: Reassignment, partition: npt.NDArray[np.int64], broker: IndexArray
) -> BoolArray:
    """Return ``(M,)`` whether a broker is in the new list of a partition."""
    start = reassignment.start
    first, count = start[partition], np.diff(start)[partition]
    holds = np.zeros(len(partition), dtype=np.bool_)
    for place in range(int(count.max(initial=0))):
        rows = np.nonzero(count > place)[0]
        listed = reassignment.broker_idx[first[rows] + place]
        holds[rows] |= np.equal(listed, broker[rows])
    return holds
