"""
Plan of a rollback: the lists that bring a half-done plan back, step by step.

Each partition returns to its list, its order and its log dirs before the plan, by steps
that each add one replica. They are planned as waves on the cluster as it is now, so
that racks, min.insync.replicas and disks hold after each, and are checked by separate
code.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from placement.array_types import RowArray
from placement.check import Finding
from placement.draft.settings import DEFAULT_THRESHOLDS
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState
from placement.model.listed_reassignment import reassignment_to
from placement.model.load import Resource, weigh
from placement.model.reassignment import Reassignment
from placement.operations.descriptor import describe
from placement.waves.wave_settings import WaveSettings
from planner.errors import BadInputError
from planner.execution.plan_identity import recreated, refuse_other_cluster
from planner.execution.preflight import Blocker
from planner.execution.undo.rollback_states import (
    RollbackPartition,
    RollbackState,
    StateReader,
    lists_before,
)
from planner.io.plan_file_names import DOCUMENT_NAME
from planner.io.problems import problem
from planner.kafka_files.reassignment_columns import listing_now
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.options.overrides import with_rack_map
from planner.options.wave_options import wave_document
from planner.plan.documents.cluster_fingerprint import fingerprint
from planner.plan.documents.plan_figures import DEFAULT_RATE_BYTES_PER_S
from planner.plan.folder.plan_folder import names_dead_broker
from planner.plan.input.plan_input import (
    FORMAT,
    PlanInput,
    PlanSettings,
)
from planner.plan.input.wave_input import WavesInput, read_waves
from planner.plan.waves.wave_document import stuck_text, summary, wave_seconds
from planner.plan.waves.wave_files import PlannedWaves, plan_waves
from planner.snapshot import Snapshot
from planner.verify.state_rows import Entry, Key
from planner.verify.wave_progress import WaveLists

GOAL = "rollback"
_LEFT_OUT = RollbackState.BROKER_NOT_LIVE, RollbackState.NO_SOURCE
"""States of partitions that a later rollback may bring back from their lists now."""
MAX_EXAMPLES = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class RollbackPlan:
    """
    A rollback on the cluster as it is now.

    Parameters
    ----------
    plan
        The plan to roll back.
    now
        The cluster now.
    partitions
        State of each partition of the plan, in the order of the plan.
    planned
        Waves of the rollback.
    """

    plan: PlanInput
    now: Snapshot
    partitions: tuple[RollbackPartition, ...]
    planned: PlannedWaves

    @property
    def state(self) -> ClusterState:
        """Cluster before the rollback."""
        return self.planned.state

    @property
    def reassignment(self) -> Reassignment:
        """Change of the placement by the rollback."""
        return self.planned.found.reassignment

    def of(self, *states: RollbackState) -> tuple[RollbackPartition, ...]:
        """Return the partitions in one of some states."""
        return tuple(one for one in self.partitions if one.state in states)

    @property
    def to_bring_back(self) -> tuple[RollbackPartition, ...]:
        """Partitions that the rollback changes."""
        return tuple(one for one in self.partitions if one.state.is_planned)

    @cached_property
    def waves(self) -> WavesInput:
        """Waves of the rollback, as a run takes them."""
        return WavesInput.of(self.planned)

    @cached_property
    def _lists(self) -> WaveLists:
        return WaveLists(self.waves.waves)

    def steps(self, key: Key) -> tuple[Entry, ...]:
        """Return the lists of a partition in their order, the last as before."""
        return tuple(self._lists.entries(key))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the independent checker on the waves and their end."""
        return self.waves.check(self.state, self._target)

    @property
    def stuck(self) -> str | None:
        """Reason why some copies have no safe order; `None` if all have one."""
        found = self.planned.found
        if found.stuck is None:
            return None
        return stuck_text(found.stuck, int(np.count_nonzero(found.wave < 0)))

    def blockers(self) -> Iterator[Blocker]:
        """Yield the reason why the waves are not safe to run, if they are not."""
        if self.findings:
            texts = [one.message for one in self.findings[:MAX_EXAMPLES]]
            yield Blocker(
                rule="unsafe-rollback",
                count=len(self.findings),
                message=f"the rollback is not safe: {self.stuck or '; '.join(texts)}",
                remedy="free space on these brokers, or finish the plan instead",
            )

    @property
    def num_copies(self) -> int:
        """Number of new replicas, and of moves between log dirs."""
        return int(np.count_nonzero(~self.planned.found.copies.is_drop))

    @property
    def copied_bytes(self) -> int | None:
        """Bytes of these; `None` if the size of a partition is unknown."""
        copies = self.planned.found.copies
        rows = np.nonzero(~copies.is_drop)[0]
        sizes = self.state.partitions.size_bytes[copies.partition_idx[rows]]
        is_known = bool((sizes != UNKNOWN).all())
        return int(copies.size_bytes[rows].sum()) if is_known else None

    @property
    def seconds(self) -> float:
        """Seconds of all waves, one after the other, at their paces."""
        return sum(wave_seconds(self.planned, step) for step in self.planned.steps)

    @cached_property
    def _targeted(self) -> tuple[RollbackPartition, ...]:
        """
        Partitions in the lists of the rollback.

        Partitions that are back and led by another replica elect their leader.
        """
        return tuple(
            one
            for one in self.partitions
            if one.state.is_planned
            or (one.state is RollbackState.BACK and one.is_led_by_other)
        )

    @cached_property
    def _target(self) -> ReassignmentFile:
        targets = [one.target for one in self._targeted]
        return ReassignmentFile(
            topics=tuple(one.key[0] for one in targets),
            partitions=tuple(one.key[1] for one in targets),
            replicas=tuple(one.replicas for one in targets),
            log_dirs=tuple(one.log_dirs for one in targets),
        )

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """Contents of plan.json, as far as a rollback has them."""
        state = self.state
        lost = self.rows[names_dead_broker(state)[self.rows]]
        return {
            "format": FORMAT,
            "version": 1,
            "goal": GOAL,
            "snapshot": {
                "cluster_id": state.cluster_id,
                "taken_at": self.now.taken_at,
                "fingerprint": fingerprint(self.now.to_state()),
            },
            "topic_ids": self._topic_ids(),
            "settings": {
                "rack_map": dict(self.plan.settings.rack_map),
                "waves": wave_document(self.planned.found.settings),
            },
            "waves": summary(self.planned),
            "not_in_rollback": [
                {**state.place_of(p), "replicas": state.brokers_of(p)}
                for p in lost.tolist()
            ],
            "left_out": [
                {**state.place_of(one.row), "replicas": state.brokers_of(one.row)}
                for one in self.of(*_LEFT_OUT)
                if one.row is not None
            ],
        }

    def _topic_ids(self) -> dict[str, str]:
        topics, wanted = self.state.topics, set(self._target.topics)
        pairs = zip(topics.names, topics.topic_ids, strict=True)
        return {name: known for name, known in pairs if name in wanted and known}

    @property
    def rows(self) -> RowArray:
        """``(N,)`` rows of the partitions in the lists of the rollback, ascending."""
        rows = [one.row for one in self._targeted if one.row is not None]
        return np.array(sorted(rows), dtype=np.int64)

    def as_plan_input(self) -> PlanInput:
        """Return the rollback as a plan to prepare with its `waves`."""
        # All lists now are known here, those with dead brokers included.
        document = {**self.document, "not_in_rollback": []}
        return PlanInput(
            path=self.plan.path,
            reassignment=self._target,
            rollback=listing_now(self.state, self.rows).to_file(),
            goal=GOAL,
            settings=PlanSettings.model_validate(document["settings"]),
            document=document,
        )

    @property
    def elections(self) -> tuple[Key, ...]:
        """Partitions whose leader stays a replica and is not the one of before."""
        return tuple(one.key for one in self._targeted if one.is_led_by_other)


