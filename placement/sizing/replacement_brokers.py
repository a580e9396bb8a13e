"""Replacement of all brokers by a mix of new ones."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from placement.array_types import RateArray
from placement.cluster_changes.broker_changes import next_ids
from placement.cluster_changes.hardware_rows import (
    BrokerRow,
    broker_rows,
    dir_rows,
    rebuilt,
)
from placement.cluster_changes.variant import Variant
from placement.model.cluster import UNKNOWN, BrokerState
from placement.sizing.broker_kinds import BrokerKind, Mix


def replaced(
    variant: Variant, kinds: Sequence[BrokerKind], mix: Mix, racks: Sequence[str]
) -> Variant:
    """Return the cluster with the new brokers of a mix, and all old ones leaving."""
    state = variant.state
    total = int(mix.counts.sum())
    ids = iter(next_ids(state, total))
    added = [
        _row_of(kinds[t], next(ids), racks[k] if racks else None)
        for k in range(mix.counts.shape[1])
        for t in range(len(kinds))
        for _ in range(int(mix.counts[t, k]))
    ]
    old = frozenset(int(b) for b in state.brokers.ids[state.brokers.is_live])
    grown = rebuilt(state, [*broker_rows(state), *added], dir_rows(state))
    return replace(variant, state=grown, leaving=old)


def _row_of(kind: BrokerKind, broker_id: int, rack: str | None) -> BrokerRow:
    disk, inbound, outbound, cpu = _known(kind.capacity)
    most = kind.max_replicas
    return BrokerRow(
        broker_id=broker_id,
        rack=rack,
        host=None,
        broker_set=None,
        state=BrokerState.NEW,
        disk_bytes=UNKNOWN if np.isnan(disk) else int(disk),
        in_bytes_per_s=inbound,
        out_bytes_per_s=outbound,
        cpu_cores=cpu,
        max_replicas=int(most) if np.isfinite(most) else UNKNOWN,
    )


def _known(capacity: RateArray) -> list[float]:
    return [float(each) for each in np.where(np.isfinite(capacity), capacity, np.nan)]
