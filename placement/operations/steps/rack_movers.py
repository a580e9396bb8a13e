"""Minimal sets of replicas that must change racks for the rack rule."""

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, RowArray
from placement.draft.draft import Draft
from placement.model.load import first_live_replica, first_true
from placement.model.rack_violations import rack_broken
from placement.model.targets import rack_limit


def rack_movers(
    draft: Draft, is_moving: BoolArray, is_concerned: BoolArray
) -> BoolArray:
    """
    Return ``(R,)`` true for the fewest replicas that must leave their racks.

    Parameters
    ----------
    draft
        The cluster and the brokers that stay.
    is_moving
        ``(R,)`` replicas that get another broker anyway.
    is_concerned
        ``(P,)`` partitions to examine.

    Notes
    -----
    Replicas that move anyway are counted in the racks that hold fewest. Then replicas
    go, one after the other, from the rack that holds most to the one with room that
    holds fewest; no other way of levelling takes fewer. In a rack, replicas that do not
    lead go first, then those out of sync, then those on the fullest brokers.
    """
    state = draft.state
    found = np.zeros(len(state.replicas), dtype=np.bool_)
    if "rack" in draft.settings.lifted:
        return found
    moves = first_true(is_moving, state.replicas.start) >= 0
    strict = draft.settings.is_rack_strict
    suspects = is_concerned & (moves | strict | rack_broken(state, draft.holds))
    in_rack = np.bincount(
        state.brokers.rack_idx[draft.holds], minlength=state.num_racks
    )
    limit = rack_limit(state.num_replicas, in_rack)
    if strict:
        limit = np.minimum(limit, 1)
    ease = _ease(draft)
    for p in np.nonzero(suspects)[0].tolist():
        rows = np.arange(*state.replicas.start[p : p + 2])
        stays = rows[draft.holds[state.replicas.broker_idx[rows]] & ~is_moving[rows]]
        racks = state.brokers.rack_idx[state.replicas.broker_idx[stays]]
        held = np.bincount(racks, minlength=state.num_racks)
        leaving = _leaving(held, in_rack, len(rows) - len(stays), int(limit[p]))
        for rack in np.nonzero(leaving)[0]:
            inside = stays[racks == rack]
            order = np.argsort(ease[inside], kind="stable")
            found[inside[order[: leaving[rack]]]] = True
    return found


def _leaving(held: RowArray, in_rack: RowArray, coming: int, limit: int) -> RowArray:
    """Return ``(K,)`` number of replicas that each rack has to give up."""
    now = held.copy()
    for _ in range(coming):
        free = now < in_rack
        if not free.any():
            break
        now[np.argmin(np.where(free, now, np.iinfo(np.int64).max))] += 1
    for _ in range(int(held.sum()) + coming):
        free = now < in_rack
        if not free.any():
            break
        least = int(np.argmin(np.where(free, now, np.iinfo(np.int64).max)))
        most = int(np.argmax(now))
        if now[most] <= limit and now[most] - now[least] < 2:
            break
        if now[most] - now[least] < 1 or most == least:
            break
        now[most] -= 1
        now[least] += 1
    leaving: RowArray = np.maximum(held - now, 0)
    return leaving


def _ease(draft: Draft) -> npt.NDArray[np.float64]:
    """Return ``(R,)`` sort key of replicas: those with the least value leave first."""
    state, replicas = draft.state, draft.state.replicas
    first = first_live_replica(state)
    leads = np.equal(np.arange(len(replicas)), first[replicas.partition_idx])
    held = np.bincount(
        replicas.broker_idx,
        weights=draft.weights.copy_bytes[replicas.partition_idx],
        minlength=state.num_brokers,
    )
    room = np.where(state.brokers.disk_bytes > 0, state.brokers.disk_bytes, 1)
    full = held / room
    share = full / max(float(full.max(initial=0.0)), 1e-300)
    # A leader leaves after every replica that does not lead, and so on.
    return 4.0 * leads + 2.0 * replicas.is_in_sync - share[replicas.broker_idx]
