"""One failure in stages: the loss, the return, and the elections after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, get_args

import numpy as np

from placement.failures.automatic_election import AutomaticElection, next_election
from placement.failures.controller_decision import Election, is_usable
from placement.failures.controller_events import Loss, bring_back, elect, lose
from placement.failures.controller_majority import keeps_majority
from placement.failures.failover import ON_RETURN
from placement.failures.failure_outlook import Outlook, outlook
from placement.failures.partition_health import (
    Health,
    UncleanLosses,
    health_of,
    unclean_losses,
)
from placement.failures.rebuilt_use import is_rebuilt, levels_after
from placement.failures.survivor_loads import HELD_COLUMNS
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState
from placement.model.load import Resource
from planner.failures.all_failures import HELD, knows, notes_of
from planner.failures.carried_loads import count_over
from planner.failures.failure_records import (
    FullestRecord,
    PartitionRecord,
    PartitionState,
    RebuildRecord,
    UncleanRecord,
)
from planner.failures.failure_request import FailuresOptions
from planner.failures.replicas_needed import factor_notes
from planner.snapshot.snapshot_document import Snapshot
from planner.status.controller_quorum import voters_of
from planner.text.document_numbers import rounded
from planner.text.format import ids_text

STATES: tuple[PartitionState, ...] = get_args(PartitionState)
"""States of a partition with a lost replica, the worst first."""
MOST_PARTITIONS = 1000
"""Largest number of partitions in the document, the worst first; all are counted."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scenario:
    """
    A failure in stages.

    Parameters
    ----------
    snapshot, options, given
        The cluster, the parsed options, and the loads, capacities and thresholds.
    stages
        The cluster at the stages ``now``, ``lost``, ``returned`` and ``elected``, in
        this order.
    unclean
        Leaders and lost bytes of unclean elections during the loss.
    automatic
        Changes by Kafka's next automatic preferred election after the return.
    keeps_majority
        Whether the controllers keep their majority; `None` where unknown.
    is_crash
        Whether the brokers are killed instead of shut down cleanly.
    """

    snapshot: Snapshot
    options: FailuresOptions
    given: Outlook
    stages: Mapping[str, ClusterState]
    unclean: UncleanLosses
    automatic: AutomaticElection
    keeps_majority: bool | None
    is_crash: bool

    @property
    def now(self) -> ClusterState:
        """The cluster before the loss."""
        return self.stages["now"]

    @property
    def lost(self) -> ClusterState:
        """The cluster during the loss."""
        return self.stages["lost"]

    @property
    def caused(self) -> dict[str, int]:
        """Number of partitions that the loss puts into each state."""
        before, after = health_of(self.now), health_of(self.lost)
        return {
            name: int((_mask(after, name) & ~_mask(before, name)).sum())
            for name in before.counts()
        }

    @property
    def num_over(self) -> int:
        """Number of survivors that the loss pushes over a threshold."""
        return count_over(self.given, self.lost, range(ON_RETURN))

    @property
    def is_survived(self) -> bool:
        """Whether partitions stay writable, thresholds hold and a quorum remains."""
        hurt = self.caused["offline"] + self.caused["under_min_isr"] + self.num_over
        return not hurt and self.keeps_majority is not False


def _mask(health: Health, name: str) -> Any:  # noqa: ANN401 - (P,) bool
    return getattr(health, f"is_{name}")


