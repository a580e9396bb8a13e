"""Load that moves from other brokers to those that stay."""

import numpy as np

from placement.array_types import BoolArray, IndexArray
from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT
from placement.model.load import LEADING, WeightArray


def evacuated_load(draft: Draft, leader: IndexArray) -> WeightArray:
    """
    Return the ``(R,)`` load that must move to the brokers that stay.

    It is the load of brokers that do not stay (or do not lead, for resources that the
    leader alone uses): replicas that must move, and leadership that must be handed on.
    Copies without a broker are part of it. What must move from one broker that stays to
    another, as from a failed log dir, is not.

    Parameters
    ----------
    draft
        Draft with the movability of each replica.
    leader
        ``(P,)`` row of the broker that leads each partition, or `ABSENT`.
    """
    weights, replicas = draft.weights, draft.state.replicas
    goes = _is_outside(draft)
    rows = np.nonzero(np.equal(draft.movability, Movability.MUST))[0]
    of, at = replicas.partition_idx[rows], replicas.broker_idx[rows]
    is_gone = goes[at]
    if draft.is_unplaced is not None:
        is_gone |= draft.is_unplaced[rows, None]
    load: WeightArray = (weights.replica[of] * is_gone).sum(axis=0)
    if len(weights.own):
        load[0] += weights.own[rows[is_gone[:, 0]]].sum()
    must = draft.may_lead_anew & draft.must_release[leader]
    must[of[np.equal(at, leader[of])]] = True
    led = np.nonzero(must & np.not_equal(leader, ABSENT))[0]
    load += (weights.leader[led] * goes[leader[led]]).sum(axis=0)
    return load


def is_total_fixed(draft: Draft, leader: IndexArray) -> BoolArray:
    """
    Return ``(R,)`` whether every plan gives the brokers that stay the same total load.

    Otherwise a replica or leadership on another broker may move to them, or may not.
    """
    outside, replicas = _is_outside(draft), draft.state.replicas
    may = np.equal(draft.movability, Movability.MAY)
    optional = np.zeros(len(outside), dtype=np.bool_)
    optional[replicas.broker_idx[may]] = True
    role = draft.may_lead_anew & ~draft.must_release[leader] & (leader != ABSENT)
    must = np.equal(draft.movability, Movability.MUST)
    goes = must & np.equal(replicas.broker_idx, leader[replicas.partition_idx])
    role[replicas.partition_idx[goes]] = False
    optional[leader[role]] = True
    fixed: BoolArray = np.logical_not((outside & optional[:, None]).any(axis=0))
    return fixed


def _is_outside(draft: Draft) -> BoolArray:
    """Return ``(B, R)`` true for brokers whose load of a resource has to leave."""
    return np.where(LEADING, ~draft.leads[:, None], ~draft.holds[:, None])
