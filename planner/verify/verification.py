"""Outcome of a plan: statuses, findings, waves, and what is left to do."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from placement.model.cluster import ClusterState
from planner.kafka_commands import ANY_SERVER, KafkaCommands
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.throttles import Throttle
from planner.verify.leftover_throttles import RULE as THROTTLE_LEFT
from planner.verify.leftover_throttles import leftover_findings, throttles_left
from planner.verify.partition_events import Judge, Move
from planner.verify.partition_status import Before, Overall, Status, overall_of
from planner.verify.plan_files import PlanFiles
from planner.verify.remaining_steps import Situation, Step, steps_left
from planner.verify.state_rows import ClusterRows, entries_of
from planner.verify.unstarted_part import to_come
from planner.verify.verify_findings import VerifyFinding, fold
from planner.verify.wave_progress import WaveLists, WaveProgress

MAX_FINDINGS_SHOWN = 10
AGAINST_COMPLETED = frozenset({THROTTLE_LEFT, "log-dir"})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification:
    """
    The outcome for a whole plan.

    Parameters
    ----------
    statuses
        Of each entry of the reassignment, in its order.
    findings
        What is not as planned, and what was left behind; one for each cause.
    moving
        Each partition that moves now, and whether it can finish.
    waves
        Progress of each wave; empty where the plan has none.
    left
        Steps that are left, in order.
    """

    statuses: tuple[Status, ...]
    findings: tuple[VerifyFinding, ...]
    moving: tuple[Move, ...] = ()
    waves: tuple[WaveProgress, ...] = ()
    left: tuple[Step, ...] = ()

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
        """`DIFFERS` if any does or is superseded; else as all are, if all agree."""
        return overall_of(self.statuses)

    @property
    def is_done(self) -> bool:
        """True if completed, with nothing left behind and every log dir as planned."""
        rules = {finding.rule for finding in self.findings}
        return self.overall is Overall.COMPLETED and not rules & AGAINST_COMPLETED

    def to_dict(self) -> dict[str, object]:
        """Return the document of `verify --format json`."""
        return {
            "status": self.overall.value,
            "partitions": self.counts,
            "findings": [finding.to_dict() for finding in self.findings],
            "moving": [move.to_dict() for move in self.moving],
            "waves": [wave.to_dict() for wave in self.waves],
            "left": [step.to_dict() for step in self.left],
        }


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
        What the plan asks for.
    rollback
        The lists before, of partitions with dead brokers too; without them nothing is
        known to be not started.
    throttles
        Every throttle in force now.
    waves
        The file of each wave, in order.
    creates
        Whether the plan makes new partitions: one that is not there is not started.
    files
        Files that the commands of the steps left name.
    connection
        Options of Kafka's tools that reach the cluster.
    """
    rows, lists = ClusterRows(state), WaveLists(waves)
    before = {
        one.key: Before(one.replicas, one.log_dirs) for one in entries_of(rollback)
    }
    judge = Judge(
        rows=rows,
        has_source=state.has_source.tolist(),
        before=before,
        waves=lists,
        creates=creates,
    )
    entries = list(entries_of(reassignment))
    statuses = [judge.status(entry) for entry in entries]
    judged = list(zip(entries, statuses, strict=True))
    events = [event for each in judged for event in judge.events(*each)]
    behind = throttles_left(state, set(reassignment.topics), throttles)
    findings = [*fold(events), *leftover_findings(behind)]
    moves = [move for entry in entries if (move := judge.move(entry)) is not None]
    progress = lists.progress(rows, {one.key: status for one, status in judged})
    now = Situation(
        findings=findings,
        overall=overall_of(statuses),
        waves=progress,
        left_behind=behind,
        moves=moves,
        to_come=to_come(rows, judged, before),
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
