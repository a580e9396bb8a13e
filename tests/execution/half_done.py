"""Plans carried out to a half-done state, and lists applied step by step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import weigh
from placement.model.reassignment import Reassignment
from placement.waves.wave_settings import WaveSettings
from planner.execution.undo.rollback_plan import RollbackPlan
from planner.kafka_files.reassignment_columns import listing_now
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.plan.folder.plan_folder import lists_to
from planner.plan.input.plan_input import PlanInput
from planner.plan.input.wave_input import WavesInput
from planner.plan.waves.wave_files import plan_waves
from planner.snapshot import Snapshot
from planner.snapshot.actions.apply_plan import apply_plan
from planner.verify.state_rows import ClusterRows, Entry, Key, entries_of
from planner.verify.wave_progress import WaveLists

Choose = Callable[[Sequence[Any]], Any]
"""Draws one of some values."""
Shuffle = Callable[[Sequence[Any]], Sequence[Any]]


def plan_of(reassignment: Reassignment) -> tuple[PlanInput, WavesInput] | None:
    """Return a reassignment as a plan in waves; `None` if disks allow no waves."""
    state = reassignment.before
    planned = plan_waves(reassignment, weigh(state), WaveSettings())
    if planned.found.stuck is not None:
        return None
    changed = np.nonzero(reassignment.is_changed)[0]
    plan = PlanInput(
        path=Path("no-folder"),
        reassignment=lists_to(reassignment, changed).to_file(),
        rollback=listing_now(state, changed).to_file(),
        goal="rebalance",
    )
    return plan, WavesInput.of(planned)


def file_of(entries: Sequence[Entry]) -> ReassignmentFile:
    return ReassignmentFile(
        tuple(e.key[0] for e in entries),
        tuple(e.key[1] for e in entries),
        tuple(e.replicas for e in entries),
        tuple(e.log_dirs for e in entries),
    )


def reached(
    plan: PlanInput, waves: WavesInput, choose: Choose, shuffle: Shuffle
) -> tuple[list[Entry], set[Key]]:
    """
    Return a list for each partition of a plan, and the cancelled partitions.

    The list is the one before, after any of its waves, or at the end. A cancel leaves
    the replicas of one of them in another order.
    """
    lists, found, cancelled = WaveLists(waves.waves), [], set()
    before = {entry.key: entry for entry in entries_of(plan.before)}
    for last in entries_of(plan.reassignment):
        entry = choose([before[last.key], *lists.entries(last.key), last])
        if choose([False, False, True]):
            cancelled.add(entry.key)
            slots = shuffle(range(len(entry.replicas)))
            dirs = entry.log_dirs
            entry = Entry(
                entry.key,
                tuple(entry.replicas[slot] for slot in slots),
                None if dirs is None else tuple(dirs[slot] for slot in slots),
            )
        found.append(entry)
    return found, cancelled


def led_by_any(now: Snapshot, choose: Choose) -> Snapshot:
    """Return a cluster whose partitions are led by any replica in sync."""
    state = now.to_state()
    replicas, leader = state.replicas, state.partitions.leader_idx.copy()
    could = replicas.is_in_sync & ~state.is_offline
    for p in np.nonzero(leader != ABSENT)[0].tolist():
        own = slice(*replicas.start[p : p + 2].tolist())
        leader[p] = choose(replicas.broker_idx[own][could[own]].tolist())
    partitions = replace(state.partitions, leader_idx=leader)
    return now.with_state(replace(state, partitions=partitions))


def half_done(
    cluster: Snapshot,
    plan: PlanInput,
    waves: WavesInput,
    choose: Choose,
    shuffle: Shuffle,
) -> tuple[Snapshot, set[Key]]:
    """Return the cluster with a half-done plan, and the cancelled partitions."""
    entries, cancelled = reached(plan, waves, choose, shuffle)
    now = apply_plan(cluster, file_of(entries))
    return led_by_any(now, choose), cancelled


class Lists:
    """Lists, log dirs and replicas in sync of a cluster, changed step by step."""

    def __init__(self, state: ClusterState) -> None:
        rows = ClusterRows(state)
        self.live = set(state.brokers.ids[state.brokers.is_live].tolist())
        self.lists = {key: rows.replicas(row) for key, row in rows.row_of.items()}
        self.in_sync = {
            key: set(rows.flagged(row, "in_sync")) for key, row in rows.row_of.items()
        }
        self.dirs = {
            (key, broker): rows.log_dir(row, slot)
            for key, row in rows.row_of.items()
            for slot, broker in enumerate(rows.replicas(row))
        }

    def run(self, file: ReassignmentFile, least: Mapping[Key, int]) -> None:
        """Run the lists of one wave; none adds two replicas or lacks one in sync."""
        for key, new, paths in entries_of(file):
            comes = set(new) - set(self.lists[key])
            assert len(comes) <= 1
            assert len(set(new)) == len(new)
            assert set(new) <= self.live
            named = paths or (None,) * len(new)
            for broker, path in zip(new, named, strict=True):
                if path is not None or broker in comes:
                    self.dirs[key, broker] = path
            self.lists[key] = new
            self.in_sync[key] = (self.in_sync[key] | comes) & set(new)
            assert len(self.in_sync[key]) >= least[key]


def carried_out(rollback: RollbackPlan) -> Lists:
    """Carry out a rollback wave by wave, and return the cluster after it."""
    found = Lists(rollback.state)
    least = {
        one.key: min(len(found.in_sync[one.key]), len(one.target.replicas))
        for one in rollback.to_bring_back
    }
    for file in rollback.waves.waves:
        found.run(file, least)
    return found
