"""Preparation of a run: what is left of a plan, its stages, and what stops it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from planner.execution.admission import Caps, Disk
from planner.execution.changes import Change, ChangeReader, after_cancel
from planner.execution.choices import Choices
from planner.execution.creation import (
    CreationState,
    creation_blocker,
    creation_changes,
    creation_state,
    read_creation,
    recreated_state,
)
from planner.execution.head_room import ChosenRate, choose_rate
from planner.execution.least_throttle import LeastRate, least_rate, too_low_blocker
from planner.execution.plan_identity import (
    plan_id_of,
    recreated,
    refuse_other_cluster,
)
from planner.execution.preflight import (
    Blocker,
    Preflight,
    disk_blocker,
    drifted_blocker,
    no_record_blocker,
    rights_blocker,
    several_copies_blocker,
)
from planner.execution.preview import Walk, walk
from planner.execution.stages import Stage, stages_of
from planner.execution.usable_bytes import usable_bytes
from planner.kafka_files.creation import Creation
from planner.plan.input.plan_input import PlanInput
from planner.plan.input.wave_input import WavesInput, read_waves
from planner.snapshot import Snapshot
from planner.status.throttles_in_force import throttles_in
from planner.verify.lists_before import ListsBefore
from planner.verify.partition_events import PartitionVerifier
from planner.verify.partition_status import Status
from planner.verify.state_rows import ClusterRows, Entry, Key, entries_of
from planner.verify.wave_progress import WaveLists


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """
    A plan ready to run, or the reasons why it is not.

    Parameters
    ----------
    plan_id
        Digest of the requests of each partition: another plan or another state of the
        cluster gives another one.
    cluster_id
        Id of the cluster; `None`: unknown.
    operation
        Name of the operation; `None` for a reassignment file.
    walk
        Stages, with the outcome of the simulated run.
    caps
        Caps on simultaneous copies.
    planned
        Every partition of the plan.
    rate_bytes_per_s
        Rate at which a broker sends, and receives, copies.
    least_rate
        Traffic that a throttle has to exceed.
    has_throttle
        Whether copies are throttled.
    usable_bytes
        Free bytes of the brokers and log dirs with a known limit.
    num_completed, num_moving
        Partitions of the plan that are as planned, and that are being moved.
    notes
        Further warnings for the operator.
    blockers
        Reasons not to start, without the ignored ones.
    ignored
        Reasons that the operator ignores.
    """

    plan_id: str
    cluster_id: str | None
    operation: str | None
    walk: Walk
    caps: Caps
    planned: tuple[Key, ...]
    rate_bytes_per_s: int
    least_rate: LeastRate
    has_throttle: bool
    usable_bytes: Mapping[Disk, int]
    num_completed: int
    num_moving: int
    notes: tuple[str, ...]
    blockers: tuple[Blocker, ...]
    ignored: tuple[Blocker, ...]

    @property
    def creation(self) -> Creation | None:
        """Request for new partitions that is left, if any."""
        return next((one.creation for one in self.stages), None)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Stages in their order."""
        return tuple(one.stage for one in self.walk.stages)

    @property
    def is_ready(self) -> bool:
        """Whether nothing stops the plan from running as a whole."""
        return not self.blockers


def prepare(
    plan: PlanInput,
    now: Snapshot,
    choices: Choices,
    missing_rights: Sequence[str] = (),
    waves: WavesInput | None = None,
) -> Prepared:
    """
    Return the stages of what is left of a plan, and what stops it.

    Parameters
    ----------
    plan
        The plan folder, or a reassignment file.
    now
        The cluster now.
    choices
        Choices of the operator.
    missing_rights
        Rights on the running cluster that the user lacks.
    waves
        Waves of the plan; `None`: those in its folder, if it has any.

    Raises
    ------
    BadInputError
        If the plan is of another cluster, or its waves or its request for new
        partitions cannot be read.
    """
    refuse_other_cluster(plan, now)
    return _Preparation(plan, now, choices, waves).prepared(missing_rights)


