"""Rule violations of each partition."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, CountArray
from placement.model.cluster import ABSENT, ClusterState, sum_rows
from placement.model.rack_violations import rack_broken

VIOLATIONS = (
    "rack",
    "offline_replicas",
    "offline_partitions",
    "under_replicated",
    "under_min_isr",
    "at_min_isr",
    "leader_not_preferred",
    "over_capacity",
    "rf1",
    "rf_equals_min_isr",
)
"""Rules of a score, per partition except `offline_replicas`, `over_capacity`."""


def partition_violations(
    state: ClusterState, holds: BoolArray, leader_idx: npt.NDArray[np.int32]
) -> Mapping[str, CountArray]:
    """
    Count the rule violations of each partition.

    Parameters
    ----------
    state
        Cluster with the placement.
    holds
        ``(B,)`` true for brokers that count for the rack rule.
    leader_idx
        ``(P,)`` row of the leader's broker, or `ABSENT`.

    Returns
    -------
    ``(P,)`` by rule: 1 where the rule is broken; `offline_replicas` counts replicas.
    Includes all of `VIOLATIONS` but `over_capacity`, which counts brokers.
    """
    replicas, start = state.replicas, state.replicas.start
    factor = state.replication_factor
    in_sync = sum_rows(replicas.is_in_sync, start)
    min_isr = state.min_isr
    first = replicas.broker_idx_at(start[:-1])
    is_led = np.not_equal(leader_idx, ABSENT)
    broken = {
        "rack": rack_broken(state, holds),
        "offline_replicas": sum_rows(state.is_offline, start),
        "offline_partitions": ~is_led,
        "under_replicated": in_sync < factor,
        "under_min_isr": in_sync < min_isr,
        "at_min_isr": in_sync == min_isr,
        "leader_not_preferred": is_led & (leader_idx != first),
        "rf1": factor == 1,
        "rf_equals_min_isr": factor == min_isr,
    }
    return {name: counts.astype(np.int64) for name, counts in broken.items()}
