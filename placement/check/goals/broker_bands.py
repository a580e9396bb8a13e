r"""
Targets and hard bands of brokers, computed from their definitions.

Load is shared by capacity: :math:`u` solves :math:`\sum_k \min(u C_k, L_k) = W` over
the racks, where rack ``k`` can hold :math:`L_k` at most, and a broker's target is
:math:`C_b \min(u, L_k / C_k)`. The sum of :math:`L_k` can be less than ``W``, because
replicas being added do not count in replication factors; each :math:`L_k` is then
scaled up by the same ratio.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.check.case.broker_loads import broker_loads, fixed_bytes, replica_bytes
from placement.check.case.check_settings import HardGoals
from placement.check.case.finding import Finding, Missed, Where
from placement.check.case.plan_case import Case, stays
from placement.check.rules.capacity_rules import capacities
from placement.check.rules.rack_rule import most_per_rack
from placement.model.cluster import UNKNOWN, BrokerState, Storage

COUNTS = ("replicas", "leaders")
LED = ("out", "leaders")
"""Resources shared only by brokers that may lead."""
KNOWN = 0.95
"""Minimum known fraction of partitions for a resource that is not named."""
SLACK = 1e-6
ROUNDING = 1e-3
"""Largest rounding error of a rate, in bytes/s or cores."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Band:
    """
    Load of each broker in one resource, and the band around its share.

    Parameters
    ----------
    resource
        Name of the resource.
    load, target, lower, upper
        ``(B,)`` bytes, bytes/s, cores or counts; targets of 0 have no band.
    slack
        ``(B,)`` tolerance outside the band, in the same unit.
    """

    resource: str
    load: RateArray
    target: RateArray
    lower: RateArray
    upper: RateArray
    slack: RateArray

    @property
    def outside(self) -> RateArray:
        """``(B,)`` distance of each load from its band, over the target; 0 inside."""
        off = np.maximum(self.load - self.upper, self.lower - self.load)
        is_out = (off > self.slack) & (self.target > 0)
        return np.where(is_out, off / np.where(is_out, self.target, 1.0), 0.0)


def bands(case: Case, goals: HardGoals) -> Iterator[Missed]:
    """Yield the brokers outside a hard band."""
    for band in banded(case, goals):
        resource, load, outside = band.resource, band.load, band.outside
        for row in np.flatnonzero(outside > 0).tolist():
            broker = case.broker_id(row)
            finding = Finding(
                rule=f"band-{resource}",
                where=Where(broker=broker, resource=resource),
                message=f"broker {broker}: {resource} {load[row]:.6g} is outside its "
                f"band {band.lower[row]:.6g} to {band.upper[row]:.6g}, which is hard",
            )
            yield Missed(finding, float(outside[row]))


def banded(case: Case, goals: HardGoals) -> Iterator[Band]:
    """Yield the hard bands of the resources that the plan balanced."""
    # Without a live replica in sync, no election elects a leader.
    is_led = case.state.has_source[case.after.partition_idx] & case.after.is_leader
    load = broker_loads(case.state, replace(case.after, is_leader=is_led))
    for resource in _balanced(case, goals, load):
        shared = _Shared(case, goals, resource)
        target = shared.targets(load[resource])
        lower, upper = _ends(case, goals, shared, target)
        yield Band(
            resource=resource,
            load=load[resource],
            target=target,
            lower=lower,
            upper=upper,
            slack=SLACK * np.maximum(target, 1.0) + ROUNDING * load["replicas"],
        )


def _ends(
    case: Case, goals: HardGoals, shared: "_Shared", target: RateArray
) -> tuple[RateArray, RateArray]:
    """Return ``(B,)`` the lower and the upper end of each band."""
    resource = shared.resource
    width = goals.bands.get(resource, 0.10)
    lower = (1 - width) * target
    upper = np.maximum(target, shared.heaviest) + width * target
    if resource in COUNTS and goals.is_cruise_control:
        # Cruise Control's own margin: 0.9 of its threshold less one.
        part = (1 + width / 0.9 - 1) * 0.9
        lower = np.floor(target * max(1 - part, 0.0))
        upper = np.ceil(target * (1 + part))
    elif resource in COUNTS:
        lower = np.minimum(lower, np.floor(target + SLACK))
        upper = np.maximum(upper, np.ceil(target - SLACK))
    if goals.old_may_be_low:
        is_new = np.equal(case.state.brokers.state, BrokerState.NEW)
        named = case.rows_of(goals.filled)
        lower = np.where(named if goals.filled else is_new, lower, 0.0)
    return lower, upper


def leads(case: Case) -> BoolArray:
    """Return ``(B,)`` true for brokers of `stays` that may lead."""
    barred = case.rows_of(case.settings.excluded_for_leaders)
    found: BoolArray = stays(case) & case.state.brokers.may_lead & ~barred
    return found


