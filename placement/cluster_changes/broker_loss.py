"""Loss of brokers, racks and log dirs, with the controller's elections."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from placement.array_types import IndexArray
from placement.cluster_changes.log_dir_changes import Place, shrink_lost_disks
from placement.cluster_changes.variant import Variant
from placement.failures.controller_decision import ElectionRules
from placement.failures.controller_events import Loss, lose
from placement.model.cluster import BrokerState, ClusterState


def lose_parts(
    variant: Variant,
    *,
    broker_ids: Sequence[int] = (),
    racks: Collection[str] = (),
    log_dirs: Sequence[Place] = (),
    rules: ElectionRules | None = None,
) -> Variant:
    """
    Lose brokers, racks and log dirs for good: leaders change, nothing is copied yet.

    Parameters
    ----------
    variant
        Cluster to change.
    broker_ids, racks, log_dirs
        Lost broker ids, rack names, and log dirs as broker id and path.
    rules
        Rules of elections; `None`: in-sync replicas alone.
    """
    state = variant.state
    lost_ids = {*broker_ids, *_ids_in(state, racks)}
    rows = state.brokers.rows_of(sorted(lost_ids))
    dirs = _rows_of_dirs(state, log_dirs)
    loss = Loss(broker_idx=rows, log_dir_idx=dirs).with_stopped(state)
    lost_ids |= set(state.brokers.ids[loss.broker_idx].tolist())
    after = lose(state, loss, rules)
    codes = after.brokers.state.copy()
    codes[loss.broker_idx] = BrokerState.DEAD
    return replace(
        variant,
        state=shrink_lost_disks(after.with_brokers(state=codes)),
        leaving=variant.leaving - lost_ids,
        lost_brokers=variant.lost_brokers | lost_ids,
        lost_racks=variant.lost_racks | frozenset(racks),
        has_lost=True,
    )


def _ids_in(state: ClusterState, racks: Collection[str]) -> list[int]:
    named = [state.brokers.racks[k] in racks for k in state.brokers.rack_idx.tolist()]
    return [int(b) for b in state.brokers.ids[np.array(named, dtype=np.bool_)]]


def _rows_of_dirs(state: ClusterState, places: Sequence[Place]) -> IndexArray:
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    row_of = {
        pair: d for d, pair in enumerate(zip(owners, state.log_dirs.paths, strict=True))
    }
    return np.array([row_of[place] for place in places], dtype=np.int32)
