"""The planner killed at every step of a run: the next run goes on, to the end."""

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.kafka.cluster import Cluster
from integration.killed import Doomed, Moment, noted, sent
from integration.messages import Messages
from integration.runs import connected, follow, job_of, plan_folder, quickly
from integration.shell import throttles
from integration.steps import create, replicas_of
from planner.execution.run.journal import journal_path, read_journal
from support.profile import sampled

pytestmark = pytest.mark.kafka

# Some seconds of copying, so that the next run finds it running.
RATE = 60_000
LISTS = {0: [1, 3], 1: [1, 2]}
LINES = [
    "started",
    "before",
    "before",
    "throttled",  # rates of brokers
    "throttled",  # lists of the topic
    "request",  # log dirs
    "answer",
    "request",  # a copy
    "answer",
    "finished",
    "request",  # another order
    "answer",
    "finished",
    "request",  # an election
    "answer",
    "cleaned",
    "ended",
]
MOMENTS = [("before", n) for n in range(1, len(LINES) + 1)] + [
    ("after", n)
    for n, event in enumerate(LINES, 1)
    if event in {"throttled", "request", "cleaned"}
]
"""Before each line, and before what the line announces is done."""


@pytest.fixture(scope="module")
def doomed() -> Iterator[Doomed]:
    with Doomed() as found:
        yield found


def prepared(cluster: Cluster, folder: Path, topic: str) -> tuple[Path, Messages]:
    """Return a plan with a copy to a log dir, another order, and an election."""
    create(cluster, topic, [[1, 2], [2, 1]])
    messages = Messages(cluster.bootstrap, topic, 2).write(20)
    dirs = {0: ["any", str(cluster.log_dirs(3)[1])]}
    return plan_folder(cluster, folder, topic, LISTS, dirs), messages


def test_a_run_writes_the_lines_that_the_others_are_killed_at(
    slow_cluster: Cluster, tmp_path
):
    plan, _ = prepared(slow_cluster, tmp_path, "killed-never")

    with connected(slow_cluster.bootstrap, kind=noted(plan)) as cluster:
        follow(job_of(plan, rate=RATE), cluster)

    assert [line["event"] for line in read_journal(journal_path(plan))] == LINES


@pytest.mark.parametrize(("when", "line"), sampled(MOMENTS))
def test_the_next_run_goes_on(
    slow_cluster: Cluster, doomed: Doomed, tmp_path, when: str, line: int
):
    topic = f"killed-{when}-{line}"
    plan, messages = prepared(slow_cluster, tmp_path, topic)
    before = throttles(slow_cluster)

    moment = Moment(when, nth=line)
    status = doomed.run("apply", plan, slow_cluster.bootstrap, RATE, moment)
    messages.write(3)
    with connected(slow_cluster.bootstrap, kind=noted(plan)) as cluster:
        events = follow(quickly(job_of(plan)), cluster)

    assert status == signal.SIGKILL
    assert events[-1].status == "completed", events[-1]
    assert replicas_of(slow_cluster, topic) == list(LISTS.values())
    assert set(Counter(map(tuple, sent(plan))).values()) == {1}
    assert throttles(slow_cluster, until=before) == before
    messages.check()
