"""Score of one cluster in its current state."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.core.model.problem import Movability
from placement.draft.draft import Draft, Note, Settings, start_draft
from placement.draft.evacuated_load import evacuated_load
from placement.model.cluster import ClusterState, LogDirState
from placement.model.disk_bytes import full_log_dirs
from placement.model.load import (
    RESOURCES,
    Resource,
    broker_loads,
    heaviest_replicas,
    preferred_leaders,
)
from placement.model.targets import COUNTS, Members, Targets, find_targets, share_out
from placement.operations.rebalance import Rebalance
from placement.rules.fetch_sources import NeedSource
from placement.rules.frozen_partitions import (
    LeaveUnsettled,
    SayUnknownRacks,
    UsableLogDirs,
)
from placement.score.hot_spots import HotSpot, find_hot_spots
from placement.score.incomplete_tables import incomplete_notes, is_complete
from placement.score.least_bytes import drifting_bands, least_bytes
from placement.score.level_loads import (
    Level,
    RackLevel,
    TopicLevel,
    log_dir_level,
    rack_level,
    topic_level,
)
from placement.score.lone_brokers import lone_broker_notes
from placement.score.placement_score import Measured, Score, measure, score_of

_MOST_NAMED = 10
"""Maximum number of brokers named in one note; the others are counted."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClusterScore:
    """
    Score of a cluster on every level.

    Parameters
    ----------
    measured
        Loads, targets and violations that the figures are computed from.
    placed
        Figures of the brokers and of the whole cluster.
    racks, log_dirs, topics
        Figures of racks, log dirs and topics.
    hot_spots
        Worst hot spots, with their causes.
    num_hot_spots
        Number of hot spots in all.
    min_bytes_to_balance
        Lower bound, in bytes, on the moves of any plan that brings every broker into
        its bands.
    notes
        Notes on the input and the bands.
    is_complete
        Whether there are partitions, every topic has one, and no partition number is
        missing. Otherwise the snapshot may be loaded in part.
    """

    measured: Measured
    placed: Score
    racks: RackLevel
    log_dirs: Level
    topics: TopicLevel
    hot_spots: tuple[HotSpot, ...]
    num_hot_spots: int
    min_bytes_to_balance: int
    notes: tuple[Note, ...]
    is_complete: bool = True

    @property
    def state(self) -> ClusterState:
        """Scored cluster."""
        return self.measured.state

    @property
    def full_log_dirs(self) -> BoolArray:
        """``(D,)`` true over the disk threshold, on brokers that are not over it."""
        of = self.state.log_dirs.broker_idx
        is_over = self.measured.is_over[:, RESOURCES.index(Resource.DISK)]
        return full_log_dirs(self.state, self._dir_thresholds) & ~is_over[of]

    @property
    def log_dirs_over_threshold(self) -> BoolArray:
        """``(D,)`` true for serving log dirs with a use over the disk threshold."""
        dirs, disk = self.state.log_dirs, RESOURCES.index(Resource.DISK)
        serves = (dirs.size_bytes > 0) & np.not_equal(dirs.state, LogDirState.OFFLINE)
        over: BoolArray = serves & (
            self.log_dirs.use[:, disk] > self._dir_thresholds * (1 + 1e-9)
        )
        return over

    @property
    def _dir_thresholds(self) -> RateArray:
        """``(D,)`` disk threshold of the broker of each log dir; NaN: no size known."""
        size = self.state.brokers.disk_bytes
        limit = self.measured.limit[:, RESOURCES.index(Resource.DISK)]
        thresholds: RateArray = limit / np.where(size > 0, size, np.nan)
        return thresholds[self.state.log_dirs.broker_idx]


def score_cluster(
    state: ClusterState, settings: Settings | None = None
) -> ClusterScore:
    """
    Score a cluster with its current leaders and all live brokers.

    Parameters
    ----------
    state
        Cluster to score.
    settings
        Bands, capacity thresholds, and the resources that count for
        `min_bytes_to_balance`; the defaults where `None`.

    Examples
    --------
    >>> from placement.score import score_cluster
    >>> from planner.demo import SNAPSHOT_FILE
    >>> from planner.snapshot import read_snapshot
    >>> score = score_cluster(read_snapshot(SNAPSHOT_FILE).to_state())
    >>> score.placed.violations["rack"]
    0
    """
    settings = settings or Settings()
    draft = start_draft(state, settings)
    SayUnknownRacks().fill(draft)
    balanced = draft.balanced_resources()
    notes = tuple(draft.notes)
    members = Members(holds=state.brokers.is_live, leads=state.brokers.may_lead)
    bands = {resource: settings.band(resource) for resource in RESOURCES}
    shares = share_out(state, draft.weights, members, bands)
    leader_idx = state.partitions.leader_idx
    thresholds = settings.capacity_thresholds
    measured = measure(state, draft.weights, shares, leader_idx, thresholds)
    spots, num_spots = find_hot_spots(measured)
    Rebalance().fill(draft)
    for rule in (NeedSource(), LeaveUnsettled(), UsableLogDirs()):
        rule.fill(draft)
    return ClusterScore(
        measured=measured,
        placed=score_of(measured),
        racks=rack_level(measured),
        log_dirs=log_dir_level(measured),
        topics=topic_level(measured),
        hot_spots=spots,
        num_hot_spots=num_spots,
        min_bytes_to_balance=least_bytes(
            draft, drifting_bands(draft, _plan_targets(draft, measured)), balanced
        ),
        notes=(
            *notes,
            *incomplete_notes(state),
            *lone_broker_notes(state),
            *_band_notes(measured, set(balanced)),
        ),
        is_complete=is_complete(state),
    )


def _plan_targets(draft: Draft, measured: Measured) -> Targets:
    """
    Return the bands of a plan, in which the first live replica leads.

    Load that must leave dead brokers is shared among the other brokers.
    """
    state, weights = draft.state, draft.weights
    leader = preferred_leaders(state)
    must = np.equal(draft.movability, Movability.MUST)
    if np.array_equal(leader, measured.leader_idx) and not must.any():
        return measured.targets
    load = broker_loads(state, weights, leader)
    heaviest = heaviest_replicas(state, weights, leader)
    incoming = evacuated_load(draft, leader)
    return find_targets(measured.shares, load, heaviest, incoming)


def _band_notes(measured: Measured, balanced: set[str]) -> Iterator[Note]:
    """Yield notes on bands widened for a replica heavier than its broker's share."""
    targets, ids = measured.targets, measured.state.brokers.ids
    for r, resource in enumerate(RESOURCES):
        if resource in COUNTS or resource not in balanced:
            continue
        is_heavy = targets.heaviest[:, r] > targets.target[:, r]
        wide = (is_heavy & (targets.target[:, r] > 0)) | targets.is_aside[:, r]
        brokers = ids[wide].tolist()
        if brokers:
            shown = ", ".join(map(str, brokers[:_MOST_NAMED]))
            rest = len(brokers) - _MOST_NAMED
            more = f" and {rest} more" if rest > 0 else ""
            yield Note(
                what="band-widened",
                message=f"broker {shown}{more}: holds a replica heavier than its share "
                f"of {resource}; the band was widened to fit",
                where={"resource": str(resource)},
                have=float(len(brokers)),
            )
