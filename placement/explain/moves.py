"""What a reassignment does, a row per copy and per change of the first replica."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.change import Reassignment, RowArray
from placement.cluster import BoolArray, IndexArray
from placement.load import RESOURCES, WeightArray, Weights


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Moves:
    """
    Copies and changes of the first replica, ``M`` of them, by partition.

    Parameters
    ----------
    partition_idx
        ``(M,)`` row of the partition.
    is_copy
        ``(M,)`` true for copies; false where another replica comes first.
    place
        ``(M,)`` place of the target lists that is meant.
    source, target
        ``(M,)`` rows of brokers: the one that gives the replica, or led by the list
        before, and the one that gets it.
    copied_bytes
        ``(M,)`` bytes. 0 but for copies.
    weight
        ``(M, R)`` what comes to the target and leaves the source.
    own
        ``(M,)`` bytes by which the replica on the source differs from the leader's.
    is_free
        ``(M,)`` whether the move could be left out by itself: not where leadership
        goes because the replica goes.
    """

    partition_idx: RowArray
    is_copy: BoolArray
    place: RowArray
    source: IndexArray
    target: IndexArray
    copied_bytes: WeightArray
    weight: WeightArray
    own: WeightArray
    is_free: BoolArray

    def __len__(self) -> int:
        return len(self.partition_idx)


def list_moves(reassignment: Reassignment, weights: Weights) -> Moves:
    """
    List what a reassignment does, by partition; copies first, in the order of places.

    Parameters
    ----------
    reassignment
        What changes.
    weights
        What the replicas of the cluster before weigh.
    """
    replicas = reassignment.before.replicas
    copied = np.nonzero(reassignment.is_copied)[0]
    led = np.nonzero(reassignment.is_led_anew)[0]
    first = replicas.start[led]
    partition = np.concatenate([replicas.partition_idx[copied], led])
    is_copy = np.arange(len(partition)) < len(copied)
    place = np.concatenate([copied, first])
    origin = np.concatenate([reassignment.origin[copied], first])
    order = np.lexsort((place, ~is_copy, partition))
    partition, is_copy = partition[order], is_copy[order]
    place, origin = place[order], origin[order]
    source = replicas.broker_idx[origin]
    leads = np.equal(place, replicas.start[partition])
    weight = weights.replica[partition] * is_copy[:, None]
    weight = weight + weights.leader[partition] * leads[:, None]
    own = weights.own[origin] if len(weights.own) else np.zeros(len(order), np.int64)
    return Moves(
        partition_idx=partition.astype(np.int64),
        is_copy=is_copy,
        place=place,
        source=source,
        target=reassignment.broker_idx[place],
        copied_bytes=np.where(is_copy, weights.copy_bytes[partition], 0),
        weight=weight.reshape(len(order), len(RESOURCES)),
        own=own * is_copy,
        is_free=is_copy | _still_holds(reassignment, partition, source),
    )


def _still_holds(
    reassignment: Reassignment, partition: npt.NDArray[np.int64], broker: IndexArray
) -> BoolArray:
    """Return ``(M,)`` whether a broker is in the new list of a partition."""
    count = np.int64(reassignment.before.num_brokers)
    of = reassignment.before.replicas.partition_idx.astype(np.int64)
    held = of * count + reassignment.broker_idx
    return np.isin(partition * count + broker, held)
