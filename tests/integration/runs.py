"""Plans written by hand, and their runs on a real cluster, event by event."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from integration.kafka.cluster import Cluster
from integration.steps import replicas_of
from planner.execution.choices import Choices
from planner.execution.cluster.live_cluster import LiveCluster
from planner.execution.run.journal import journal_path, read_journal
from planner.execution.run.run import Job, run
from planner.execution.run.run_choices import RunChoices
from planner.execution.run.run_records import Event
from planner.execution.undo.cancel import cancel
from planner.kafka.client.client_session import open_cluster
from planner.plan.input.plan_input import read_plan

CRAWL = 15_000
"""Bytes per second at which a copy outlasts a connection, and a fault meets it."""
SLOW = 50_000
"""Bytes per second at which a copy of some hundred kB takes some seconds."""
QUICK = RunChoices(broker_grace_s=3.0, patience_s=40.0, poll_s=0.2)
"""Choices with which faults are noticed in seconds."""
Act = Callable[[], object]


def plan_folder(
    cluster: Cluster,
    folder: Path,
    topic: str,
    lists: Mapping[int, list[int]],
    log_dirs: Mapping[int, list[str]] | None = None,
) -> Path:
    """Write the folder of a plan that gives partitions of a topic other lists."""
    path = folder / "plan"
    path.mkdir(parents=True)
    before, dirs_before = replicas_of(cluster, topic), dirs_of(cluster, topic)
    for name, rows, dirs in (
        ("rollback.json", {number: before[number] for number in lists}, dirs_before),
        ("reassignment.json", lists, log_dirs or {}),
    ):
        entries = [
            {"topic": topic, "partition": number, "replicas": row}
            | ({"log_dirs": dirs[number]} if number in dirs else {})
            for number, row in rows.items()
        ]
        (path / name).write_text(json.dumps({"version": 1, "partitions": entries}))
    document = {
        "format": "kafka-planner/plan",
        "version": 1,
        "goal": "rebalance",
        "snapshot": {"cluster_id": cluster.cluster_id},
        "settings": {},
    }
    (path / "plan.json").write_text(json.dumps(document))
    return path


def dirs_of(cluster: Cluster, topic: str) -> dict[int, list[str]]:
    """Return the log dirs of each partition, in the order of its list."""
    return {
        number: [
            str(path)
            for broker in row
            for path in cluster.log_dirs(broker)
            if (path / f"{topic}-{number}").exists()
        ]
        for number, row in enumerate(replicas_of(cluster, topic))
    }


def fresh(plan: Path) -> Path:
    """Date a plan now, as an unattended run needs it."""
    path = plan / "plan.json"
    document = json.loads(path.read_text())
    document["snapshot"]["taken_at"] = datetime.now(UTC).isoformat()
    path.write_text(json.dumps(document))
    return plan


@contextmanager
def connected(
    bootstrap: str, *options: str, kind: type[LiveCluster] = LiveCluster
) -> Iterator[LiveCluster]:
    """Give a cluster as a run sees it, that waits three seconds for each answer."""
    client = open_cluster(
        bootstrap, None, resolve=options, timeout_s=3.0, note=lambda _: None
    )
    with client:
        yield kind(client)


def job_of(
    plan: Path,
    *,
    rate: int = SLOW,
    choices: RunChoices = QUICK,
    ignore: tuple[str, ...] = (),
    allow_drift: bool = False,
) -> Job:
    """Return the job of a plan, at a rate in bytes per second."""
    return Job(
        plan=read_plan(plan),
        journal=journal_path(plan),
        choices=Choices(rate_bytes_per_s=rate, ignore=ignore, allow_drift=allow_drift),
        run_choices=choices,
    )


def follow(
    job: Job, cluster: LiveCluster, at: Mapping[str, Act] | None = None
) -> list[Event]:
    """
    Carry a plan out to its last event.

    Parameters
    ----------
    job, cluster
        The plan, and the cluster.
    at
        Actions right after the first event of a kind, before the run goes on.
    """
    left = dict(at or {})
    found: list[Event] = []
    for event in run(job, cluster):
        found.append(event)
        if act := left.pop(event.event, None):
            act()
    assert not left, [one.event for one in found]
    return found


def carried_out(
    plan: Path,
    bootstrap: str,
    at: Mapping[str, Act] | None = None,
    **options: Any,
) -> list[Event]:
    """Carry a plan out, and return its events."""
    with connected(bootstrap) as cluster:
        return follow(job_of(plan, **options), cluster, at)


def completed(plan: Path, bootstrap: str, **options: Any) -> list[Event]:
    """Carry out what is left of a plan without a slow throttle, and check its end."""
    found = carried_out(plan, bootstrap, rate=50_000_000, **options)
    assert found[-1].status == "completed", found[-1]
    return found


def cancelled(plan: Path, bootstrap: str) -> list[Event]:
    """Cancel what is under way of a plan, and check that all was taken back."""
    with connected(bootstrap) as cluster:
        found = list(cancel(read_plan(plan), journal_path(plan), cluster))
    assert found[-1].status == "cancelled", found[-1]
    return found


def requested(plan: Path, kind: str = "lists") -> list[tuple[str, int]]:
    """Return the partitions of every request of a kind in the journal of a plan."""
    return [
        (one[0], one[1])
        for line in read_journal(journal_path(plan))
        if line["event"] == "request" and line["kind"] == kind
        for one in line["partitions"]
    ]


def quickly(job: Job) -> Job:
    """Return a job whose copies take no time."""
    return replace(job, choices=replace(job.choices, rate_bytes_per_s=50_000_000))
