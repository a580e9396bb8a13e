"""Brokers that share a host: what they may carry together."""

import numpy as np

from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Level,
    Limits,
)
from placement.draft.draft import Draft
from placement.model.cluster import BoolArray
from placement.model.load import RESOURCES, WeightArray, fixed_disk_bytes
from placement.model.targets import TOLERANCE
from placement.rules.hard_levels import capacity_units


def host_capacities(draft: Draft) -> WeightArray:
    """
    Return ``(H, R)`` what the brokers of each host may carry together.

    A fraction of what they have together, of those that stay; a host of which one
    broker's capacity is unknown has no limit.
    """
    brokers, thresholds = draft.state.brokers, draft.settings.host_thresholds
    capacity = np.full((len(brokers.hosts), len(RESOURCES)), NO_LIMIT, dtype=np.int64)
    rows = brokers.host_idx[draft.holds]
    for r, resource in enumerate(RESOURCES):
        if resource not in thresholds:
            continue
        whole = capacity_units(brokers, resource)[draft.holds]
        # Unknown is NaN, and so is a sum with it.
        total = np.zeros(len(brokers.hosts))
        np.add.at(total, rows, np.where(whole >= 0, whole, np.nan))
        most = total * thresholds[resource] * (1 + TOLERANCE)
        known = np.isfinite(most) & np.isin(np.arange(len(most)), rows)
        capacity[known, r] = np.floor(most[known]).astype(np.int64)
    return capacity


def _eased_capacities(draft: Draft, ruled: WeightArray) -> WeightArray:
    """Return the same with the room that rules which give way need."""
    settings, capacity = draft.settings, ruled.copy()
    for r, resource in enumerate(RESOURCES):
        rule, eased = f"host-{resource}", settings.eased
        if settings.is_measured(rule):
            capacity[:, r] = NO_LIMIT
            continue
        room = None if eased is None or rule not in eased.rules else eased.host_capacity
        if room is not None:
            capacity[:, r] = np.maximum(capacity[:, r], room[:, r])
    return capacity


def hard_host_capacities(draft: Draft) -> WeightArray:
    """Return ``(H, R)`` what hosts may carry, with the room of rules that give way."""
    return _eased_capacities(draft, host_capacities(draft))


def host_level(
    draft: Draft, keep: np.ndarray[tuple[int, ...], np.dtype[np.int64]], num_soft: int
) -> Level | None:
    """
    Return the level of the hosts; `None` where nothing limits any.

    Parameters
    ----------
    draft
        Its brokers, and the thresholds of their hosts.
    keep
        Resources that are columns of the problem.
    num_soft
        Further columns, which hosts do not limit.
    """
    capacity = host_capacities(draft)
    if not (capacity < NO_LIMIT).any():
        return None
    brokers = draft.state.brokers
    node = np.where(draft.holds, brokers.host_idx, NOWHERE).astype(np.int32)
    shape = (len(brokers.hosts), len(keep) + num_soft)
    fixed = np.zeros(shape, dtype=np.int64)
    if 0 in keep:
        own = np.where(draft.holds, fixed_disk_bytes(draft.state), 0)
        np.add.at(fixed[:, keep.tolist().index(0)], brokers.host_idx, own)
    count = len(keep)
    upper = np.full(shape, NO_LIMIT, dtype=np.int64)
    limits, target = upper.copy(), np.zeros(shape)
    limits[:, :count] = _eased_capacities(draft, capacity)[:, keep]
    for column, r in enumerate(keep.tolist()):
        if draft.settings.is_measured(f"host-{RESOURCES[r]}"):
            upper[:, column] = capacity[:, r]
            has_limit = capacity[:, r] < NO_LIMIT
            target[:, column] = np.where(has_limit, np.maximum(capacity[:, r], 1), 0.0)
    return Level(
        name="host",
        node_of_bin=node,
        num_nodes=shape[0],
        limits=Limits(
            fixed=fixed,
            capacity=limits,
            lower=np.zeros(shape, dtype=np.int64),
            upper=upper,
            target=target,
        ),
    )


def host_loads(draft: Draft, load: WeightArray) -> WeightArray:
    """Return ``(H, R)`` what the brokers of each host carry, of those that stay."""
    brokers = draft.state.brokers
    total = np.zeros((len(brokers.hosts), len(RESOURCES)), dtype=np.int64)
    np.add.at(total, brokers.host_idx[draft.holds], load[draft.holds])
    return total


def on_full_hosts(draft: Draft, load: WeightArray) -> BoolArray:
    """Return ``(B,)`` brokers whose host carries more than it may."""
    over = np.greater(host_loads(draft, load), host_capacities(draft))
    is_full: BoolArray = over.max(axis=1)
    return is_full[draft.state.brokers.host_idx] & draft.holds
