"""Rollback of a plan: cancel what is under way, plan the way back, carry it out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from planner.execution.cluster.running_cluster import RunningCluster
from planner.execution.creation import read_creation
from planner.execution.preflight import partitions_text
from planner.execution.prepare import Prepared
from planner.execution.run.journal import read_journal, time_text, utc_now
from planner.execution.run.run import Job, prepare_run, run
from planner.execution.run.run_records import DoneEvent, Event, FailedEvent
from planner.execution.run.run_throttles import OwnThrottles
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.execution.undo.cancel import ROLLBACK_FOLDER, cancel, moves_inside, towards
from planner.execution.undo.rollback_creation import roll_back_creation
from planner.execution.undo.rollback_folder import write_rollback
from planner.execution.undo.rollback_plan import RollbackPlan, plan_rollback
from planner.execution.undo.rollback_states import RollbackState
from planner.io.plan_file_names import DOCUMENT_NAME
from planner.kafka_files.reassignment_file import parse_reassignment
from planner.plan.input.plan_input import read_plan
from planner.plan.input.wave_input import WavesInput, read_waves
from planner.snapshot import Snapshot

_REASONS = {
    RollbackState.DRIFTED: "changed by another tool since",
    RollbackState.BROKER_NOT_LIVE: "on brokers before that are not live now",
    RollbackState.NO_SOURCE: "without a live replica in sync to copy from",
    RollbackState.MOVING: "being moved now",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPreview:
    """
    A rollback, ready to run or not.

    Parameters
    ----------
    plan
        Plan of the rollback, on the cluster as it is now.
    prepared
        Its stages, and what stops it.
    left_out
        Reason for partitions that cannot be brought back.
    num_moving
        Partitions that move now: they are cancelled first, and brought back then.
    """

    plan: RollbackPlan
    prepared: Prepared
    left_out: tuple[str, ...]
    num_moving: int


def preview_rollback(job: Job, now: Snapshot) -> RollbackPreview:
    """
    Return the rollback of a plan on the cluster as it is now.

    Parameters
    ----------
    job
        The plan to roll back.
    now
        The cluster now; what is under way counts as cancelled.

    Raises
    ------
    BadInputError
        If the plan is of another cluster, or nothing says how the lists were before.
    """
    cluster = SimulatedAdmin(now)
    moving = towards(job.plan, cluster.reassignments())
    if moving:
        cluster.reassign(dict.fromkeys(moving))
        cluster.move_replicas(moves_inside(job.plan, cluster))
        now = cluster.snapshot()
    found = _planned(job, now)
    own = OwnThrottles.from_journal(read_journal(job.journal))
    prepared = prepare_run(_job_back(job, found), now, own)
    blockers = (*found.blockers(), *prepared.blockers)
    return RollbackPreview(
        plan=found,
        prepared=replace(prepared, blockers=blockers),
        left_out=tuple(_left_out(found)),
        num_moving=len(moving),
    )


def roll_back(
    job: Job, cluster: RunningCluster, note: Callable[[str], None]
) -> Iterator[Event]:
    """
    Bring back what a plan has changed, and yield what happens.

    Reassignments under way are cancelled first; only then is anything reassigned. The
    plan of the rollback is written into the plan folder before it is carried out. New
    partitions stay: the only event says so.

    Parameters
    ----------
    job
        The plan to roll back.
    cluster
        The cluster.
    note
        Function that shows which partitions are left out.

    Raises
    ------
    BadInputError
        As in `preview_rollback`, or if a run of the plan does not stop.
    ClusterUnavailableError, AnswerUnknownError
        If the cluster does not answer.
    """
    if (wanted := read_creation(job.plan)) is not None:
        yield roll_back_creation(job, wanted, cluster.snapshot())
    else:
        yield from _roll_back_lists(job, cluster, note)


def _roll_back_lists(
    job: Job, cluster: RunningCluster, note: Callable[[str], None]
) -> Iterator[Event]:
    _planned(job, cluster.snapshot())  # refused before anything is cancelled
    for event in cancel(job.plan, job.journal, cluster):
        if not isinstance(event, DoneEvent):
            yield event
        elif event.status != "cancelled":
            yield _failed("what is under way cannot be cancelled", event.set_aside)
            return
    preview = preview_rollback(job, cluster.snapshot())
    for text in preview.left_out:
        note(text)
    if refusals := list(preview.plan.blockers()):
        yield _failed("the way back is not safe", [one.message for one in refusals])
        return
    if job.plan.path.is_dir():
        write_rollback(preview.plan, job.plan.path / ROLLBACK_FOLDER)
    for event in run(_job_back(job, preview.plan), cluster):
        is_short = bool(preview.left_out) and isinstance(event, DoneEvent)
        yield _with_left_out(event, preview.left_out) if is_short else event


def _planned(job: Job, now: Snapshot) -> RollbackPlan:
    rate = job.choices.rate_bytes_per_s
    earlier = list(_earlier(job.plan.path / ROLLBACK_FOLDER))
    return plan_rollback(job.plan, now, earlier=earlier, rate_bytes_per_s=rate)


def _earlier(folder: Path) -> Iterator[WavesInput]:
    """Yield the lists of a rollback that was interrupted, or left partitions out."""
    waves = read_waves(folder) if folder.is_dir() else None
    if waves is not None:
        plan = read_plan(folder)
        listed = plan.document.get("left_out", [])
        left_out = parse_reassignment(
            {"version": 1, "partitions": listed},
            file=f"{folder / DOCUMENT_NAME}, left_out",
        )
        files = (*waves.waves, left_out, *([plan.before] if plan.before else ()))
        yield replace(waves, waves=files)


def _job_back(job: Job, found: RollbackPlan) -> Job:
    return replace(
        job, plan=found.as_plan_input(), waves=found.waves, status="rolled-back"
    )


def _left_out(found: RollbackPlan) -> Iterator[str]:
    for state, reason in _REASONS.items():
        names = [f"{topic}-{n}" for topic, n in (one.key for one in found.of(state))]
        if names:
            yield f"left out, {reason}: {partitions_text(names)}"


def _failed(message: str, reasons: list[str]) -> FailedEvent:
    return FailedEvent(
        time=time_text(utc_now()),
        status="stopped",
        message=f"{message}: {'; '.join(reasons)}" if reasons else message,
        blockers=[],
        next=None,
    )


def _with_left_out(event: Event, left_out: tuple[str, ...]) -> Event:
    """Return the outcome of a rollback that leaves partitions out: not all is back."""
    if not isinstance(event, DoneEvent):
        return event
    status = "stopped" if event.status == "rolled-back" else event.status
    changed = {"status": status, "set_aside": [*event.set_aside, *left_out]}
    return event.model_copy(update=changed)
