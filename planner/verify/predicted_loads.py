"""Loads of brokers: predicted by a plan, and measured now."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from placement.check.case.broker_loads import broker_loads
from placement.check.case.placed_replicas import placed_before
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState
from planner.text.format import bytes_text

LEAST_KNOWN_FRACTION = 0.95
"""Least fraction of partitions with a known load for a resource to be compared."""

UNITS = {"disk": " bytes", "in": " bytes/s", "out": " bytes/s", "cpu": " cores"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadComparison:
    """
    Predicted and measured load of one resource: the sums, and the worst broker.

    Parameters
    ----------
    resource
        Name of the resource.
    predicted, measured
        Loads summed over the brokers in the plan's prediction.
    broker
        Id of the broker whose load differs most from the prediction.
    broker_predicted, broker_measured
        Loads of this broker.
    """

    resource: str
    predicted: float
    measured: float
    broker: int
    broker_predicted: float
    broker_measured: float

    def __str__(self) -> str:
        amounts = (
            *(self.measured, self.predicted),
            *(self.broker_measured, self.broker_predicted),
        )
        measured, predicted, here, there = map(self._text, amounts)
        if (measured, here) == (predicted, there):
            return f"{self.resource}: {measured}, as predicted on every broker"
        return (
            f"{self.resource}: {measured} measured, {predicted} predicted; furthest "
            f"off: broker {self.broker}, {here} against {there}"
        )

    def _text(self, amount: float) -> str:
        unit = UNITS.get(self.resource, "")
        if unit.startswith(" bytes"):
            return bytes_text(amount) + unit.removeprefix(" bytes")
        return f"{amount:,.6g}{unit}"

    def to_dict(self) -> dict[str, object]:
        """Return the comparison in the document of `--format json`."""
        return asdict(self)


def compare_loads(state: ClusterState, after: object) -> list[LoadComparison]:
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
) -> LoadComparison:
    pairs = {
        broker: (load, float(measured[row_of[broker]]))
        for broker, load in sorted(predicted.items())
        if broker in row_of
    }
    furthest = max(pairs, key=lambda broker: abs(pairs[broker][1] - pairs[broker][0]))
    return LoadComparison(
        resource=resource,
        predicted=sum(load for load, _ in pairs.values()),
        measured=sum(load for _, load in pairs.values()),
        broker=furthest,
        broker_predicted=pairs[furthest][0],
        broker_measured=pairs[furthest][1],
    )
