"""The hard rules of placement as levels of the core's problem."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from placement.array_types import RateArray
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Level,
    Limits,
)
from placement.draft.draft import Draft, Settings
from placement.draft.rule_tables import SoftColumn
from placement.model.cluster import Brokers, LogDirState
from placement.model.disk_bytes import fixed_disk_bytes
from placement.model.load import LEADING, RESOURCES, UNITS, Resource, WeightArray
from placement.model.targets import TOLERANCE, Targets, rack_limit
from placement.rules.descriptor import RuleDescriptor, goal, without

CAPACITY_RULES = (
    "capacity-disk",
    "capacity-in",
    "capacity-out",
    "capacity-cpu",
    "max-replicas",
    "",
)
"""Rule that limits each resource of a broker; leaders have none."""


@dataclass(frozen=True, slots=True)
class RackSpread:
    """
    A rack holds no more replicas of a partition than it must.

    At most κ, the least number with which the racks can hold all replicas, and not two
    more than another rack that still has a free broker. Each broker without a rack is a
    rack of its own.
    """

    def level(self, draft: Draft) -> Level:
        """Return the level of the racks."""
        state = draft.state
        in_rack = np.bincount(
            state.brokers.rack_idx[draft.holds], minlength=state.num_racks
        )
        cap = rack_limit(state.replication_factor, in_rack)
        is_even = not draft.settings.is_rack_strict
        if not is_even:
            cap = np.minimum(cap, 1)
        is_kept = "rack" not in draft.settings.lifted
        own = draft.rack_cap
        if own is not None and has_one_rule(draft):
            cap, is_even, is_kept = own, False, True
        elif own is not None:
            cap = np.where(own > 0, 0, cap)
        # Partitions without a movable replica cannot be repaired.
        is_idle = draft.is_left_alone
        if draft.racks_as_before is not None:
            is_idle = is_idle | draft.racks_as_before
        cap = np.where(is_idle | (not is_kept), 0, cap)
        cap = np.where(eased_racks(draft) > 0, 0, cap)
        return Level(
            name="rack",
            node_of_bin=np.where(draft.holds, state.brokers.rack_idx, NOWHERE).astype(
                np.int32
            ),
            num_nodes=state.num_racks,
            group_cap=cap.astype(np.int32),
            is_even=is_kept and is_even,
            open_bins=in_rack.astype(np.int32),
        )

    def other_levels(self, draft: Draft) -> list[Level]:
        """Return further rack levels for partitions with caps of other kinds."""
        caps = [eased_racks(draft)]
        if draft.rack_cap is not None and not has_one_rule(draft):
            caps.append(np.where(draft.is_left_alone, 0, draft.rack_cap))
        whole = self.level(draft)
        return [
            replace(whole, group_cap=cap.astype(np.int32), is_even=False)
            for cap in caps
            if (cap > 0).any()
        ]


def has_one_rule(draft: Draft) -> bool:
    """Return whether every partition has a rack cap of its own in place of the rule."""
    return draft.rack_cap is not None and bool((draft.rack_cap > 0).all())


def eased_racks(draft: Draft) -> WeightArray:
    """Return ``(P,)`` replicas that a rack may hold if the rule is relaxed, else 0."""
    eased = draft.settings.eased
    if eased is None or eased.rack_most is None:
        return np.zeros(draft.state.num_partitions, dtype=np.int64)
    if draft.rack_cap is not None:
        return np.where(draft.rack_cap > 0, 0, eased.rack_most)
    return eased.rack_most


@dataclass(frozen=True, slots=True)
class OneReplicaPerBroker:
    """A broker holds one replica of a partition; its capacities are hard."""

    def level(self, draft: Draft, limits: Limits) -> Level:
        """Return the level of the brokers."""
        count = draft.state.num_brokers
        return Level(
            name="broker",
            node_of_bin=np.arange(count, dtype=np.int32),
            num_nodes=count,
            group_cap=np.ones(draft.state.num_partitions, dtype=np.int32),
            limits=limits,
        )


def broker_limits(
    draft: Draft, targets: Targets, balanced: tuple[Resource, ...]
) -> Limits:
    """
    Return the brokers' limits from targets, bands, thresholds and replica caps.

    Bands are rounded inwards to integers; the ends of a band are inside. Brokers that
    leave have no band. If old brokers may be low, only the upper ends of their bands
    count.
    """
    counts = np.array([resource in balanced for resource in RESOURCES])
    member = np.stack(
        [draft.leads if leads else draft.holds for leads in LEADING], axis=1
    )
    has_band = counts[None, :] & member & (targets.target > 0)
    slack = TOLERANCE * np.maximum(targets.target, 1.0)
    lower = np.ceil(targets.lower - slack)
    upper = np.floor(targets.upper + slack)
    if draft.old_may_be_low:
        lower = np.where(draft.is_new[:, None], lower, 0.0)
    fixed = np.zeros(targets.target.shape, dtype=np.int64)
    fixed[:, 0] = fixed_disk_bytes(draft.state)
    return Limits(
        fixed=fixed,
        capacity=hard_capacities(draft),
        **_measured(
            draft,
            lower=np.where(has_band, np.maximum(lower, 0), 0).astype(np.int64),
            upper=np.where(has_band, upper, NO_LIMIT).astype(np.int64),
            target=np.where(has_band, targets.target, 0.0),
        ),
    )


def _measured(
    draft: Draft, *, lower: WeightArray, upper: WeightArray, target: RateArray
) -> dict[str, Any]:
    """Return bands; for a measured capacity, the band ends at the capacity itself."""
    ruled = ruled_capacities(draft)
    for r, rule in enumerate(CAPACITY_RULES):
        if draft.settings.is_measured(rule):
            has_limit = ruled[:, r] < NO_LIMIT
            lower[:, r], upper[:, r] = 0, ruled[:, r]
            target[:, r] = np.where(has_limit, np.maximum(ruled[:, r], 1), 0.0)
    return {"lower": lower, "upper": upper, "target": target}


def with_columns(limits: Mapping[str, Any], columns: Sequence[SoftColumn]) -> Limits:
    """
    Return limits followed by the limits of further columns.

    Parameters
    ----------
    limits
        ``(B, R)`` tables by the names of `Limits`.
    columns
        Further columns.
    """
    count = len(limits["fixed"])
    nothing, anything = np.zeros(count, np.int64), np.full(count, NO_LIMIT)
    more: dict[str, list[Any]] = {
        "fixed": [nothing for _ in columns],
        "capacity": [
            anything if column.capacity is None else column.capacity
            for column in columns
        ],
        "lower": [column.lower for column in columns],
        "upper": [column.upper for column in columns],
        "target": [column.unit for column in columns],
    }
    return Limits(
        **{name: np.column_stack([limits[name], *more[name]]) for name in more}
    )


def capacity_units(brokers: Brokers, resource: Resource) -> RateArray:
    """Return ``(B,)`` capacities in units of load; NaN or negative if unknown."""
    columns = {
        Resource.DISK: brokers.disk_bytes.astype(np.float64),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
    }
    found: RateArray = columns[resource] * UNITS[resource]
    return found


def hard_capacities(draft: Draft) -> WeightArray:
    """
    Return ``(B, R)`` hard capacities: thresholds of known capacities, replica caps.

    Relaxed rules have the capacity that they need, or none while it is measured.
    """
    capacity = ruled_capacities(draft)
    eased = draft.settings.eased
    for r, rule in enumerate(CAPACITY_RULES):
        if draft.settings.is_measured(rule):
            capacity[:, r] = NO_LIMIT
        elif eased is not None and eased.capacity is not None and rule in eased.rules:
            capacity[:, r] = np.maximum(capacity[:, r], eased.capacity[:, r])
    if draft.most_replicas is not None:
        replicas = RESOURCES.index(Resource.REPLICAS)
        most = np.minimum(capacity[:, replicas], draft.most_replicas)
        capacity[:, replicas] = np.where(draft.holds, most, NO_LIMIT)
    return capacity


def ruled_capacities(draft: Draft) -> WeightArray:
    """Return ``(B, R)`` capacities by the rules, none of them relaxed."""
    brokers, thresholds = draft.state.brokers, draft.settings.capacity_thresholds
    capacity = np.full((len(brokers), len(RESOURCES)), NO_LIMIT, dtype=np.int64)
    for r, resource in enumerate(RESOURCES):
        if resource in thresholds:
            whole = capacity_units(brokers, resource)
            most = whole * thresholds[resource]
            known = np.isfinite(most) & (whole >= 0) & draft.holds
            rounded = np.floor(np.where(known, most, 0.0) * (1 + TOLERANCE))
            capacity[known, r] = rounded[known].astype(np.int64)
    replicas = RESOURCES.index(Resource.REPLICAS)
    if "max-replicas" not in draft.settings.lifted:
        counted = draft.holds & (brokers.max_replicas >= 0)
        capacity[counted, replicas] = brokers.max_replicas[counted]
        cap = draft.settings.max_replicas
        if cap is not None:
            held = capacity[draft.holds, replicas]
            capacity[draft.holds, replicas] = np.minimum(held, cap)
    return capacity


BAND = "band-"
"""Start of the names of the goals that are bands."""
LIMITED = (Resource.DISK, Resource.IN, Resource.OUT, Resource.CPU)
"""Resources with capacities, in their usual order."""
LIFTED = (Resource.CPU, Resource.IN, Resource.OUT, Resource.DISK)
"""The same in the order in which their limits are lifted."""


def _capacity_rule(resource: Resource) -> RuleDescriptor:
    r = RESOURCES.index(resource)

    def text(draft: Draft) -> str:
        most = draft.settings.capacity_thresholds.get(resource, 1.0)
        if draft.is_emptied_dir is not None:
            return f"no log dir over {most:.0%} of its file system"
        return f"no broker over {most:.0%} of its {resource}"

    def is_active(draft: Draft) -> bool:
        if draft.is_emptied_dir is not None:
            return resource in draft.settings.capacity_thresholds
        return bool((hard_capacities(draft)[:, r] < NO_LIMIT).any())

    return RuleDescriptor(
        name=f"capacity-{resource}",
        family="capacity",
        text=text,
        remedy=f"raise --capacity-threshold {resource}=… or add {resource}",
        may_be_soft=True,
        rank=10 + LIMITED.index(resource),
        lift_rank=10 + LIFTED.index(resource),
        lift=without_threshold("capacity_thresholds", resource),
        is_active=is_active,
        is_of_brokers=resource is not Resource.DISK,
    )


def without_threshold(
    setting: str, resource: Resource
) -> Callable[[Settings], Settings]:
    """Return the function that lifts the threshold of a resource from settings."""

    def lift(settings: Settings) -> Settings:
        kept = {r: v for r, v in getattr(settings, setting).items() if r != resource}
        changes: dict[str, Any] = {setting: kept}
        return replace(settings, **changes)

    return lift


def _has_replica_caps(draft: Draft) -> bool:
    counted = draft.state.brokers.max_replicas[draft.holds] >= 0
    return draft.settings.max_replicas is not None or bool(counted.any())


def _log_dirs_text(draft: Draft) -> str:
    if draft.is_emptied_dir is not None:
        return "nothing new in log dirs that are offline or cordoned"
    return "nothing new on brokers whose log dirs are offline or cordoned"


def _has_closed_dirs(draft: Draft) -> bool:
    return bool(np.not_equal(draft.state.log_dirs.state, LogDirState.ONLINE).any())


RULES = (
    RuleDescriptor(
        name="rack",
        text=lambda draft: (
            "no two replicas in a rack"
            if draft.settings.is_rack_strict
            else "replicas spread over racks as evenly as they allow"
        ),
        remedy=lambda settings: (
            "add racks, or leave out --rack-rule strict"
            if settings.is_rack_strict
            else "add brokers in racks that have too few"
        ),
        may_be_soft=True,
        rank=0,
        lift_rank=55,
        lift=without("rack"),
        is_active=lambda draft: (
            draft.state.num_racks > 1 or draft.settings.is_rack_strict
        ),
        is_of_brokers=True,
        left_out="leave out --rack-rule strict",
    ),
    *(_capacity_rule(resource) for resource in LIMITED),
    RuleDescriptor(
        name="max-replicas",
        text="no broker over its max_replicas",
        remedy="raise max_replicas in the snapshot, or add brokers",
        may_be_soft=True,
        rank=30,
        lift=without("max-replicas"),
        is_active=_has_replica_caps,
        is_of_brokers=True,
    ),
    RuleDescriptor(
        name="log-dirs",
        text=_log_dirs_text,
        remedy="repair or uncordon the log dirs",
        always_hard="is Kafka's own: an offline or cordoned log dir takes nothing",
        rank=56,
        lift=without("log-dirs"),
        is_active=_has_closed_dirs,
    ),
    RuleDescriptor(
        name="transient-disk",
        text="what leaves a disk counts there until all is copied",
        remedy="leave out --transient-disk, and copy in waves",
        always_hard="guards disks while copies are made: leave it out, or cut waves",
        rank=29,
        setting="is_disk_transient",
    ),
    RuleDescriptor(
        name="one-per-broker",
        always_hard="is Kafka's own: a broker holds one replica of a partition",
    ),
    *(
        goal(f"{BAND}{resource}", family="bands", rank=70 + r)
        for r, resource in enumerate(RESOURCES)
    ),
)
