"""`cancel` and `rollback` killed at every step: the same command again ends them."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.half_done import BEFORE, LISTS, half_done
from integration.kafka.cluster import Cluster
from integration.killed import Doomed, Moment, events_of
from integration.runs import completed, connected
from planner.execution.run.journal import read_journal
from support.profile import sampled

pytestmark = pytest.mark.kafka

QUICK = 50_000_000
CANCEL_LINES = [
    "request cancel",
    "answer",
    "cleaned",
]
ROLLBACK_LINES = [
    *CANCEL_LINES,
    "started",
    "before",
    "before",
    "throttled",  # rates of brokers
    "throttled",  # lists of the topic
    "request log-dirs",
    "answer",
    "request lists",
    "answer",
    "finished",
    "request lists",  # another order
    "answer",
    "finished",
    "request election",
    "answer",
    "cleaned",
    "ended",
]
QUICK_ONES = (
    "before-request-cancel",
    "after-request-cancel",
    "before-answer",
    "before-cleaned",
    "after-throttled-2",
    "after-request-log-dirs",
    "after-request-lists",
    "after-request-election",
    "before-cleaned-2",
)


def moments(lines: list[str], first: int = 0) -> list[Any]:
    """
    Return the moments before each line from one on, and before what it announces.

    Those of which another one is much the same take their time in `make soak`, and by
    day two thirds of the others.
    """
    found = []
    for at, line in enumerate(lines[first:], first):
        event, _, kind = line.partition(" ")
        nth = lines[: at + 1].count(line)
        found.append(Moment("before", event, nth, kind or None))
        if event in {"throttled", "request"}:
            found.append(Moment("after", event, nth, kind or None))
    return [
        pytest.param(
            one,
            marks=() if str(one) in sampled(QUICK_ONES) else pytest.mark.soak,
            id=str(one),
        )
        for one in found
    ]


@pytest.fixture(scope="module")
def doomed() -> Iterator[Doomed]:
    with Doomed() as found:
        yield found


def lines_of(plan: Path, first: int) -> list[str]:
    """Return the events of the journal from a line on, requests with their kind."""
    lines = list(read_journal(plan / "journal.jsonl"))[first:]
    return [
        " ".join((one["event"], *([one["kind"]] if "kind" in one else [])))
        for one in lines
    ]


@pytest.mark.parametrize(
    ("task", "wanted"), [("cancel", CANCEL_LINES), ("rollback", ROLLBACK_LINES)]
)
def test_a_command_writes_the_lines_that_the_others_are_killed_at(
    slow_cluster: Cluster, tmp_path, task, wanted
):
    half = half_done(slow_cluster, tmp_path, f"undo-{task}")
    first = len(list(read_journal(half.plan / "journal.jsonl")))

    with connected(slow_cluster.bootstrap) as cluster:
        list(events_of(task, half.plan, QUICK, cluster))

    assert lines_of(half.plan, first) == wanted


@pytest.mark.parametrize("moment", moments(CANCEL_LINES))
def test_the_next_cancel_goes_on(
    slow_cluster: Cluster, doomed: Doomed, tmp_path, moment: Moment
):
    half = half_done(slow_cluster, tmp_path, f"cancel-{moment}")

    status = doomed.run("cancel", half.plan, slow_cluster.bootstrap, QUICK, moment)
    half.messages.write(3)
    with connected(slow_cluster.bootstrap) as cluster:
        last = list(events_of("cancel", half.plan, QUICK, cluster))[-1]

    assert status == signal.SIGKILL
    assert (last.status, last.still_running, last.set_aside) == ("cancelled", 0, [])
    half.check()
    # What was taken back may have another order.
    assert sorted(half.replicas[0]) == sorted(BEFORE[0])
    assert half.replicas[1:] == [LISTS[1], BEFORE[2]]
    completed(half.plan, slow_cluster.bootstrap)
    assert half.replicas == list(LISTS.values())
    half.check()


@pytest.mark.parametrize("moment", moments(ROLLBACK_LINES, first=len(CANCEL_LINES)))
def test_the_next_rollback_goes_on(
    slow_cluster: Cluster, doomed: Doomed, tmp_path, moment: Moment
):
    half = half_done(slow_cluster, tmp_path, f"rollback-{moment}")

    status = doomed.run("rollback", half.plan, slow_cluster.bootstrap, 60_000, moment)
    half.messages.write(3)
    with connected(slow_cluster.bootstrap) as cluster:
        last = list(events_of("rollback", half.plan, QUICK, cluster))[-1]

    assert status == signal.SIGKILL
    assert last.status == "rolled-back", last
    half.check_back()