def plan_rollback(
    plan: PlanInput,
    now: Snapshot,
    *,
    waves: WavesInput | None = None,
    earlier: Sequence[WavesInput] = (),
    rate_bytes_per_s: int | None = None,
) -> RollbackPlan:
    """
    Plan the rollback of a plan from any state that it may have left.

    Partitions that still move, whose lists another tool changed, whose old lists name
    a broker that is not live, or that nothing can be copied from, are named and left
    out.

    Parameters
    ----------
    plan
        The plan, with the lists before it.
    now
        The cluster, after what was under way has been cancelled.
    waves
        Waves of the plan; `None`: those in its folder, if it has any.
    earlier
        Waves of earlier rollbacks of the plan that were interrupted.
    rate_bytes_per_s
        Rate at which a broker copies; `None`: that of the waves, else 50 MB/s.

    Raises
    ------
    BadInputError
        If the plan is of another cluster, creates partitions, or has no record of the
        lists before it, or if its waves cannot be read.
    """
    refuse_other_cluster(plan, now)
    _refuse_new_partitions(plan)
    if waves is None and plan.path.is_dir():
        waves = read_waves(plan.path)
    state = with_rack_map(now.to_state(), plan.settings.rack_map)
    every = [*earlier] if waves is None else [waves, *earlier]
    files = chain([plan.reassignment], *(one.waves for one in every))
    reader = StateReader(state, recreated(plan, now), files)
    found = tuple(map(reader.partition, lists_before(plan)))
    settings = _settings(plan, waves, rate_bytes_per_s)
    return RollbackPlan(
        plan=plan,
        now=now,
        partitions=found,
        planned=plan_waves(_reassignment(state, found), weigh(state), settings),
    )


