"""Outcome of a plan: statuses, findings, waves, and remaining steps."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from placement.model.cluster import ClusterState
from planner.kafka_commands import ANY_SERVER, KafkaCommands
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.plan.documents.check_records import (
    CountsRecord,
    LoadRecord,
    MoveRecord,
    StepRecord,
    VerifyFindingRecord,
    VerifyRecord,
    WaveProgressRecord,
)
from planner.throttles import Throttle
from planner.verify.leftover_throttles import RULE as THROTTLE_LEFT
from planner.verify.leftover_throttles import leftover_findings, throttles_left
from planner.verify.lists_before import ListsBefore
from planner.verify.partition_events import PartitionVerifier
from planner.verify.partition_status import Overall, Status, overall_of
from planner.verify.plan_files import PlanFiles
from planner.verify.remaining_steps import Situation, steps_left
from planner.verify.state_rows import ClusterRows, entries_of
from planner.verify.unstarted_part import unstarted_part
from planner.verify.verify_findings import Event, fold
from planner.verify.wave_progress import WaveLists, WaveProgress

MAX_FINDINGS_SHOWN = 10
AGAINST_COMPLETED = frozenset({THROTTLE_LEFT, "log-dir"})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification:
    """
    Outcome of a started plan.

    Parameters
    ----------
    statuses
        Status of each entry of the reassignment, in its order.
    findings
        Deviations from the plan and leftover throttles, one for each cause.
    moving
        Partitions that are being moved, with their obstacles.
    waves
        Progress of each wave; empty for a plan without waves.
    left
        Remaining steps, in order.
    """

    statuses: tuple[Status, ...]
    findings: tuple[VerifyFindingRecord, ...]
    moving: tuple[MoveRecord, ...] = ()
    waves: tuple[WaveProgress, ...] = ()
    left: tuple[StepRecord, ...] = ()

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {status}" for status, n in self.counts.items() if n)
        lines = [f"{finding.rule}: {finding.message}" for finding in self.findings]
        shown = lines[:MAX_FINDINGS_SHOWN]
        if len(lines) > len(shown):
            shown.append(f"… and {len(lines) - len(shown)} more")
        first = f"{self.overall.value}: {counts or 'the plan moves nothing'}"
        return "\n".join([first, *shown])

    @property
    def counts(self) -> dict[str, int]:
        """Number of partitions by status."""
        found = Counter(self.statuses)
        return {status.value: found[status] for status in Status}

    @property
    def overall(self) -> Overall:
        """Status of the plan."""
        return overall_of(self.statuses)

    @property
    def is_done(self) -> bool:
        """Whether all is completed: no throttle is left, no log dir deviates."""
        rules = {finding.rule for finding in self.findings}
        return self.overall is Overall.COMPLETED and not rules & AGAINST_COMPLETED

    def to_dict(self, loads: Sequence[LoadRecord] = ()) -> dict[str, object]:
        """
        Return the document of `verify --format json`.

        Parameters
        ----------
        loads
            Loads that the plan predicted, and those of the cluster now.
        """
        return VerifyRecord(
            status=self.overall.value,
            partitions=CountsRecord(**self.counts),
            findings=self.findings,
            moving=self.moving,
            waves=[WaveProgressRecord.model_validate(one) for one in self.waves],
            left=self.left,
            loads=list(loads),
        ).model_dump(mode="json")


def verify(
    state: ClusterState,
    reassignment: ReassignmentFile,
    *,
    rollback: ReassignmentFile | None = None,
    throttles: Iterable[Throttle] = (),
    waves: Sequence[ReassignmentFile] = (),
    creates: bool = False,
    files: PlanFiles | None = None,
    connection: str = ANY_SERVER,
) -> Verification:
    """
    Return the outcome of a plan.

    Parameters
    ----------
    state
        The cluster now.
    reassignment
        Lists of the plan.
    rollback
        Lists before the plan, also of partitions with dead brokers. Without them no
        partition has the status `NOT_STARTED`.
    throttles
        Every throttle in force now.
    waves
        Lists of each wave, in order.
    creates
        Whether the plan creates partitions; a missing one then has not started.
    files
        Paths of the files of the plan, for commands.
    connection
        Options of Kafka's tools that connect to the cluster.
    """
    rows, lists = ClusterRows(state), WaveLists(waves)
    before = ListsBefore(rows, rollback)
    verifier = PartitionVerifier(
        rows=rows,
        has_source=state.has_source.tolist(),
        before=before,
        waves=lists,
        creates=creates,
    )
    # Entries are made anew for each use: a plan may have a hundred thousand of them.
    statuses = [verifier.status(entry) for entry in entries_of(reassignment)]
    behind = throttles_left(state, set(reassignment.topics), throttles)
    events = _events(verifier, reassignment, statuses)
    findings = [*fold(events), *leftover_findings(behind)]
    moves = [
        move
        for entry in entries_of(reassignment)
        if (move := verifier.move(entry)) is not None
    ]
    keys = (entry.key for entry in entries_of(reassignment))
    progress = (
        lists.progress(rows, dict(zip(keys, statuses, strict=True))) if waves else []
    )
    now = Situation(
        findings=findings,
        overall=overall_of(statuses),
        waves=progress,
        left_behind=behind,
        moves=moves,
        unstarted=unstarted_part(rows, reassignment, statuses, before),
        creates=creates,
        is_broker_down=not bool(state.brokers.is_live.all()),
    )
    steps = steps_left(now, files or PlanFiles(), KafkaCommands(connection=connection))
    return Verification(
        statuses=tuple(statuses),
        findings=tuple(findings),
        moving=tuple(moves),
        waves=tuple(progress),
        left=tuple(steps),
    )


def _events(
    verifier: PartitionVerifier,
    reassignment: ReassignmentFile,
    statuses: Sequence[Status],
) -> Iterator[Event]:
    """Yield the deviations of every partition from the plan."""
    for entry, status in zip(entries_of(reassignment), statuses, strict=True):
        yield from verifier.events(entry, status)