def _balanced(
    case: Case, goals: HardGoals, load: Mapping[str, RateArray]
) -> Iterator[str]:
    """Yield the resources whose bands are hard and that the plan balanced."""
    for resource in ("disk", "in", "out", "cpu", "replicas", "leaders"):
        if f"band-{resource}" not in goals.names or resource in goals.not_balanced:
            continue
        if goals.resources is not None:
            if resource in goals.resources:
                yield resource
        elif _known_part(case, resource) >= KNOWN and not _is_little_used(
            case, goals, resource, load
        ):
            yield resource


def _known_part(case: Case, resource: str) -> float:
    partitions = case.state.partitions
    follows = np.greater(case.after.replication_factor, 1)
    known = {
        "disk": np.not_equal(partitions.size_bytes, UNKNOWN),
        "in": np.isfinite(partitions.in_bytes_per_s),
        "out": np.isfinite(partitions.out_bytes_per_s)
        & (np.isfinite(partitions.in_bytes_per_s) | ~follows),
        "cpu": np.isfinite(partitions.leader_cpu_cores)
        & (np.isfinite(partitions.follower_cpu_cores) | ~follows),
    }.get(resource)
    return 1.0 if known is None or not len(known) else float(known.mean())


def _is_little_used(
    case: Case, goals: HardGoals, resource: str, load: Mapping[str, RateArray]
) -> bool:
    least = goals.low_utilization.get(resource)
    if least is None or resource in COUNTS:
        return False
    whole = capacities(case.state, resource)[stays(case)]
    is_known = bool(len(whole)) and bool(np.all(whole > 0))
    return is_known and float(load[resource].sum()) / float(whole.sum()) < least


