"""The benchmark cases: what is prepared, untimed, and what is timed."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.clusters import write_cluster
from benchmarks.sizing_cases import (
    MEDIUM,
    prepare_failures,
    prepare_sweep,
    run_pairs,
    run_singles,
    run_size,
    run_sweep,
    run_sweep_alone,
    snapshot_of,
)
from placement.draft.draft import Settings
from placement.model.cluster import ClusterState
from placement.model.load import Resource
from placement.operations.leaders import Leaders
from placement.planning.plan import plan
from placement.score import score_cluster
from placement.synthetic import Size, make_instance
from planner.snapshot import read_snapshot, write_snapshot

Prepare = Callable[[Path, int], Any]
"""From an empty folder and a number of replicas to what `run` gets."""


@dataclass(frozen=True, slots=True)
class Case:
    """
    One thing that is timed.

    Parameters
    ----------
    name
        As it stands in the table.
    num_replicas
        Size of its cluster; 0: it has one of its own.
    prepare
        Untimed; its result is what `run` gets, each time anew.
    run
        Timed.
    """

    name: str
    num_replicas: int
    prepare: Prepare
    run: Callable[[Any], object]


MILLION = 1_000_000


def _parquet(folder: Path, num_replicas: int) -> Path:
    path = folder / "cluster"
    write_cluster(path, num_replicas=num_replicas)
    return path


def _json(folder: Path, num_replicas: int) -> Path:
    path = folder / "cluster.json"
    write_snapshot(read_snapshot(_parquet(folder, num_replicas)), path)
    return path


def _snapshot(folder: Path, num_replicas: int) -> Any:
    return read_snapshot(_parquet(folder, num_replicas))


def _columns(folder: Path, num_replicas: int) -> list[tuple[type, dict[str, Any]]]:
    """Return the class and the columns of each part of a state, validated nowhere."""
    state = _snapshot(folder, num_replicas).to_state()
    parts = [state.brokers, state.log_dirs, state.topics]
    parts += [state.partitions, state.replicas]
    return [
        (type(part), {f.name: getattr(part, f.name) for f in fields(part)})
        for part in parts
    ]


def _state_from_columns(columns: list[tuple[type, dict[str, Any]]]) -> ClusterState:
    brokers, log_dirs, topics, partitions, replicas = (
        part(**values) for part, values in columns
    )
    return ClusterState(
        cluster_id="benchmark",
        brokers=brokers,
        log_dirs=log_dirs,
        topics=topics,
        partitions=partitions,
        replicas=replicas,
    )


def _to_write(suffix: str) -> Prepare:
    def prepare(folder: Path, num_replicas: int) -> tuple[Any, Path]:
        return _snapshot(folder, num_replicas), folder / f"written{suffix}"

    return prepare


def _demo(folder: Path) -> None:
    command = Path(sys.executable).with_name("kafka-planner")
    subprocess.run([command, "demo"], cwd=folder, check=True, capture_output=True)


def _skewed(folder: Path, num_replicas: int) -> ClusterState:
    size = Size(max(6, num_replicas // 1000), 3 + num_replicas // 150_000, num_replicas)
    return make_instance("c", size, 1).state


def _lead(*resources: Resource) -> Callable[[ClusterState], object]:
    def run(state: ClusterState) -> object:
        return plan(state, Leaders(), Settings(resources=resources))

    return run


CASES = (
    Case("leaders, counts", MILLION, _skewed, _lead(Resource.LEADERS)),
    Case(
        "leaders, counts and bytes",
        MILLION,
        _skewed,
        _lead(Resource.LEADERS, Resource.OUT),
    ),
    Case("state from columns", MILLION, _columns, _state_from_columns),
    Case("state from a snapshot", MILLION, _snapshot, lambda s: s.to_state()),
    Case("score", MILLION, _skewed, score_cluster),
    Case(
        "Parquet read to state",
        MILLION,
        _parquet,
        lambda path: read_snapshot(path).to_state(),
    ),
    Case(
        "Parquet written",
        MILLION,
        _to_write(""),
        lambda given: write_snapshot(*given),
    ),
    Case(
        "JSON read to state",
        MILLION,
        _json,
        lambda path: read_snapshot(path).to_state(),
    ),
    Case(
        "JSON written",
        MILLION,
        _to_write(".json"),
        lambda given: write_snapshot(*given),
    ),
    Case("every single failure", MILLION, prepare_failures, run_singles),
    Case("every pair of failures", MILLION, prepare_failures, run_pairs),
    Case("what-if, 99 scenarios", MEDIUM, prepare_sweep, run_sweep),
    Case("what-if, 99 scenarios, one process", MEDIUM, prepare_sweep, run_sweep_alone),
    Case("what-if, 9 scenarios", MILLION, prepare_sweep, run_sweep),
    Case("what-if, 9 scenarios, one process", MILLION, prepare_sweep, run_sweep_alone),
    Case("size", MEDIUM, snapshot_of, run_size),
    Case("demo, whole command", 0, lambda folder, _: folder, _demo),
)
