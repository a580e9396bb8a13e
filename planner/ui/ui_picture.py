"""Loads of a cluster by rack, broker and log dir, as the page draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from placement.model.cluster import LogDirState
from placement.model.load import RESOURCES, Resource
from placement.scenarios.scenario_figures import Figures
from placement.score.known_loads import known_dir_loads
from placement.score.level_loads import log_dir_level
from planner.plan.documents.placement_score import score_document
from planner.text.document_numbers import rounded

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDirLoad:
    """
    Disk use of one log dir.

    Parameters
    ----------
    broker
        Id of its broker.
    path
        Path of the log dir.
    is_online
        Whether it serves replicas.
    use
        Used fraction of its size; `None` where unknown.
    """

    broker: int
    path: str
    is_online: bool
    use: float | None

    @property
    def name(self) -> str:
        """Log dir as ``ID:PATH``."""
        return f"{self.broker}:{self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLoads:
    """
    Loads of a cluster.

    Parameters
    ----------
    brokers
        Row of each broker, as `by_broker` of a score has them.
    live
        Ids of the brokers that are up.
    log_dirs
        Disk use of each log dir.
    """

    brokers: Sequence[Row]
    live: frozenset[int]
    log_dirs: Sequence[LogDirLoad]


def loads_of(figures: Figures) -> ClusterLoads:
    """Return the loads of the cluster of some figures."""
    state = figures.state
    is_live = state.brokers.is_live
    return ClusterLoads(
        brokers=score_document(state, figures.score)["by_broker"],
        live=frozenset(state.brokers.ids[is_live].tolist()),
        log_dirs=_log_dirs(figures),
    )


def _log_dirs(figures: Figures) -> list[LogDirLoad]:
    state, disk = figures.state, RESOURCES.index(Resource.DISK)
    level = log_dir_level(figures.measured)
    use = known_dir_loads(state, figures.score, level)["use"][:, disk]
    dirs = state.log_dirs
    is_live = state.brokers.is_live[dirs.broker_idx]
    rows = zip(
        state.brokers.ids[dirs.broker_idx].tolist(),
        dirs.paths,
        (is_live & (dirs.state != LogDirState.OFFLINE)).tolist(),
        use.tolist(),
        strict=True,
    )
    return [
        LogDirLoad(
            broker=broker,
            path=path,
            is_online=is_online,
            use=None if isnan(part) else rounded(part),
        )
        for broker, path, is_online, part in rows
    ]
