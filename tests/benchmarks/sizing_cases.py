"""Sweeps of what-if and sizing, on the synthetic cluster of size M or smaller."""

import os
from pathlib import Path
from typing import Any

from placement.synthetic import SIZES, Size, make_instance
from planner.sizing.make import SizeRequest, size
from planner.snapshot import Snapshot
from planner.what_if.make import WhatIfRequest, read_wishes, what_if
from planner.what_if.read import understand

MEDIUM = SIZES["M"].replicas
STEPS = {"from": 1.0, "to": 3.0, "step": 0.25}


def snapshot_of(folder: Path, num_replicas: int) -> Snapshot:
    """Return a skewed cluster; a small one where fewer replicas are asked for."""
    is_medium = num_replicas >= MEDIUM
    chosen = SIZES["M"] if is_medium else Size(12, 3, min(num_replicas, 600), 16)
    return Snapshot.from_state(make_instance("c", chosen, 1).state)


def prepare_sweep(folder: Path, num_replicas: int) -> Any:
    """Return 99 scenarios of size M, or four of a small one."""
    snapshot = snapshot_of(folder, num_replicas)
    is_medium = num_replicas >= MEDIUM
    sweep = (
        {"name": "far", "traffic": STEPS, "brokers": "95-105"}
        if is_medium
        else {"name": "far", "traffic": [1.0, 3.0], "brokers": "12-13"}
    )
    state = snapshot.to_state()
    file = understand({"sweeps": [sweep]}, snapshot, state)
    return snapshot, file, read_wishes(WhatIfRequest(effort="quick"), state)


def run_sweep(given: Any) -> object:
    snapshot, file, wishes = given
    jobs = len(os.sched_getaffinity(0))
    return what_if(snapshot, file, wishes, jobs=jobs)


def run_size(snapshot: Snapshot) -> object:
    found = size(snapshot, SizeRequest())
    assert found.sizing.shown is not None
    assert found.is_checked
    return found