class _Preparation:
    def __init__(
        self,
        plan: PlanInput,
        now: Snapshot,
        choices: Choices,
        waves: WavesInput | None,
    ) -> None:
        self.plan, self.now = plan, now
        self.state = now.to_state()
        self.rows = ClusterRows(self.state)
        self.waves = waves
        if waves is None and plan.path.is_dir():
            self.waves = read_waves(plan.path)
        self.lists = WaveLists(() if self.waves is None else self.waves.waves)
        self.entries = list(entries_of(plan.reassignment))
        self.creation = read_creation(plan)
        has_throttle = choices.has_throttle and self.creation is None
        self.choices = replace(choices, has_throttle=has_throttle)
        self.created = CreationState(Status.COMPLETED)
        self.statuses = self._statuses()

    def _statuses(self) -> list[Status]:
        """Return the status of each entry; those of one request have the same."""
        drifted = set(recreated(self.plan, self.now))
        if self.creation is not None:
            self.created = (
                recreated_state(self.creation)
                if drifted
                else creation_state(self.creation, self.rows, self.now)
            )
            return [self.created.status] * len(self.entries)
        return [
            Status.DIFFERS if entry.key in drifted else status
            for entry, status in zip(self.entries, self._verified(), strict=True)
        ]

    def _changes(self, reader: ChangeReader) -> list[Change]:
        """Return the changes that are left."""
        if self.creation is None:
            return list(reader.changes(self.entries, self.statuses))
        is_left = self.created.status is Status.NOT_STARTED
        return list(creation_changes(self.creation)) if is_left else []

    def _verified(self) -> Iterator[Status]:
        """
        Yield the status of each entry; without a record, any list may be old.

        A cancelled reassignment has not been started: it is to be asked for again.
        """
        before = ListsBefore(self.rows, self.plan.before)
        verifier = PartitionVerifier(
            rows=self.rows,
            has_source=self.state.has_source.tolist(),
            before=before,
            waves=self.lists,
        )
        for entry in self.entries:
            status = verifier.status(entry)
            is_there = entry.key in self.rows.row_of
            is_old = self.plan.rollback is None and status is Status.DIFFERS
            is_back = status is Status.DIFFERS and self._is_cancelled(entry, before)
            yield Status.NOT_STARTED if (is_old and is_there) or is_back else status

    def _is_cancelled(self, entry: Entry, before: ListsBefore) -> bool:
        """Return whether a partition is as Kafka leaves it after a cancel."""
        row, was = self.rows.row_of.get(entry.key), before.get(entry.key)
        if row is None or was is None or self.rows.is_reassigning[row]:
            return False
        lists = [was.replicas, *self.lists.lists(entry.key), entry.replicas]
        now = self.rows.replicas(row)
        return any(now == after_cancel(*some) for some in pairwise(lists))

    def _of(self, *statuses: Status) -> list[Entry]:
        """Return the entries with one of some statuses."""
        return [
            entry
            for entry, status in zip(self.entries, self.statuses, strict=True)
            if status in statuses
        ]

    def prepared(self, missing_rights: Sequence[str]) -> Prepared:
        """Return the plan ready to run; what it is read from is let go on the way."""
        usable, caps = usable_bytes(self.state), _caps(self.waves)
        reader = ChangeReader(self.state, self.rows, self.lists)
        changes = self._changes(reader)
        elected = list(self._elected(reader))
        least = least_rate(changes, caps)
        chosen = self._rate(changes, least)
        rate = chosen.bytes_per_s
        blockers = [
            *rights_blocker(missing_rights),
            *(too_low_blocker(least, rate) if self.choices.has_throttle else ()),
            *self._blockers(changes),
        ]
        planned = tuple(entry.key for entry in self.entries)
        topics = self.state.topics.names
        counts = Counter(self.statuses)
        # The simulated run needs as much memory as these.
        del reader, self.rows, self.state, self.entries, self.statuses
        stages = stages_of(changes, elected, self.creation)
        del changes
        found = walk(stages, caps, usable, rate)
        blockers += disk_blocker(found.refused, usable)
        ignore = {*self.choices.ignore}
        ignore |= {"drifted"} if self.choices.allow_drift else set()
        return Prepared(
            plan_id=plan_id_of(stages),
            cluster_id=self.now.cluster_id,
            operation=self.plan.goal,
            walk=found,
            caps=caps,
            planned=planned,
            rate_bytes_per_s=rate,
            least_rate=least,
            has_throttle=self.choices.has_throttle,
            usable_bytes=usable,
            num_completed=counts[Status.COMPLETED],
            num_moving=counts[Status.IN_PROGRESS],
            notes=(*chosen.notes, *_other_tools(topics)),
            blockers=tuple(b for b in blockers if b.rule not in ignore),
            ignored=tuple(b for b in blockers if b.rule in ignore),
        )

    def _rate(self, changes: Sequence[Change], least: LeastRate) -> ChosenRate:
        """Return the rate that is given, that of the waves, or one from head-room."""
        limits = None if self.waves is None else self.waves.limits
        of_waves = None if limits is None else limits.bandwidth_bytes_per_s
        if given := self.choices.rate_bytes_per_s or of_waves:
            return ChosenRate(int(given))
        chosen = choose_rate(self.plan, self.state, changes, least)
        return chosen if self.choices.has_throttle else replace(chosen, notes=())

    def _blockers(self, changes: Sequence[Change]) -> Iterator[Blocker]:
        checks = Preflight(
            state=self.state,
            rows=self.rows,
            changes=changes,
            throttles=[
                one
                for one in throttles_in(self.now)
                if not self.choices.is_own_throttle(*one)
            ],
            is_under_way=bool(self._of(Status.IN_PROGRESS)),
        )
        if self.creation is not None:
            # Nothing is copied: neither throttles nor other partitions matter.
            yield from creation_blocker(self.creation, self.created)
            yield from checks.targets()
            return
        drifted = sorted(entry.key for entry in self._of(*_DRIFTED))
        yield from drifted_blocker(drifted, is_left_out=self.choices.allow_drift)
        if self.plan.rollback is None and changes:
            yield no_record_blocker(len(changes))
        if self.waves is None:
            yield from several_copies_blocker(changes)
        yield from checks.blockers()

    def _elected(self, reader: ChangeReader) -> Iterator[Change]:
        """
        Yield the partitions that elect their preferred leader in the end.

        A leader that loses its replica gives way by itself to the first replica in
        sync; any other leader stays until an election.
        """
        for entry in () if self.creation is not None else self._of(*_AS_PLANNED):
            row = self.rows.row_of[entry.key]
            if self.rows.leaders[row] in entry.replicas[1:]:
                yield reader.unchanged(entry, row)


_CRUISE_CONTROL = ("__CruiseControl", "__KafkaCruiseControl", "strimzi.cruisecontrol")


def _other_tools(topics: Sequence[str]) -> Iterator[str]:
    """Yield a warning of another tool that moves replicas, by the topics it keeps."""
    if any(name.startswith(_CRUISE_CONTROL) for name in topics):
        yield (
            "Cruise Control has topics here: make sure that no rebalance of its own, "
            "or of a KafkaRebalance resource, runs or heals meanwhile"
        )


_AS_PLANNED = (Status.COMPLETED, Status.NOT_STARTED, Status.IN_PROGRESS)
_DRIFTED = (Status.DIFFERS, Status.SUPERSEDED)


def _caps(waves: WavesInput | None) -> Caps:
    if waves is None:
        return Caps()
    limits = waves.limits
    return Caps(
        max_in=limits.max_in, max_out=limits.max_out, max_shared=limits.max_shared
    )
