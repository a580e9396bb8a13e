"""Loads of brokers: predicted by a plan, and measured now."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from placement.check.case.broker_loads import broker_loads
from placement.check.case.placed_replicas import placed_before
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState
from planner.plan.documents.check_records import LoadRecord
from planner.text.format import bytes_text

LEAST_KNOWN_FRACTION = 0.95
"""Least fraction of partitions with a known load for a resource to be compared."""

UNITS = {"disk": " bytes", "in": " bytes/s", "out": " bytes/s", "cpu": " cores"}


def load_text(load: LoadRecord) -> str:
    """Return the comparison of one resource as a sentence."""
    amounts = (
        *(load.measured, load.predicted),
        *(load.broker_measured, load.broker_predicted),
    )
    measured, predicted, here, there = (
        _amount_text(load.resource, amount) for amount in amounts
    )
    if (measured, here) == (predicted, there):
        return f"{load.resource}: {measured}, as predicted on every broker"
    return (
        f"{load.resource}: {measured} measured, {predicted} predicted; furthest "
        f"off: broker {load.broker}, {here} against {there}"
    )


def _amount_text(resource: str, amount: float) -> str:
    unit = UNITS.get(resource, "")
    if unit.startswith(" bytes"):
        return bytes_text(amount) + unit.removeprefix(" bytes")
    return f"{amount:,.6g}{unit}"


def compare_loads(state: ClusterState, after: object) -> list[LoadRecord]:
    """
    Compare the loads that a plan predicted with those of the cluster now.

    Parameters
    ----------
    state
        The cluster now; its current leaders count.
    after
        Field `after` of plan.json: a score, whose `by_broker` is read. Any other value,
        or a resource unknown on either side, gives no comparison.
    """
    predicted = _predicted(after)
    measured = _measured(state) if predicted else {}
    row_of = {broker: row for row, broker in enumerate(state.brokers.ids.tolist())}
    return [
        _compare(resource, predicted[resource], measured[resource], row_of)
        for resource in measured
        if row_of.keys() & predicted.get(resource, {}).keys()
    ]


def _predicted(after: object) -> dict[str, dict[int, float]]:
    by_resource: dict[str, dict[int, float]] = {}
    for broker, row in _rows(after):
        for resource, figures in row.items():
            load = figures.get("load") if isinstance(figures, dict) else None
            if isinstance(load, int | float):
                by_resource.setdefault(resource, {})[broker] = float(load)
    return by_resource


def _rows(after: object) -> Iterator[tuple[int, dict[str, object]]]:
    rows = after.get("by_broker") if isinstance(after, Mapping) else None
    for row in rows if isinstance(rows, list) else ():
        broker = row.get("broker") if isinstance(row, dict) else None
        if isinstance(broker, int):
            yield broker, row


def _measured(state: ClusterState) -> dict[str, npt.NDArray[np.float64]]:
    now = placed_before(state)
    leader = state.partitions.leader_idx[now.partition_idx]
    is_leader = np.equal(leader, now.broker_idx) & np.not_equal(leader, ABSENT)
    loads = broker_loads(state, replace(now, is_leader=is_leader))
    partitions = state.partitions
    known = {
        "disk": np.not_equal(partitions.size_bytes, UNKNOWN),
        "in": ~np.isnan(partitions.in_bytes_per_s),
        "out": ~np.isnan(partitions.out_bytes_per_s),
        "cpu": ~np.isnan(partitions.leader_cpu_cores),
    }
    always = np.ones(state.num_partitions, dtype=np.bool_)
    return {
        resource: load
        for resource, load in loads.items()
        if known.get(resource, always).sum() >= LEAST_KNOWN_FRACTION * len(always)
    }


def _compare(
    resource: str,
    predicted: dict[int, float],
    measured: npt.NDArray[np.float64],
    row_of: dict[int, int],
) -> LoadRecord:
    pairs = {
        broker: (load, float(measured[row_of[broker]]))
        for broker, load in sorted(predicted.items())
        if broker in row_of
    }
    furthest = max(pairs, key=lambda broker: abs(pairs[broker][1] - pairs[broker][0]))
    return LoadRecord(
        resource=resource,
        predicted=sum(load for load, _ in pairs.values()),
        measured=sum(load for _, load in pairs.values()),
        broker=furthest,
        broker_predicted=pairs[furthest][0],
        broker_measured=pairs[furthest][1],
    )