def play(
    snapshot: Snapshot,
    state: ClusterState,
    options: FailuresOptions,
    loss: Loss,
    *,
    is_crash: bool = True,
) -> Scenario:
    """
    Compute a loss, the return of the lost parts, and a preferred election.

    Parameters
    ----------
    snapshot, state, options
        The cluster, its columns, and the parsed options.
    loss
        Lost brokers and log dirs.
    is_crash
        Whether the brokers are killed instead of shut down cleanly.
    """
    rules = options.rules
    lost = lose(state, loss, rules)
    returned = bring_back(lost, state, loss, rules, is_crash=is_crash)
    every = np.arange(state.num_partitions, dtype=np.int64)
    elected = elect(returned, Election.PREFERRED, every, rules)
    is_gone = state.brokers.is_live & ~lost.brokers.is_live
    return Scenario(
        snapshot=snapshot,
        options=options,
        given=outlook(
            state,
            thresholds=options.thresholds,
            bandwidth_bytes_per_s=options.bandwidth_bytes_per_s,
        ),
        stages={"now": state, "lost": lost, "returned": returned, "elected": elected},
        unclean=unclean_losses(lost),
        automatic=next_election(
            returned, rules, version=options.version, percentage=options.percentage
        ),
        keeps_majority=keeps_majority(
            voters_of(snapshot, state),
            brokers=state.brokers.ids[is_gone].tolist(),
            racks=_whole_racks(state, lost),
        ),
        is_crash=is_crash,
    )


def _whole_racks(state: ClusterState, lost: ClusterState) -> list[str]:
    """Return the racks without a surviving broker, whose controllers are lost, too."""
    racks = state.brokers.rack_idx
    left = set(racks[lost.brokers.is_live].tolist())
    gone = set(racks[state.brokers.is_live].tolist()) - left
    names = (state.brokers.racks[rack] for rack in sorted(gone))
    return [name for name in names if name is not None]


def moved_leaders(before: ClusterState, after: ClusterState) -> int:
    """Count the partitions that another broker leads in the later state."""
    was, now = before.partitions.leader_idx, after.partitions.leader_idx
    return int(((now != ABSENT) & (was != now)).sum())


def rebuild(scenario: Scenario) -> RebuildRecord:
    """Return the copies that rebuild lost replicas, and their least duration."""
    has_sizes = knows(scenario.given, Resource.DISK)
    state, lost = scenario.now, scenario.lost
    of = state.replicas.partition_idx
    copied = is_rebuilt(state, lost)
    unplaced = is_usable(state) & ~is_usable(lost) & lost.has_source[of] & ~copied
    size = scenario.given.weights.copy_bytes[of[copied]]
    sent = np.zeros(state.num_brokers, dtype=np.int64)
    # Every copy is read from the leader.
    source = lost.partitions.leader_idx[of[copied]]
    np.add.at(sent, source[source != ABSENT], size[source != ABSENT])
    left = int(lost.brokers.is_live.sum())
    received = float(size.sum()) / max(left, 1)
    busiest = int(sent.argmax()) if len(sent) and sent.any() else ABSENT
    seconds = max(float(sent.max(initial=0)), received)
    seconds = rounded(seconds / scenario.options.bandwidth_bytes_per_s)
    return RebuildRecord(
        replicas=int(copied.sum()),
        unplaced_replicas=int(unplaced.sum()),
        bytes=int(size.sum()) if has_sizes else None,
        seconds=seconds if has_sizes else None,
        busiest_sender=_id(state, busiest),
        fullest=_fullest(scenario),
    )


def _fullest(scenario: Scenario) -> FullestRecord:
    """Return lower bounds on the use of the fullest survivor after the rebuild."""
    is_known = scenario.given.scale.is_use & scenario.given.is_known
    levels = levels_after(scenario.given, scenario.lost).tolist()
    return FullestRecord(
        **{
            str(resource): rounded(level) if is_known[r] and isfinite(level) else None
            for resource, r, level in zip(HELD, HELD_COLUMNS, levels, strict=True)
        }
    )


def _losing_replicas(scenario: Scenario) -> Any:  # noqa: ANN401 - (P,) bool
    state = scenario.now
    lost = is_usable(state) & ~is_usable(scenario.lost)
    return np.bincount(
        state.replicas.partition_idx[lost], minlength=state.num_partitions
    ).astype(np.bool_)


def num_losing_replicas(scenario: Scenario) -> int:
    """Count the partitions with a lost replica."""
    return int(_losing_replicas(scenario).sum())


