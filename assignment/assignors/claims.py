"""Previous owner of each partition, by the sticky assignors' rules for conflicts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assignment.group import ABSENT, DEFAULT_GENERATION, NOT_SENT, Group
from placement.array_types import IndexArray


@dataclass(frozen=True, slots=True)
class Claims:
    """
    Owners of partitions after conflicting claims are resolved.

    Parameters
    ----------
    owner_idx
        ``(P,)`` row of the member that counts as the owner, or `ABSENT`.
    is_contested
        ``(P,)`` true where two members claimed the partition in one generation. The
        constrained algorithm takes such a partition from every owner.
    """

    owner_idx: IndexArray
    is_contested: npt.NDArray[np.bool_]


def generations(sent: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return generations, with `DEFAULT_GENERATION` where none was sent."""
    return np.where(np.equal(sent, NOT_SENT), DEFAULT_GENERATION, sent)


def sole_owners(group: Group) -> IndexArray:
    """
    Return ``(P,)`` one owner of each partition, or `ABSENT`.

    If several members claim a partition, its owner is the first of those with the
    newest generation. A coordinator's own records also name one owner.
    """
    rows, claimant = group.owned.idx, group.owned.owner
    owner_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    owner_idx[rows] = claimant
    if np.count_nonzero(owner_idx != ABSENT) == len(rows):
        return owner_idx
    said = generations(group.members.generation)[claimant]
    order = np.lexsort((-claimant, said))
    owner_idx[rows[order]] = claimant[order]
    return owner_idx


def settle_claims(group: Group) -> Claims:
    """
    Determine the previous owner of each partition of a subscribed topic.

    Members claim in their order. The generation of a later claim is compared with the
    earlier claimant's *subscription* generation: if it is higher, the later member
    owns the partition; if it is lower, the earlier member keeps it; if both are equal,
    the partition has no owner.
    """
    is_known = group.is_read[group.partitions.topic_idx]
    rows, claimant = group.owned.idx, group.owned.owner
    owner_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    owner_idx[rows] = claimant
    num_claims = np.bincount(rows, minlength=group.num_partitions)
    is_contested = np.zeros(group.num_partitions, dtype=np.bool_)
    doubly = np.nonzero((num_claims > 1) & is_known)[0]
    if len(doubly):
        _settle(group, doubly, owner_idx, is_contested)
    owner_idx[~is_known] = ABSENT
    return Claims(owner_idx, is_contested)


def _settle(
    group: Group,
    doubly: npt.NDArray[np.int64],
    owner_idx: IndexArray,
    is_contested: npt.NDArray[np.bool_],
) -> None:
    """Resolve the claims to partitions that several members claim."""
    said = generations(group.members.generation)
    subscribed = generations(group.members.subscription_generation)
    claimants = group.owned.transposed(group.num_partitions)
    for row in doubly.tolist():
        first, *later = claimants.of(row).tolist()
        owner, last = first, first
        for member in later:
            if said[member] == subscribed[last]:
                # The earlier member loses it, and the later is the last to claim.
                is_contested[row] = True
                owner, last = ABSENT, member
            elif said[member] > subscribed[last]:
                owner, last = member, member
        owner_idx[row] = owner
