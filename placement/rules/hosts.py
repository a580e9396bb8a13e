"""Limits of the joint load of brokers that share a host."""

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Level,
    Limits,
)
from placement.draft.draft import Draft
from placement.model.disk_bytes import fixed_disk_bytes
from placement.model.load import RESOURCES, Resource, WeightArray
from placement.model.targets import TOLERANCE
from placement.rules.descriptor import RuleDescriptor
from placement.rules.hard_levels import (
    LIFTED,
    LIMITED,
    capacity_units,
    without_threshold,
)


def host_capacities(draft: Draft) -> WeightArray:
    """
    Return ``(H, R)`` joint capacity of the brokers of each host.

    This is a fraction of the sum of the capacities of brokers that stay. A host with a
    broker of unknown capacity has no limit.
    """
    brokers, thresholds = draft.state.brokers, draft.settings.host_thresholds
    capacity = np.full((len(brokers.hosts), len(RESOURCES)), NO_LIMIT, dtype=np.int64)
    rows = brokers.host_idx[draft.holds]
    for r, resource in enumerate(RESOURCES):
        if resource not in thresholds:
            continue
        whole = capacity_units(brokers, resource)[draft.holds]
        # An unknown capacity is NaN, and so is every sum with it.
        total = np.zeros(len(brokers.hosts))
        np.add.at(total, rows, np.where(whole >= 0, whole, np.nan))
        most = total * thresholds[resource] * (1 + TOLERANCE)
        known = np.isfinite(most) & np.isin(np.arange(len(most)), rows)
        capacity[known, r] = np.floor(most[known]).astype(np.int64)
    return capacity


def _eased_capacities(draft: Draft, ruled: WeightArray) -> WeightArray:
    """Return `ruled` with the capacity that relaxed rules need."""
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
    """Return ``(H, R)`` hard capacities of hosts, with relaxed rules applied."""
    return _eased_capacities(draft, host_capacities(draft))


def host_level(
    draft: Draft, keep: np.ndarray[tuple[int, ...], np.dtype[np.int64]], num_soft: int
) -> Level | None:
    """
    Return the level of the hosts; `None` if no host has a limit.

    Parameters
    ----------
    draft
        Draft with the brokers and the thresholds of their hosts.
    keep
        Resources that are columns of the problem.
    num_soft
        Number of further columns, which hosts do not limit.
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
    """Return ``(H, R)`` joint load of the brokers of each host that stay."""
    brokers = draft.state.brokers
    total = np.zeros((len(brokers.hosts), len(RESOURCES)), dtype=np.int64)
    np.add.at(total, brokers.host_idx[draft.holds], load[draft.holds])
    return total


def on_full_hosts(draft: Draft, load: WeightArray) -> BoolArray:
    """Return ``(B,)`` true for brokers whose host exceeds a capacity."""
    over = np.greater(host_loads(draft, load), host_capacities(draft))
    is_full: BoolArray = over.max(axis=1)
    return is_full[draft.state.brokers.host_idx] & draft.holds


def _host_rule(resource: Resource) -> RuleDescriptor:
    r = RESOURCES.index(resource)

    def text(draft: Draft) -> str:
        most = draft.settings.host_thresholds.get(resource, 1.0)
        return f"no host over {most:.0%} of its brokers' {resource}"

    return RuleDescriptor(
        name=f"host-{resource}",
        family="host",
        text=text,
        remedy=f"raise --host-capacity-threshold {resource}=… or add hosts",
        may_be_soft=True,
        rank=20 + LIMITED.index(resource),
        lift_rank=20 + LIFTED.index(resource),
        lift=without_threshold("host_thresholds", resource),
        is_active=lambda draft: bool((host_capacities(draft)[:, r] < NO_LIMIT).any()),
        is_of_brokers=True,
    )


RULES = tuple(_host_rule(resource) for resource in LIMITED)
