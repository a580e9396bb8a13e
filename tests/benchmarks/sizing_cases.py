"""Failures, sweeps of what-if and sizing, on synthetic clusters of size L and M."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from placement.failures.failure_outlook import outlook
from placement.failures.pair_failures import pair_failures
from placement.model.cluster import UNKNOWN, ClusterState, LogDirs
from placement.synthetic import SIZES, Size, make_instance
from planner.failures.all_failures import PAIRED, compute_all_failures
from planner.failures.failure_request import FailuresRequest, read_failures_request
from planner.sizing.size_cluster import SizeRequest, size
from planner.snapshot import Snapshot
from planner.what_if.play_scenarios import WhatIfRequest, read_options, what_if
from planner.what_if.scenarios_file import validate_scenarios

MEDIUM = SIZES["M"].replicas
LARGE = SIZES["L"].replicas
LOG_DIRS = 4
STEPS = {"from": 1.0, "to": 3.0, "step": 0.25}


def snapshot_of(folder: Path, num_replicas: int) -> Snapshot:
    """Return a skewed cluster; a small one where fewer replicas are asked for."""
    named = {MEDIUM: "M", LARGE: "L"}.get(num_replicas)
    chosen = SIZES[named] if named else Size(12, 3, min(num_replicas, 600), 16)
    return Snapshot.from_state(make_instance("c", chosen, 1).state)


def prepare_sweep(folder: Path, num_replicas: int) -> Any:
    """Return 99 scenarios of size M, nine of size L, or four of a small one."""
    snapshot = snapshot_of(folder, num_replicas)
    axes = {
        MEDIUM: {"traffic": STEPS, "brokers": "95-105"},
        LARGE: {"traffic": [1.0, 1.1, 2.0], "brokers": [950, 1000, 1050]},
    }
    few = {"traffic": [1.0, 3.0], "brokers": "12-13"}
    sweep = {"name": "far", **axes.get(num_replicas, few)}
    state = snapshot.to_state()
    file = validate_scenarios({"sweeps": [sweep]}, snapshot, state)
    return snapshot, file, read_options(WhatIfRequest(effort="quick"), state)


def run_sweep(given: Any) -> object:
    snapshot, file, settings = given
    jobs = len(os.sched_getaffinity(0))
    return what_if(snapshot, file, settings, jobs=jobs)


def run_sweep_alone(given: Any) -> object:
    """Play the same on one process."""
    snapshot, file, settings = given
    return what_if(snapshot, file, settings, jobs=1)


def prepare_failures(folder: Path, num_replicas: int) -> Any:
    """Return the cluster of size L, four log dirs a broker; or a small one."""
    is_large = num_replicas >= LARGE
    chosen = SIZES["L"] if is_large else Size(12, 3, min(num_replicas, 600), 16)
    state = with_log_dirs(make_instance("c", chosen, 1).state, LOG_DIRS)
    snapshot = Snapshot.from_state(state)
    settings = read_failures_request(FailuresRequest(), snapshot, state)
    return snapshot, state, settings


def with_log_dirs(state: ClusterState, count: int) -> ClusterState:
    """Return a cluster with so many log dirs a broker, replicas dealt out in turn."""
    brokers = state.num_brokers
    owner = np.repeat(np.arange(brokers, dtype=np.int32), count)
    size = np.repeat(np.maximum(state.brokers.disk_bytes, 0) // count, count)
    dirs = LogDirs(
        broker_idx=owner,
        paths=tuple(f"/data/d{n}" for _ in range(brokers) for n in range(count)),
        size_bytes=size,
        usable_bytes=np.full(len(owner), UNKNOWN, dtype=np.int64),
        state=np.zeros(len(owner), dtype=np.int8),
    )
    replicas = state.replicas
    at = np.arange(len(replicas)) % count
    rows = (replicas.broker_idx * count + at).astype(np.int32)
    disks = size.reshape(brokers, count).sum(axis=1)
    changed = replace(
        state, log_dirs=dirs, replicas=replace(replicas, log_dir_idx=rows)
    )
    return changed.with_brokers(disk_bytes=disks)


def run_singles(given: Any) -> object:
    return compute_all_failures(*given, has_pairs=False)


def run_pairs(given: Any) -> object:
    _, state, settings = given
    weighed = outlook(state, thresholds=settings.thresholds)
    return [pair_failures(weighed, kind) for kind in PAIRED]


def run_size(snapshot: Snapshot) -> object:
    found = size(snapshot, SizeRequest())
    assert found.sizing.shown is not None
    assert found.is_checked
    return found
