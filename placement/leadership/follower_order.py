"""
Follower order: the next leader of each partition, for the loss of brokers.

*Goals.* When a broker dies, the second replica of each partition that it led becomes
the leader. The second replicas of the partitions that one broker leads should be spread
over the other brokers as evenly as their replicas allow, and likewise those of the
partitions that one rack leads. *Constraints.* Nothing is copied. The first replica
stays. If a replica is outside the leader's rack, one such replica comes second, so that
it can lead when the whole rack is lost. *Algorithm.* Racks are independent, because
partitions led in a rack are taken over elsewhere. Each rack takes least-cost flows
(`successor_flow`): counts after the loss of the rack are as even as possible; among
such choices, counts after the loss of one broker are as even as possible, where each
pair (lost broker, successor) costs the square of its partitions; among these, the
fewest lists change.

Example: broker 1 leads [1,2,3], [1,2,3], [1,3,2] and [1,2,3]. With the second list
changed to [1,3,2], brokers 2 and 3 take over two partitions each.
"""

from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.draft.draft import Draft
from placement.leadership.successor_flow import Asked, even_successors
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import first_live_replica, first_true
from placement.model.reassignment import Reassignment
from placement.model.targets import Targets


def spread_successors(
    draft: Draft, reassignment: Reassignment, targets: Targets
) -> Reassignment:
    """
    Put the next leader of each partition second in its list, without copies.

    Parameters
    ----------
    draft
        Draft, which determines whether any list may be reordered, or only lists that
        change anyway.
    reassignment
        Lists with the leaders first.
    targets
        Targets with the shares of leaders.
    """
    state = draft.state
    leading = first_live_replica(reassignment.after())
    leading = np.where(leading < 0, ABSENT, reassignment.origin[leading])
    may = draft.orders_followers | reassignment.is_changed
    is_free = may & ~draft.is_left_alone & (leading >= 0)
    share = np.where(draft.leads, targets.target[:, -1], 0.0)
    successors = choose_successors(reassignment, leading, is_free, share)
    is_free &= successors >= 0
    of = state.replicas.partition_idx
    origin = reassignment.origin
    place = np.arange(len(origin))
    rank = np.where(origin == leading[of], 0, np.where(origin == successors[of], 1, 2))
    order = np.lexsort((place, np.where(is_free[of], rank, 0), of))
    return replace(
        reassignment,
        broker_idx=reassignment.broker_idx[order],
        origin=origin[order].astype(np.int64),
    )


def choose_successors(
    reassignment: Reassignment,
    leading: IntArray,
    is_free: BoolArray,
    share: FloatArray,
) -> IntArray:
    """
    Choose the second replica of each partition.

    Parameters
    ----------
    reassignment
        Lists with the leaders first, nothing copied.
    leading
        ``(P,)`` replica row of the leader, or `ABSENT`.
    is_free
        ``(P,)`` partitions whose order may change; the others keep theirs.
    share
        ``(B,)`` share of leaders that each broker should have; 0 if none.

    Returns
    -------
    ``(P,)`` replica row that comes second, or `ABSENT` if there is none to choose.
    """
    state = reassignment.before
    replicas, brokers = state.replicas, state.brokers
    candidates = _candidates(state, leading, share)
    of = replicas.partition_idx.astype(np.int64)
    current = _first_listed(reassignment, candidates)
    successors = current.copy()
    led = replicas.broker_idx_at(leading).astype(np.int64)
    rack = np.where(led == ABSENT, ABSENT, brokers.rack_idx[led])
    count = np.bincount(led[led >= 0], minlength=state.num_brokers)
    rows = np.nonzero(candidates & is_free[of])[0]
    bound = np.nonzero((current >= 0) & ~is_free)[0]
    asked_by = _split(rows, rack[of[rows]], state.num_racks)
    bound_by = _split(bound, rack[bound], state.num_racks)
    for asked, kept in zip(asked_by, bound_by, strict=True):
        if len(asked):
            taken_over = replicas.broker_idx[current[kept]]
            held = count + np.bincount(taken_over, minlength=state.num_brokers)
            partitions, size = np.unique(of[asked], return_counts=True)
            tables = Asked(
                group_start=np.concatenate([[0], np.cumsum(size)]),
                lost=led[of[asked]],
                successor=replicas.broker_idx[asked].astype(np.int64),
                is_now=asked == current[of[asked]],
                held=held,
                share=share,
            )
            successors[partitions] = asked[even_successors(tables)]
    return successors


def _split(rows: IntArray, keys: IntArray, count: int) -> list[IntArray]:
    """Return the rows of each key."""
    order = rows[np.argsort(keys, kind="stable")]
    ends = np.searchsorted(np.sort(keys, kind="stable"), np.arange(count + 1))
    return [order[ends[k] : ends[k + 1]] for k in range(count)]


def _candidates(state: ClusterState, leading: IntArray, share: FloatArray) -> BoolArray:
    """Return ``(R,)`` replicas that could come second: outside the rack, if any is."""
    replicas, brokers = state.replicas, state.brokers
    of = replicas.partition_idx
    rows = np.arange(len(replicas))
    may = (share > 0)[replicas.broker_idx] & (leading[of] >= 0) & (rows != leading[of])
    rack = brokers.rack_idx[replicas.broker_idx]
    outside = may & (rack != rack[np.maximum(leading, 0)][of])
    has_outside = np.zeros(state.num_partitions, dtype=np.bool_)
    has_outside[of[outside]] = True
    found: BoolArray = np.where(has_outside[of], outside, may)
    return found


def _first_listed(reassignment: Reassignment, flags: BoolArray) -> IntArray:
    """Return ``(P,)`` the first flagged row of each list, or `ABSENT`."""
    origin = reassignment.origin
    first = first_true(flags[origin], reassignment.before.replicas.start)
    return np.where(first == ABSENT, ABSENT, origin[first])
