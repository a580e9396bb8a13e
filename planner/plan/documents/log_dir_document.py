"""Log dirs in plan.json: loads before and after, and moves within brokers."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from placement.core.model.solution import Shortfall
from placement.log_dirs.planned_dirs import PlannedDirs
from placement.model.cluster import UNKNOWN, ClusterState, LogDirState
from placement.planning.outcome.result import PlannedPlacement
from planner.io.problems import refusal
from planner.text.document_numbers import rounded
from planner.text.format import bytes_text

COLUMNS = ("topic", "partition", "broker", "from", "to", "bytes")
TABLE_NAME = "log-dirs.csv"


def counted(placed: PlannedPlacement) -> dict[str, int]:
    """Return the number of moves between log dirs of a broker, and their bytes."""
    moved = placed.reassignment.is_moved_inside
    return {
        "log_dirs": int(moved.sum()),
        "log_dir_bytes": int(_sizes(placed)[moved].sum()),
    }


def _sizes(placed: PlannedPlacement) -> Any:  # noqa: ANN401 - (R,) int64
    """Return ``(R,)`` bytes of each replica of the lists, in its present log dir."""
    weights = placed.weights_before
    size = weights.copy_bytes[placed.reassignment.partition_idx]
    return size + weights.own[placed.reassignment.origin] if len(weights.own) else size


def dirs_document(state: ClusterState, dirs: PlannedDirs) -> list[dict[str, Any]]:
    """Return a row per log dir: bytes before and after, target and deviations."""
    log_dirs = state.log_dirs
    before = dirs.targets_before.deviation(_table(dirs.before))[:, 0]
    after = dirs.targets.deviation(_table(dirs.after))[:, 0]
    return [
        {
            "broker": int(state.brokers.ids[log_dirs.broker_idx[d]]),
            "log_dir": log_dirs.paths[d],
            "state": LogDirState(int(log_dirs.state[d])).name.lower(),
            "size_bytes": None
            if log_dirs.size_bytes[d] == UNKNOWN
            else int(log_dirs.size_bytes[d]),
            "before": int(dirs.before[d]),
            "after": int(dirs.after[d]),
            "target": rounded(float(dirs.targets.target[d, 0])),
            "deviation_before": rounded(float(before[d])),
            "deviation_after": rounded(float(after[d])),
        }
        for d in range(len(log_dirs))
    ]


def _table(column: Any) -> Any:  # noqa: ANN401 - (D,) to (D, 1)
    return column[:, None]


def moves_inside(placed: PlannedPlacement) -> str:
    """Return a row per replica that changes its log dir within a broker, as CSV."""
    state, reassignment = placed.reassignment.before, placed.reassignment
    paths, sizes = state.log_dirs.paths, _sizes(placed)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    of = reassignment.partition_idx
    for row in np.nonzero(reassignment.is_moved_inside)[0].tolist():
        was = state.replicas.log_dir_idx[reassignment.origin[row]]
        goes = reassignment.log_dir_idx
        assert goes is not None  # noqa: S101 - else nothing moves inside a broker
        writer.writerow(
            [
                *state.key_of(int(of[row])),
                int(state.brokers.ids[reassignment.broker_idx[row]]),
                paths[was],
                paths[goes[row]],
                int(sizes[row]),
            ]
        )
    return text.getvalue()


def read_moves_inside(folder: Path) -> tuple[int, int]:
    """
    Return the number of moves between log dirs in a plan folder, and their bytes.

    Raises
    ------
    BadInputError
        If the table of these moves cannot be read.
    """
    path = folder / TABLE_NAME
    if not path.exists():
        return 0, 0
    try:
        with path.open(encoding="utf-8", newline="") as file:
            sizes = [int(row["bytes"]) for row in csv.DictReader(file)]
    except (OSError, ValueError, KeyError, csv.Error) as error:
        rule = f"the table must be as it was written: {error}"
        msg = f"{path} cannot be read"
        raise refusal(msg, str(path), rule, "make the plan again") from error
    return len(sizes), sum(sizes)


def log_dir_place(state: ClusterState, shortfall: Shortfall) -> dict[str, Any]:
    """Return the place of a shortfall within a broker, whose rows are log dirs."""
    where: dict[str, Any] = {"broker": int(state.brokers.ids[shortfall.node])}
    if shortfall.item >= 0:
        where |= state.place_of(state.replicas.partition_idx[shortfall.item])
    if shortfall.bin >= 0:
        where["log_dir"] = state.log_dirs.paths[shortfall.bin]
    return where


def log_dir_text(state: ClusterState, shortfall: Shortfall) -> str:
    """Return a shortfall within a broker as one sentence."""
    where = log_dir_place(state, shortfall)
    broker, path = where["broker"], where.get("log_dir")
    have, need = bytes_text(shortfall.have, 4), bytes_text(shortfall.need, 4)
    whose = f"log dir {path} of broker {broker}"
    if shortfall.item < 0:
        if path is None:
            whose = f"all log dirs of broker {broker} together"
        return f"{whose} must carry {need} and may carry {have}"
    name = state.name_of(int(state.replicas.partition_idx[shortfall.item]))
    if shortfall.what == "room":
        return f"{name} takes {need}; no log dir of broker {broker} has room for it"
    if path is not None:
        return f"{name} is left alone in {whose}"
    return f"{name} finds no other log dir on broker {broker}"
