"""A large run: only what moves is asked for, and a finished copy admits the next."""

import json
import random
import tracemalloc
from pathlib import Path

from planner.execution.choices import Choices
from planner.execution.run.run import Job, run
from planner.execution.run.run_choices import RunChoices
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.plan.input.plan_input import read_plan
from planner.snapshot import Snapshot

NUM_BROKERS = 50
PER_TOPIC = 1000
MB = 10**6
MOST_ACTIVE = 5 * NUM_BROKERS


def large(folder: Path, num_moves: int) -> tuple[SimulatedAdmin, Path]:
    """Return a cluster and a plan that moves a replica of every partition."""
    draw = random.Random(1)
    brokers = range(1, NUM_BROKERS + 1)
    before = [draw.sample(brokers, 3) for _ in range(num_moves)]
    after = [list(row) for row in before]
    for row in after:
        others = [broker for broker in brokers if broker not in row]
        row[draw.randrange(3)] = draw.choice(others)
    topics = [
        {
            "name": f"t{first // PER_TOPIC}",
            "partitions": [
                {"partition": n, "replicas": row, "size_bytes": 100 * MB}
                for n, row in enumerate(before[first : first + PER_TOPIC])
            ],
        }
        for first in range(0, num_moves, PER_TOPIC)
    ]
    log_dir = {"path": "/a", "size_bytes": 10**15, "usable_bytes": 10**14}
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "large",
        "brokers": [{"id": broker, "log_dirs": [log_dir]} for broker in brokers],
        "topics": topics,
    }
    plan = folder / "plan"
    plan.mkdir()
    for name, rows in (("rollback.json", before), ("reassignment.json", after)):
        entries = [
            {
                "topic": f"t{n // PER_TOPIC}",
                "partition": n % PER_TOPIC,
                "replicas": row,
            }
            for n, row in enumerate(rows)
        ]
        (plan / name).write_text(json.dumps({"version": 1, "partitions": entries}))
    about = {
        "format": "kafka-planner/plan",
        "version": 1,
        "goal": "rebalance",
        "snapshot": {"cluster_id": "large"},
        "settings": {},
    }
    (plan / "plan.json").write_text(json.dumps(about))
    snapshot = Snapshot.from_document(document)
    return SimulatedAdmin(snapshot, rate_bytes_per_s=1000 * MB), plan


def job(plan: Path) -> Job:
    return Job(
        plan=read_plan(plan),
        journal=plan / "journal.jsonl",
        choices=Choices(rate_bytes_per_s=100 * MB),
        run_choices=RunChoices(),
    )


class Asked:
    """Largest number of partitions that a request names."""

    def __init__(self, cluster: SimulatedAdmin, monkeypatch) -> None:
        self.most = 0
        for name in ("partitions", "log_dirs", "reassign"):
            ask = getattr(cluster, name)

            def counted(some, ask=ask):
                self.most = max(self.most, len(some))
                return ask(some)

            monkeypatch.setattr(cluster, name, counted)


def carry_out(cluster: SimulatedAdmin, plan: Path) -> tuple[float, str]:
    """
    Carry a plan out; return the longest wait for the next copy, and the status.

    The first half counts: later, steps wait for brokers that are never free again.
    """
    longest, waits_since, status, num_done = 0.0, None, "", 0
    half = len(read_plan(plan).reassignment.topics) / 2
    for event in run(job(plan), cluster):
        num_done += len(event.partitions) if event.event == "finished" else 0
        if event.event == "finished" and waits_since is None and num_done < half:
            waits_since = cluster.now_s()
        if event.event == "admitted" and waits_since is not None:
            longest = max(longest, cluster.now_s() - waits_since)
            waits_since = None
        if event.event == "done":
            status = event.status
    return longest, status


def test_only_what_moves_is_asked_for_and_a_turn_is_taken_at_once(
    tmp_path, monkeypatch
):
    cluster, plan = large(tmp_path, 3000)
    asked = Asked(cluster, monkeypatch)

    longest, status = carry_out(cluster, plan)

    assert status == "completed"
    assert asked.most <= 2 * MOST_ACTIVE
    # Admission follows a finished copy within a look.
    assert longest <= 2.0


def test_a_run_tracks_each_move_in_little_memory(tmp_path):
    num_moves = 4000
    cluster, plan = large(tmp_path, num_moves)
    events = run(job(plan), cluster)
    tracemalloc.start()
    try:
        assert next(events).event == "started"
        most = max(tracemalloc.get_traced_memory()[0] for _ in events)
    finally:
        tracemalloc.stop()

    # 100,000 moves in 200 MB, the simulated cluster included: 2 kB each.
    assert most / num_moves <= 2000
