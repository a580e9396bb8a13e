"""Run of a plan on a cluster: its stages, the elections, the clean-up, the verdict."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from placement.operations.descriptor import describe
from planner.execution.admission import Disk
from planner.execution.apply_records import BlockerRecord
from planner.execution.choices import Choices
from planner.execution.cluster.running_cluster import RunningCluster
from planner.execution.creation import refused_blocker
from planner.execution.preflight import Blocker, rights_blocker
from planner.execution.prepare import Prepared, prepare
from planner.execution.run.controls import ControlFile, control_path
from planner.execution.run.creation_run import create_partitions
from planner.execution.run.gate import Gate, local_now
from planner.execution.run.journal import Journal, Line, parts_of, read_journal
from planner.execution.run.run_choices import RunChoices
from planner.execution.run.run_context import RunContext
from planner.execution.run.run_lock import run_lock
from planner.execution.run.run_records import (
    CleanedEvent,
    DoneEvent,
    ElectionEvent,
    Event,
    FailedEvent,
    RunStatus,
    StartedEvent,
)
from planner.execution.run.run_throttles import OwnThrottles, RunThrottles
from planner.execution.run.stage_run import StageRun
from planner.execution.run.state_before import state_before
from planner.execution.stages import Stage, StageKind
from planner.kafka.client.cluster_errors import NotAuthorisedError
from planner.kafka_commands import ANY_SERVER
from planner.plan.input.plan_input import PlanInput
from planner.plan.input.wave_input import WavesInput
from planner.snapshot import Snapshot
from planner.text.format import plural
from planner.verify.verification import Verification
from planner.verify.whole_plan import verify_read

LEADERS_PER_REQUEST = 250
"""Leaders elected at once; clients look up new leaders after each election."""
ELECTION_PAUSE_S = 2.0
"""Seconds between two elections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    Plan to carry out, and how.

    Parameters
    ----------
    plan
        The plan.
    journal
        Path of the journal.
    choices, run_choices
        Choices of the operator, before and during the run.
    missing_rights
        Rights that the user lacks.
    waves
        Waves in place of those of the folder.
    status
        Status of a run that completes.
    plan_id
        Id of the preview that the operator has seen; `None`: any.
    command
        Command that previews the plan; with --yes it goes on with a stopped run.
    connection
        Options by which Kafka's tools connect to the cluster.
    sample_s
        Seconds in which rates are sampled before the run; 0: no rates.
    report
        Function that receives an event while the cluster does not answer; `None`: the
        run yields it once the cluster answers.
    """

    plan: PlanInput
    journal: Path
    choices: Choices
    run_choices: RunChoices
    missing_rights: Sequence[str] = ()
    waves: WavesInput | None = None
    status: RunStatus = "completed"
    plan_id: str | None = None
    command: str = "kafka-planner apply PLAN"
    connection: str = ANY_SERVER
    sample_s: float = 0.0
    report: Callable[[Event], None] | None = None

    @property
    def throttled_topics(self) -> frozenset[str]:
        """Topics whose copies are throttled."""
        is_limited = self.choices.has_throttle and not self.creates_partitions
        return frozenset(self.plan.reassignment.topics if is_limited else ())

    @property
    def creates_partitions(self) -> bool:
        """Whether the plan creates partitions, and moves none."""
        return describe(self.plan.goal).creates_partitions


def run(job: Job, cluster: RunningCluster) -> Iterator[Event]:
    """
    Carry out a plan, and yield what happens.

    The generator may be closed at any time: nothing more is requested then. What runs
    goes on inside Kafka, and another run goes on from there.

    Parameters
    ----------
    job
        The plan, and how to carry it out.
    cluster
        The cluster.

    Raises
    ------
    BadInputError
        If the plan is of another cluster, or another run of it is under way.
    ClusterUnavailableError, AnswerUnknownError
        If the cluster does not answer as long as the patience lasts.
    """
    with run_lock(job.journal):
        own = OwnThrottles.from_journal(read_journal(job.journal))
        now = cluster.snapshot(job.sample_s)
        prepared = tried(prepare_run(job, now, own), cluster)
        with Journal(job.journal) as journal:
            seen = {line.get("plan_id") for line in read_journal(job.journal)}
            if refusal := _refusal(job, prepared, seen):
                yield _failed(journal, refusal, prepared)
                return
            is_resumed = _has_started(read_journal(job.journal))
            whole = _Run(job, cluster, journal, prepared, own, now)
            del now, prepared
            yield from whole.events(is_resumed=is_resumed)


def prepare_run(
    job: Job, now: Snapshot, own: OwnThrottles, missing_rights: Sequence[str] = ()
) -> Prepared:
    """Return the stages that are left, without throttles of ours as a reason."""
    prepared = prepare(
        job.plan,
        now,
        replace(job.choices, is_own_throttle=own.explains),
        [*job.missing_rights, *missing_rights],
        job.waves,
    )
    if not prepared.num_moving or _has_started(read_journal(job.journal)):
        return prepared
    found = _under_way_blocker(prepared.num_moving, job.journal)
    if found.rule in job.choices.ignore:
        return replace(prepared, ignored=(*prepared.ignored, found))
    return replace(prepared, blockers=(*prepared.blockers, found))


def tried(prepared: Prepared, cluster: RunningCluster) -> Prepared:
    """Return a plan with the reason that the cluster refuses to create partitions."""
    wanted = prepared.creation
    if wanted is None or not prepared.is_ready:
        return prepared
    try:
        refusal = cluster.create(wanted, is_trial=True)
        found = [] if refusal is None else [refused_blocker(wanted, refusal)]
    except NotAuthorisedError as error:
        found = list(rights_blocker([error.needs]))
    return replace(prepared, blockers=tuple(found))


def _has_started(lines: Iterable[Line]) -> bool:
    """Return whether a run of the plan has begun here, and was not just refused."""
    return any(line.get("event") == "started" for line in lines)


def _under_way_blocker(num_moving: int, journal: Path) -> Blocker:
    """Return the reason that another run of the plan may be under way."""
    return Blocker(
        rule="reassigning",
        count=num_moving,
        message=f"{plural(num_moving, 'partition')} of the plan move already, and "
        f"no run in {journal} has moved them: another one may be under way",
        remedy="run it where its journal is; if no other run is under way, "
        "--ignore reassigning",
    )


def _refusal(job: Job, prepared: Prepared, seen: Collection[str | None]) -> str | None:
    """Return why a run may not begin; ids of the journal are those it began with."""
    if job.plan_id not in {None, prepared.plan_id, *seen}:
        return f"the plan id is {prepared.plan_id} now, not {job.plan_id}"
    return None if prepared.is_ready else "something stops it; nothing was changed"


def _failed(journal: Journal, message: str, prepared: Prepared) -> FailedEvent:
    return FailedEvent(
        time=journal.write("refused", message=message),
        status="stopped",
        message=message,
        blockers=[BlockerRecord.of(b, ignored=False) for b in prepared.blockers],
        next=None,
    )


class _Run:
    def __init__(
        self,
        job: Job,
        cluster: RunningCluster,
        journal: Journal,
        prepared: Prepared,
        own: OwnThrottles,
        now: Snapshot,
    ) -> None:
        self._job, self._cluster, self._prepared = job, cluster, prepared
        self._began_s = cluster.now_s()
        # Read when the run begins, part by part; then the snapshot is let go.
        self._before: Iterator[Line] = state_before(job.plan, now)
        rate = prepared.rate_bytes_per_s if prepared.has_throttle else None
        topics = now.topics
        ids = zip(
            topics["topic"].to_pylist(), topics["topic_id"].to_pylist(), strict=True
        )
        self._context = RunContext(
            cluster=cluster,
            journal=journal,
            choices=job.run_choices,
            throttles=RunThrottles(cluster, journal, own, rate),
            gate=Gate(
                choices=job.run_choices,
                now_s=cluster.now_s,
                at_start=cluster.health(),
                clock=local_now,
                are_others_ignored="reassigning" in job.choices.ignore,
            ),
            control_file=ControlFile(control_path(job.journal)),
            may_raise_rate=job.choices.rate_bytes_per_s is None,
            report=job.report,
            topic_ids={name: one for name, one in ids if one is not None},
        )
        self._free: dict[Disk, float] = dict(prepared.usable_bytes)
        self._running = 0
        self._stopped: str | None = None

    def events(self, *, is_resumed: bool) -> Iterator[Event]:
        """Yield the events of the whole run."""
        self._context.control_file.remove()
        yield self._started(is_resumed=is_resumed)
        if not self._job.choices.has_throttle:
            # Copies that an earlier run began have one.
            self._context.ask(self._context.throttles.clean)
        yield from self._stages()
        # The verification reads the whole plan anew, and needs none of it.
        del self._prepared
        yield from self._end()

    def _stages(self) -> Iterator[Event]:
        """Yield the events of each stage, until one stops."""
        planned = frozenset(self._prepared.planned)
        for stage in self._prepared.stages:
            if stage.kind is StageKind.ELECTION:
                yield from self._elect(stage)
                continue
            if stage.creation is not None:
                yield from create_partitions(stage.creation, self._context)
                continue
            part = StageRun(
                stage, self._prepared.caps, self._free, self._context, planned
            )
            yield from part.events()
            self._running += part.num_active
            self._stopped = part.stopped
            if self._stopped is not None:
                break

    def _started(self, *, is_resumed: bool) -> StartedEvent:
        prepared, journal = self._prepared, self._context.journal
        journal.write("started", plan_id=prepared.plan_id, is_resumed=is_resumed)
        for part in self._before:
            journal.write("before", **part)
        stages = prepared.stages
        return StartedEvent(
            time=self._context.time,
            plan_id=prepared.plan_id,
            cluster_id=prepared.cluster_id,
            is_resumed=is_resumed,
            stages=[stage.kind for stage in stages],
            partitions=len({c.key for stage in stages for c in stage.changes}),
            bytes=sum(stage.copied_bytes for stage in stages),
            throttle_bytes_per_s=self._context.throttles.rate,
        )

    def _elect(self, stage: Stage) -> Iterator[Event]:
        keys = [c.key for c in stage.changes if c.key not in self._context.set_aside]
        for n, some in enumerate(parts_of(keys, LEADERS_PER_REQUEST)):
            if n:
                self._cluster.sleep(ELECTION_PAUSE_S)
            self._context.journal.write("request", kind="election", partitions=some)
            refused = self._context.ask(partial(self._cluster.elect, some))
            texts = [f"{topic}-{p}: {why}" for (topic, p), why in refused.items()]
            self._context.journal.write("answer", refused=texts)
            yield from self._context.handed_out()
            yield ElectionEvent(
                time=self._context.time,
                elected=len(some) - len(refused),
                refused=texts,
            )

    def _end(self) -> Iterator[Event]:
        """Yield the clean-up and the verdict."""
        left: list[str] = []
        if self._running:
            # Copies that run inside Kafka need their throttle.
            left = ["copies still run; the next run removes their throttles"]
        else:
            left = self._context.ask(self._context.throttles.clean)
            yield from self._context.handed_out()
            yield CleanedEvent(time=self._context.time, left=left)
        found = self._verified()
        yield from self._context.handed_out()
        yield self._done(found, left)

    def _verified(self) -> Verification:
        """Return the outcome once brokers know it, or after some looks."""
        found = self._look()
        for _ in range(_LOOKS):
            if found.is_done or self._context.set_aside or self._stopped is not None:
                break
            self._cluster.sleep(_LOOK_PAUSE_S)
            found = self._look()
        return found

    def _look(self) -> Verification:
        now = self._context.ask(self._cluster.snapshot)
        return verify_read(self._job.plan, now, waves=self._job.waves)

    def _done(self, found: Verification, left: list[str]) -> DoneEvent:
        completed = found.counts["completed"]
        is_all = completed == sum(found.counts.values())
        is_fine = is_all and not self._context.set_aside and self._stopped is None
        aside = self._context.set_aside
        status: RunStatus = self._job.status if is_fine else "stopped"
        event = DoneEvent(
            time=self._context.time,
            status=status,
            completed=completed,
            not_completed=sum(found.counts.values()) - completed,
            still_running=self._running,
            set_aside=[f"{topic}-{p}: {why}" for (topic, p), why in aside.items()],
            throttles_left=left,
            reason=self._stopped,
            findings=[f"{one.rule}: {one.message}" for one in found.findings],
            seconds=self._cluster.now_s() - self._began_s,
            next=None if is_fine else f"{self._job.command} --yes",
        )
        self._context.journal.write("ended", status=status, stopped=self._stopped)
        return event


_LOOKS = 10
_LOOK_PAUSE_S = 1.0
