"""Small simulated clusters, plans written by hand, and their runs."""

import json
from collections import Counter
from pathlib import Path

from hypothesis import strategies as st

from planner.execution.choices import Choices
from planner.execution.run.run import Job
from planner.execution.run.run_choices import RunChoices
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.kafka.actions.config_changes import Place
from planner.plan.input.plan_input import read_plan
from planner.snapshot import Snapshot

MB = 10**6
RATE = 10 * MB
SIZE = 100 * MB
BROKERS = (1, 2, 3, 4, 5)
FAST = 1000 * MB
TOPIC_ID = "tsqI6n7kjqos8KYa3Mjy8w"


def make_cluster(
    lists, *, size=SIZE, free=100_000 * MB, dirs=("/a",), topic_id=TOPIC_ID, **more
):
    """Return a simulated cluster with one topic, and three brokers to fill."""
    log_dirs = [
        {"path": path, "size_bytes": 2 * free, "usable_bytes": free} for path in dirs
    ]
    partitions = [
        {
            "partition": number,
            "replicas": list(row),
            "size_bytes": size,
            "log_dirs": [dirs[0]] * len(row),
        }
        for number, row in enumerate(lists)
    ]
    topic = {
        "name": "t",
        "topic_id": topic_id,
        "configs": {"min.insync.replicas": "1"},
        "partitions": partitions,
    }
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "simulated",
        "taken_at": "2026-11-27T08:00:00Z",
        "brokers": [{"id": b, "log_dirs": log_dirs} for b in BROKERS],
        "topics": [topic],
    }
    return SimulatedAdmin(
        Snapshot.from_document(document), rate_bytes_per_s=FAST, **more
    )


def write_plan(folder: Path, before, after, dirs=None) -> Path:
    path = folder / "plan"
    path.mkdir(exist_ok=True)
    for name, rows in (("rollback.json", before), ("reassignment.json", after)):
        entries = [
            {"topic": "t", "partition": number, "replicas": list(row)}
            | ({"log_dirs": dirs[name][number]} if dirs else {})
            for number, row in enumerate(rows)
        ]
        document = {"version": 1, "partitions": entries}
        (path / name).write_text(json.dumps(document))
    document = {
        "format": "kafka-planner/plan",
        "version": 1,
        "goal": "rebalance",
        "snapshot": {"cluster_id": "simulated"},
        "topic_ids": {"t": TOPIC_ID},
        "settings": {},
    }
    (path / "plan.json").write_text(json.dumps(document))
    return path


def job(path: Path, rate=RATE, **more) -> Job:
    return Job(
        plan=read_plan(path),
        journal=path / "journal.jsonl",
        choices=Choices(
            rate_bytes_per_s=rate,
            has_throttle=rate is not None,
            ignore=frozenset(more.pop("ignore", ())),
        ),
        run_choices=RunChoices(**more),
    )


def lists(cluster, count):
    found = cluster.partitions([("t", number) for number in range(count)])
    return [found["t", number].replicas for number in range(count)]


def throttles(cluster):
    places = [Place("topic", "t"), *(Place("broker", str(b)) for b in BROKERS)]
    found = cluster.configs(places)
    return {place: values for place, values in found.items() if values}


def kinds(events):
    return Counter(event.event for event in events)


MOVES = [((1, 2), (1, 3)), ((2, 1), (3, 1)), ((1, 2), (2, 1)), ((4, 5), (4, 5))]
BEFORE, AFTER = [m[0] for m in MOVES], [m[1] for m in MOVES]


@st.composite
def plans(draw):
    """Draw lists before and after, of one new replica at most."""
    before, after = [], []
    for _ in range(draw(st.integers(1, 8))):
        row = draw(st.permutations(BROKERS))
        old = list(row[:3])
        new = list(old)
        if draw(st.booleans()):
            new[draw(st.integers(0, 2))] = row[3]
        before.append(tuple(old))
        after.append(tuple(draw(st.permutations(new))))
    return before, after


FAULTS = st.lists(
    st.tuples(
        st.sampled_from(["cut", "answers", "requests", "restart"]),
        st.integers(0, 60),
        st.integers(1, 5),
    ),
    max_size=4,
)


def inject(cluster, faults):
    for kind, at_s, number in faults:
        if kind == "cut":
            cluster.at(at_s, lambda n=number: cluster.network.cut(20.0 * n))
        elif kind == "answers":
            cluster.at(at_s, lambda n=number: cluster.network.lose_answers(n))
        elif kind == "requests":
            cluster.at(at_s, lambda n=number: cluster.network.lose_requests(n))
        else:
            cluster.at(at_s, lambda n=number: cluster.kill(n))
            cluster.at(at_s + 30, lambda n=number: cluster.restart(n))
