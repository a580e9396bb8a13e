"""Large plans for a simulated cluster, and their runs."""

import json
import random
from pathlib import Path

from planner.execution.choices import Choices
from planner.execution.run.run import Job
from planner.execution.run.run_choices import RunChoices
from planner.plan.input.plan_input import read_plan
from planner.snapshot import Snapshot

NUM_BROKERS = 50
PER_TOPIC = 1000
MB = 10**6
MOST_ACTIVE = 5 * NUM_BROKERS


def large(folder: Path, num_moves: int) -> tuple[Snapshot, Path]:
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
    return Snapshot.from_document(document), plan


def job(plan: Path) -> Job:
    return Job(
        plan=read_plan(plan),
        journal=plan / "journal.jsonl",
        choices=Choices(rate_bytes_per_s=100 * MB),
        run_choices=RunChoices(),
    )