@dataclass(frozen=True, slots=True)
class _Shared:
    """Shares of one resource among brokers."""

    case: Case
    goals: HardGoals
    resource: str

    @property
    def members(self) -> BoolArray:
        """``(B,)`` true for brokers with a share."""
        if self.resource not in LED:
            return stays(self.case)
        found = leads(self.case)
        if self.goals.is_order_only:
            held = np.bincount(self.case.after.broker_idx, minlength=len(found))
            found &= held > 0
        return found

    @property
    def capacity(self) -> RateArray:
        """``(B,)`` weights that shares are proportional to."""
        state, members = self.case.state, self.members
        most = state.brokers.max_replicas
        counted = [np.where(most == UNKNOWN, np.nan, most), capacities(state, "disk")]
        columns = counted
        if self.resource in COUNTS and self.goals.is_cruise_control:
            columns = []
        elif self.resource not in COUNTS:
            columns = [capacities(state, self.resource)]
        for column in columns:
            if members.any() and np.all(column[members] > 0):
                return np.where(members, column, 0.0)
        return members.astype(np.float64)

    @property
    def weights(self) -> RateArray:
        """``(R,)`` load of each replica on its broker."""
        case, rows = self.case, self.case.after.partition_idx
        if self.resource == "disk":
            return replica_bytes(case.state, case.after).astype(np.float64)
        follower, leader = self._of_partitions()
        led = case.after.is_leader
        return np.where(led, follower[rows] + leader[rows], follower[rows])

    def _of_partitions(self) -> tuple[RateArray, RateArray]:
        """Return ``(P,)`` the load of a follower, and the extra load of the leader."""
        partitions, case = self.case.state.partitions, self.case
        none = np.zeros(len(partitions))
        copies = case.after.replication_factor - 1
        into = partitions.in_bytes_per_s
        if self.resource == "disk":
            shared = np.equal(case.state.topics.storage, Storage.SHARED)
            size = np.maximum(partitions.size_bytes, 0).astype(np.float64)
            return np.where(shared[partitions.topic_idx], 0.0, size), none
        if self.resource == "in":
            return np.nan_to_num(into), none
        if self.resource == "out":
            sent = partitions.out_bytes_per_s + np.where(copies > 0, into * copies, 0.0)
            return none, np.nan_to_num(sent)
        if self.resource == "cpu":
            follows = np.where(copies > 0, partitions.follower_cpu_cores, 0.0)
            known = np.isfinite(partitions.leader_cpu_cores + follows)
            extra = np.maximum(partitions.leader_cpu_cores - follows, 0.0)
            return np.where(known, follows, 0.0), np.where(known, extra, 0.0)
        one = np.ones(len(partitions))
        return (one, none) if self.resource == "replicas" else (none, one)

    @property
    def heaviest(self) -> RateArray:
        """``(B,)`` load of the heaviest replica on each broker."""
        found = np.zeros(self.case.state.num_brokers)
        np.maximum.at(found, self.case.after.broker_idx, self.weights)
        return found

    def _most_in_racks(self, holds: BoolArray, chosen: BoolArray) -> RateArray:
        """Return ``(K,)`` the largest load of the chosen partitions in each rack."""
        case = self.case
        racks = len(case.state.brokers.racks)
        if self.resource in LED:
            return np.full(racks, np.inf)
        in_rack = np.bincount(case.state.brokers.rack_idx[holds], minlength=racks)
        follower, leader = self._of_partitions()
        most = np.zeros(racks)
        for factor in np.unique(case.after.replication_factor[chosen]).tolist():
            limit = most_per_rack(factor, in_rack.tolist())
            if not self.goals.spreads_racks:
                limit = factor
            here = chosen & np.equal(case.after.replication_factor, factor)
            most += follower[here].sum() * np.minimum(limit, in_rack)
        if self.resource == "cpu":
            most += leader[chosen].sum()
        if self.resource == "disk":
            own = fixed_bytes(case.state) * holds
            most += np.bincount(case.state.brokers.rack_idx, own, minlength=racks)
        return most

    def targets(self, load: RateArray) -> RateArray:
        """Return ``(B,)`` shares; a broker with too heavy a replica keeps its load."""
        target = np.zeros(len(load))
        for holds, chosen in self._pools():
            members, aside = self.members & holds, np.zeros_like(holds)
            most = self._most_in_racks(stays(self.case) & holds, chosen)
            total = self._total(holds, chosen, load[members].sum())
            most = self._at_least(most, members, total)
            while True:
                left = max(total - load[aside].sum(), 0.0)
                poured = self._pour(members, most - self._in_racks(load * aside), left)
                target[members] = poured[members]
                width = self.goals.bands.get(self.resource, 0.10)
                heavy = members & (load > 0)
                heavy &= self.heaviest > (1 + width) * poured * (1 + 1e-12)
                if self.resource in COUNTS or not heavy.any():
                    break
                aside, members = aside | heavy, members & ~heavy
            target[aside] = load[aside]
        return target

    def _pools(self) -> Iterator[tuple[BoolArray, BoolArray]]:
        """Yield each set of brokers with the partitions that its brokers share."""
        state, sets = self.case.state, self.goals.set_of_topic
        every = np.ones(state.num_partitions, dtype=np.bool_)
        if sets is None:
            yield np.ones(state.num_brokers, dtype=np.bool_), every
            return
        names = [*state.brokers.broker_sets, ""]
        rows = state.brokers.broker_set_idx.tolist()
        own = np.array([names[row] for row in rows], dtype=np.str_)
        topics = [sets.get(name, "") for name in state.topics.names]
        wanted = np.array(topics, dtype=np.str_)[state.partitions.topic_idx]
        for name in sorted(set(own.tolist())):
            yield np.equal(own, name), np.equal(wanted, name)

    def _total(self, holds: BoolArray, chosen: BoolArray, carried: float) -> float:
        if self.goals.set_of_topic is None:
            return float(carried)
        follower, leader = self._of_partitions()
        count = np.diff(self.case.after.start)
        total = float((follower * count)[chosen].sum() + leader[chosen].sum())
        if self.resource == "disk":
            own = fixed_bytes(self.case.state)
            total += float(own[holds & stays(self.case)].sum())
        return total

    def _at_least(self, most: RateArray, members: BoolArray, total: float) -> RateArray:
        """Return ``(K,)`` rack limits, scaled up to sum to the total at least."""
        in_use = self._in_racks(np.where(members, self.capacity, 0.0)) > 0
        held = float(most[in_use].sum())
        return most * (total / held) if 0 < held < total else most

    def _in_racks(self, values: RateArray) -> RateArray:
        brokers = self.case.state.brokers
        racks = len(brokers.racks)
        return np.bincount(brokers.rack_idx, values, minlength=racks).astype(np.float64)

    def _pour(self, members: BoolArray, most: RateArray, total: float) -> RateArray:
        """Return ``(B,)`` shares of a load by capacity, within the rack limits."""
        capacity = np.where(members, self.capacity, 0.0)
        in_rack, most = self._in_racks(capacity), np.maximum(most, 0.0)
        full = np.zeros(len(in_rack), dtype=np.bool_)
        level = 0.0
        while True:
            width = float(in_rack[~full].sum())
            if width <= 0:
                break
            level = (total - float(most[full].sum())) / width
            over = ~full & (in_rack > 0) & (level * in_rack > most * (1 + 1e-9))
            if not over.any():
                break
            full |= over
        share = np.where(full, most / np.where(in_rack > 0, in_rack, 1.0), level)
        poured: RateArray = capacity * share[self.case.state.brokers.rack_idx]
        return poured