def _refuse_new_partitions(plan: PlanInput) -> None:
    """
    Refuse a plan that creates partitions.

    Raises
    ------
    BadInputError
        If it does.
    """
    if describe(plan.goal).creates_partitions:
        file, place = str(plan.path / DOCUMENT_NAME), "goal"
        rule = "must be an operation on partitions that exist: Kafka removes none"
        remedy = "delete a new topic with kafka-topics.sh; partitions of others stay"
        msg = "the plan creates partitions"
        raise BadInputError(msg, [problem(file, place, plan.goal, rule, remedy)])


def _settings(
    plan: PlanInput, waves: WavesInput | None, rate_bytes_per_s: int | None
) -> WaveSettings:
    """Return the settings of the plan's waves, with one new replica at a time."""
    limits = None if waves is None else waves.limits
    of_plan = None if limits is None else limits.bandwidth_bytes_per_s
    rate = rate_bytes_per_s or of_plan or DEFAULT_RATE_BYTES_PER_S
    if limits is None:
        given = plan.settings.capacity_threshold.items()
        own = {Resource(name): fraction for name, fraction in given}
        return WaveSettings(
            bandwidth_bytes_per_s=rate, thresholds=DEFAULT_THRESHOLDS | own
        )
    return WaveSettings(
        max_in=limits.max_in,
        max_out=limits.max_out,
        max_shared=limits.max_shared,
        bandwidth_bytes_per_s=rate,
        thresholds={
            Resource.DISK: limits.disk_threshold,
            Resource.IN: limits.in_threshold,
            Resource.OUT: limits.out_threshold,
        },
    )


def _reassignment(
    state: ClusterState, found: Sequence[RollbackPartition]
) -> Reassignment:
    """Return the change to the lists before of the partitions to bring back."""
    targets = {
        one.row: one.target
        for one in found
        if one.state.is_planned and one.row is not None
    }
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    places = zip(owners, state.log_dirs.paths, strict=True)
    dir_row = {place: row for row, place in enumerate(places)}

    def dirs(entry: Entry) -> list[int]:
        paths = entry.log_dirs or [None] * len(entry.replicas)
        pairs = zip(entry.replicas, paths, strict=True)
        return [ABSENT if path is None else dir_row[b, path] for b, path in pairs]

    return reassignment_to(
        state,
        {row: state.brokers.rows_of(e.replicas).tolist() for row, e in targets.items()},
        {row: dirs(entry) for row, entry in targets.items()},
    )
