"""A change of hardware or options, and the request that it applies to."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from placement.cluster_changes.broker_changes import next_ids
from placement.cluster_changes.hardware_rows import (
    BrokerRow,
    broker_rows,
    dir_rows,
    rebuilt,
)
from placement.draft.draft import Settings
from placement.model.cluster import ABSENT, BrokerState, ClusterState
from placement.model.load import Resource
from placement.operations.operation import Operation
from placement.operations.remove_brokers import RemoveBrokers
from placement.rules.registry import RULES

CAPACITIES = {
    Resource.DISK: "disk_bytes",
    Resource.IN: "in_bytes_per_s",
    Resource.OUT: "out_bytes_per_s",
    Resource.CPU: "cpu_cores",
}
CAP_FIELDS = {
    "moves": ("max-moves", "max_moves"),
    "cost": ("max-bytes", "max_bytes"),
    "crossing": ("max-cross-rack-bytes", "max_cross_rack_bytes"),
}
"""Core names of the caps on all moves: the rule, and its field of the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """
    One change under which a plan is feasible.

    Parameters
    ----------
    what
        ``add-brokers``, ``keep-brokers``, ``start-brokers``, ``raise`` (a limit to a
        value), ``soft`` (make a rule soft), ``leave-out`` (a rule).
    racks
        Rack of each added broker; `None` for a broker without a rack.
    capacities
        Capacity of each added broker by resource, in bytes, bytes/s and cores; an
        absent resource has no limit.
    brokers
        Ids of brokers that are kept or started.
    rule
        Rule that is raised, made soft or left out.
    value
        New value of a raised limit.
    """

    what: str
    racks: tuple[str | None, ...] = ()
    capacities: Mapping[Resource, float] = field(default_factory=dict)
    brokers: tuple[int, ...] = ()
    rule: str = ""
    value: float = 0.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Asked:
    """A request: a cluster, an operation on it, and the settings."""

    state: ClusterState
    operation: Operation
    settings: Settings


def applied(remedy: Remedy, asked: Asked) -> Asked:
    """Return a request with a remedy applied."""
    state, settings = asked.state, asked.settings
    if remedy.what == "add-brokers":
        return replace(asked, state=_with_new(state, remedy))
    if remedy.what == "start-brokers":
        chosen = np.isin(state.brokers.ids, remedy.brokers)
        codes = np.where(chosen, BrokerState.ALIVE, state.brokers.state)
        started = state.with_brokers(state=codes.astype(state.brokers.state.dtype))
        return replace(asked, state=started)
    if remedy.what == "keep-brokers":
        assert isinstance(asked.operation, RemoveBrokers)  # noqa: S101 - see _kept
        left = [i for i in asked.operation.broker_ids if i not in remedy.brokers]
        return replace(asked, operation=RemoveBrokers(tuple(left)))
    if remedy.what == "soft":
        soft = (*settings.soft, remedy.rule)
        return replace(asked, settings=replace(settings, soft=soft))
    if remedy.what == "raise":
        return replace(asked, settings=_raised(settings, remedy))
    return replace(asked, settings=RULES[remedy.rule].lifted(settings))


def _with_new(state: ClusterState, remedy: Remedy) -> ClusterState:
    """Return the cluster with new, empty brokers."""
    unknown = float("nan")
    rates = {
        column: remedy.capacities.get(resource, unknown)
        for resource, column in CAPACITIES.items()
        if resource is not Resource.DISK
    }
    rows = [
        BrokerRow(
            broker_id=broker_id,
            rack=rack,
            host=None,
            broker_set=None,
            state=BrokerState.ALIVE,
            disk_bytes=int(remedy.capacities.get(Resource.DISK, -1)),
            max_replicas=-1,
            **rates,
        )
        for broker_id, rack in zip(
            next_ids(state, len(remedy.racks)), remedy.racks, strict=True
        )
    ]
    grown = rebuilt(state, [*broker_rows(state), *rows], dir_rows(state))
    # Rules refer to broker sets by row: a set without brokers keeps its row too.
    none = np.full(len(rows), ABSENT, dtype=state.brokers.broker_set_idx.dtype)
    return grown.with_brokers(
        broker_sets=state.brokers.broker_sets,
        broker_set_idx=np.append(state.brokers.broker_set_idx, none),
    )


def _raised(settings: Settings, remedy: Remedy) -> Settings:
    rule, value = remedy.rule, remedy.value
    for kind in ("capacity", "host"):
        if rule.startswith(f"{kind}-"):
            resource = Resource(rule.removeprefix(f"{kind}-"))
            name = f"{kind}_thresholds"
            limits = {**getattr(settings, name), resource: value}
            return replace(settings, **{name: limits})  # type: ignore[arg-type] # by name
    fields = dict(CAP_FIELDS.values())
    return replace(settings, **{fields[rule]: int(value)})  # type: ignore[arg-type] # by name
