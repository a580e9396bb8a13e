"""Capacity rules of brokers and hosts, and the replica limit of brokers."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from placement.check.case.broker_loads import Loads, broker_loads
from placement.check.case.check_settings import DEFAULT_CAPACITY_THRESHOLDS
from placement.check.case.finding import Finding, Where
from placement.check.case.plan_case import Case
from placement.model.cluster import UNKNOWN, ClusterState

# Sums of rates in another order may differ by rounding, and in no other way.
SLACK = 1e-9
_UNITS = {"disk": "B", "in": "B/s", "out": "B/s", "cpu": "cores"}
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def capacity(case: Case) -> Iterator[Finding]:
    """
    Yield the live brokers and hosts above the threshold of a known capacity.

    A violation is existing if the load of that resource does not grow.
    """
    before = broker_loads(case.state, case.before)
    after = broker_loads(case.state, case.after)
    for resource in DEFAULT_CAPACITY_THRESHOLDS:
        whole = capacities(case.state, resource)
        limit = whole * case.settings.threshold_of(resource)
        slack = 1 + SLACK
        # A comparison with NaN is false: an unknown capacity has no limit.
        is_over = (after[resource] > limit * slack) & case.state.brokers.is_live
        adds = after[resource] > before[resource] * slack
        for row in np.flatnonzero(is_over).tolist():
            yield Finding(
                rule="capacity",
                where=Where(broker=case.broker_id(row), resource=resource),
                message=f"broker {case.broker_id(row)}: {resource} "
                f"{amount(resource, after[resource][row])} (before: "
                f"{amount(resource, before[resource][row])}) is over "
                f"{amount(resource, limit[row])}, "
                f"{case.settings.threshold_of(resource):.4g} of its capacity",
                existing=not adds[row],
            )
    yield from _over_hosts(case, before, after)


def _over_hosts(case: Case, before: Loads, after: Loads) -> Iterator[Finding]:
    """Yield the hosts whose brokers together exceed a threshold."""
    brokers = case.state.brokers
    stays = brokers.is_live & ~case.rows_of(case.settings.leaving_brokers)
    for resource, fraction in sorted(case.settings.host_thresholds.items()):
        whole = capacities(case.state, resource)
        for host, name in enumerate(brokers.hosts):
            rows = np.flatnonzero(stays & np.equal(brokers.host_idx, host))
            limit = float(whole[rows].sum()) * fraction
            was, load = (
                float(loads[resource][rows].sum()) for loads in (before, after)
            )
            # A comparison with NaN is false: an unknown capacity has no limit.
            if load > limit * (1 + SLACK):
                ids = ", ".join(str(case.broker_id(row)) for row in rows.tolist())
                yield Finding(
                    rule="host-capacity",
                    where=Where(broker=case.broker_id(int(rows[0])), resource=resource),
                    message=f"host {name or 'unknown'} of broker {ids}: {resource} "
                    f"{amount(resource, load)} (before: {amount(resource, was)}) is "
                    f"over {amount(resource, limit)}, {fraction:.4g} of its capacity",
                    existing=load <= was * (1 + SLACK),
                )


def amount(resource: str, value: float) -> str:
    """Return an amount as text: ``805.2 GB``, ``1.5 MB/s``, ``3.2 cores``."""
    unit = _UNITS[resource]
    for scale, prefix in _PREFIXES if resource != "cpu" else ():
        if value >= scale:
            return f"{value / scale:.6g} {prefix}{unit}"
    return f"{value:.6g} {unit}"


def capacities(state: ClusterState, resource: str) -> npt.NDArray[np.float64]:
    """Return ``(B,)`` capacity of each broker in a resource; NaN where unknown."""
    brokers = state.brokers
    disk = brokers.disk_bytes.astype(np.float64)
    columns = {
        "disk": np.where(np.equal(brokers.disk_bytes, UNKNOWN), np.nan, disk),
        "in": brokers.in_bytes_per_s,
        "out": brokers.out_bytes_per_s,
        "cpu": brokers.cpu_cores,
    }
    return columns[resource]


def max_replicas(case: Case) -> Iterator[Finding]:
    """Yield the live brokers above their replica limit."""
    brokers, num_brokers = case.state.brokers, case.state.num_brokers
    before = np.bincount(case.before.broker_idx, minlength=num_brokers)
    after = np.bincount(case.after.broker_idx, minlength=num_brokers)
    is_over = np.not_equal(brokers.max_replicas, UNKNOWN) & brokers.is_live
    is_over &= after > brokers.max_replicas
    for row in np.flatnonzero(is_over).tolist():
        broker = case.broker_id(row)
        yield Finding(
            rule="max-replicas",
            where=Where(broker=broker, resource="replicas"),
            message=f"broker {broker}: {after[row]} replicas are over its most, "
            f"{brokers.max_replicas[row]} (before: {before[row]})",
            existing=bool(after[row] <= before[row]),
        )
