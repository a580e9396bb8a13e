"""Cancelling of a plan: what is under way is taken back, and throttles come off."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from planner.errors import BadInputError
from planner.execution.admission import MOST_PER_REQUEST
from planner.execution.cluster.running_cluster import (
    Reassigned,
    ReplicaKey,
    RunningCluster,
)
from planner.execution.run.controls import ControlFile, control_path
from planner.execution.run.journal import (
    Journal,
    parts_of,
    read_journal,
    time_text,
    utc_now,
)
from planner.execution.run.run_context import records
from planner.execution.run.run_lock import run_lock
from planner.execution.run.run_records import (
    CancelledEvent,
    CancelPreviewEvent,
    CleanedEvent,
    DoneEvent,
    Event,
)
from planner.execution.run.run_throttles import OwnThrottles, RunThrottles
from planner.kafka.read.log_dirs import Partition
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.plan.input.plan_input import PlanInput
from planner.plan.input.wave_input import read_waves
from planner.verify.state_rows import Brokers, Key, entries_of
from planner.verify.whole_plan import verify_read

ROLLBACK_FOLDER = "rollback"
"""Folder in the plan folder with the plan of its last rollback."""
HANDOVER_S = 60.0
"""Seconds in which a run that is under way has to end."""
_POLL_S = 1.0
_ENDS_WITHIN_S = 60.0


@contextmanager
def taken_over(journal: Path, cluster: RunningCluster) -> Iterator[None]:
    """
    Hold the lock of a plan, after a run that holds it has stopped by itself.

    Raises
    ------
    BadInputError
        If the run does not stop in time.
    """
    began = cluster.now_s()
    control = ControlFile(control_path(journal))
    while True:
        lock = run_lock(journal)
        try:
            lock.__enter__()
            break
        except BadInputError:
            if cluster.now_s() - began >= HANDOVER_S:
                raise
            control.write(replace(control.read(), is_stopped=True))
            cluster.sleep(_POLL_S)
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def cancel(plan: PlanInput, journal: Path, cluster: RunningCluster) -> Iterator[Event]:
    """
    Cancel what is under way of a plan, and take off the throttles of its runs.

    Parameters
    ----------
    plan
        The plan.
    journal
        Path of the journal of its runs; it may not exist.
    cluster
        The cluster.

    Raises
    ------
    BadInputError
        If a run of the plan does not stop.
    ClusterUnavailableError, AnswerUnknownError
        If the cluster does not answer.
    """
    began = cluster.now_s()
    with taken_over(journal, cluster), Journal(journal) as lines:
        refused: dict[str, str] = {}
        for some in parts_of(
            sorted(towards(plan, cluster.reassignments()).items()), MOST_PER_REQUEST
        ):
            lists = dict(some)
            lines.write("request", kind="cancel", partitions=list(lists))
            found = cluster.reassign(dict.fromkeys(lists))
            texts = {f"{topic}-{p}": why for (topic, p), why in found.items()}
            lines.write("answer", refused=texts)
            refused |= texts
            taken = records((k, row) for k, row in lists.items() if k not in found)
            yield CancelledEvent(time=time_text(utc_now()), partitions=taken)
        _stop_moves_inside(plan, cluster, lines)
        running = _wait(plan, cluster)
        own = OwnThrottles.from_journal(read_journal(journal))
        left = RunThrottles(cluster, lines, own, None).clean() if not running else []
        yield CleanedEvent(time=time_text(utc_now()), left=left)
        yield _verdict(plan, cluster, refused, running, left, cluster.now_s() - began)
        with suppress(OSError):
            ControlFile(control_path(journal)).remove()


def under_way(
    plan: PlanInput, journal: Path, cluster: RunningCluster
) -> Iterator[Event]:
    """Yield what `cancel` would take back, without changing anything."""
    own = OwnThrottles.from_journal(read_journal(journal))
    yield CancelPreviewEvent(
        time=time_text(utc_now()),
        partitions=records(sorted(towards(plan, cluster.reassignments()).items())),
        throttles=[f"{place.scope} {place.name}" for place in own.places],
    )


def _lists(plan: PlanInput) -> dict[Key, set[Brokers]]:
    """Return every list that the plan gives to each partition, on its way and back."""
    found: dict[Key, set[Brokers]] = {}
    for file in (plan.reassignment, plan.before, *_waves(plan)):
        for entry in entries_of(file):
            found.setdefault(entry.key, set()).add(entry.replicas)
    return found


def _waves(plan: PlanInput) -> Iterator[ReassignmentFile]:
    """Yield the waves of the plan, and of the rollback in its folder."""
    for folder in (plan.path, plan.path / ROLLBACK_FOLDER):
        waves = read_waves(folder) if folder.is_dir() else None
        yield from () if waves is None else waves.waves


def towards(plan: PlanInput, moving: Mapping[Key, Reassigned]) -> dict[Key, Brokers]:
    """Return the reassignments towards a list of a plan; those of others are not."""
    lists = _lists(plan)
    return {
        key: one.target
        for key, one in moving.items()
        if one.target in lists.get(key, ())
    }


def moves_inside(plan: PlanInput, cluster: RunningCluster) -> dict[ReplicaKey, str]:
    """Return the log dirs of replicas that are on their way to those of a plan."""
    planned: set[tuple[ReplicaKey, str]] = {
        ((entry.key, broker), path)
        for file in (plan.reassignment, plan.before)
        for entry in entries_of(file)
        for broker, path in zip(entry.replicas, entry.log_dirs or (), strict=False)
        if path is not None
    }
    if not planned:
        return {}
    dirs = cluster.log_dirs({replica for replica, _ in planned})
    stay: dict[ReplicaKey, str] = {}
    for (key, broker), path in sorted(planned):
        found, name = dirs.get(broker), Partition(*key)
        if found is None or name not in found.future or name not in found.current:
            continue
        if found.future[name].path == path:
            stay[key, broker] = found.current[name].path
    return stay


def _stop_moves_inside(
    plan: PlanInput, cluster: RunningCluster, journal: Journal
) -> None:
    """Leave replicas in their log dirs that are on their way to those of the plan."""
    if stay := moves_inside(plan, cluster):
        named = [[*key, broker, path] for (key, broker), path in stay.items()]
        journal.write("request", kind="log-dirs", replicas=named)
        cluster.move_replicas(stay)


def _wait(plan: PlanInput, cluster: RunningCluster) -> int:
    """Return the reassignments of the plan that are left, after some time if any."""
    began = cluster.now_s()
    while left := len(towards(plan, cluster.reassignments())):
        if cluster.now_s() - began >= _ENDS_WITHIN_S:
            return left
        cluster.sleep(_POLL_S)
    return 0


def _verdict(
    plan: PlanInput,
    cluster: RunningCluster,
    refused: Mapping[str, str],
    running: int,
    left: list[str],
    seconds: float,
) -> DoneEvent:
    found = verify_read(plan, cluster.snapshot())
    completed = found.counts["completed"]
    is_fine = not refused and not running
    return DoneEvent(
        time=time_text(utc_now()),
        status="cancelled" if is_fine else "stopped",
        reason=None,
        completed=completed,
        not_completed=sum(found.counts.values()) - completed,
        still_running=running,
        set_aside=[f"{name}: {why}" for name, why in refused.items()],
        throttles_left=left,
        findings=[f"{one.rule}: {one.message}" for one in found.findings],
        seconds=seconds,
        next=None,
    )