def partitions_of(
    scenario: Scenario, most: int | None = MOST_PARTITIONS
) -> list[PartitionRecord]:
    """Return up to `most` partitions with a lost replica, the worst first."""
    health = health_of(scenario.lost)
    masks = [_mask(health, name) for name in ("offline", "under_min_isr", "at_min_isr")]
    rank = np.where(masks[0], 0, np.where(masks[1], 1, np.where(masks[2], 2, 3)))
    rows = np.nonzero(_losing_replicas(scenario))[0]
    rows = rows[np.argsort(rank[rows], kind="stable")][:most]
    would = dict(
        zip(
            scenario.unclean.partition_idx.tolist(),
            zip(
                scenario.unclean.leader_idx.tolist(),
                scenario.unclean.lost_bytes.tolist(),
                strict=True,
            ),
            strict=True,
        )
    )
    return [
        _partition(scenario, int(p), STATES[rank[p]], would.get(int(p))) for p in rows
    ]


def _partition(
    scenario: Scenario,
    p: int,
    word: PartitionState,
    would: tuple[int, int] | None,
) -> PartitionRecord:
    now, lost = scenario.now, scenario.lost
    returned = scenario.stages["returned"]
    return PartitionRecord(
        **now.place_of(p),
        state=word,
        replicas=now.brokers_of(p),
        leader_before=_id(now, int(now.partitions.leader_idx[p])),
        leader=_id(lost, int(lost.partitions.leader_idx[p])),
        leader_returned=_id(now, int(returned.partitions.leader_idx[p])),
        isr=members(lost, p, lost.replicas.is_in_sync),
        elr=members(lost, p, lost.replicas.is_eligible),
        unclean=None if would is None else _unclean(now, would),
    )


def _unclean(state: ClusterState, would: tuple[int, int]) -> UncleanRecord:
    leader, lost_bytes = would
    return UncleanRecord(
        leader=_id(state, leader),
        lost_bytes_at_least=None if lost_bytes == UNKNOWN else lost_bytes,
    )


def _id(state: ClusterState, row: int) -> int | None:
    return None if row == ABSENT else int(state.brokers.ids[row])


def members(state: ClusterState, p: int, flags: Any) -> list[int]:  # noqa: ANN401 - (R,) bool
    """Return the broker ids of the flagged replicas of a partition, in order."""
    start, stop = state.replicas.start[p : p + 2].tolist()
    ids = state.brokers.ids[state.replicas.broker_idx[start:stop]]
    return [int(broker) for broker in ids[flags[start:stop]]]


def scenario_notes(scenario: Scenario) -> list[str]:
    """Return the assumptions and limits of the figures, a sentence each."""
    notes = notes_of(scenario.snapshot, scenario.now, scenario.options, scenario.given)
    if scenario.options.version is None:
        notes.append(
            "Kafka's version is not in the snapshot: it elects preferred leaders as "
            "4.0 or later does"
        )
    if scenario.now.is_reassigning.any():
        notes.append("partitions are being reassigned: what is added is not in sync")
    if scenario.keeps_majority is False:
        notes.append(
            "without their majority controllers elect nothing: what lost its leader "
            "after that stays without one, whatever is counted here"
        )
    notes += factor_notes(scenario.now, scenario.lost)
    stopped = _stopped(scenario)
    if stopped:
        notes.append(f"no log dir is left to broker {ids_text(stopped)}: it stops")
    return notes


def _stopped(scenario: Scenario) -> list[int]:
    """Return the ids of brokers that stop as they lose all their log dirs."""
    loss, dirs = scenario.options.loss, scenario.now.log_dirs
    if loss is None:
        return []
    hit = set(dirs.broker_idx[loss.log_dir_idx].tolist())
    rows = [b for b in loss.broker_idx.tolist() if b in hit]
    return sorted(int(b) for b in scenario.now.brokers.ids[rows])
