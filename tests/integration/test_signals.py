"""SIGTERM and Ctrl-C at every stage of `apply`, `cancel` and `rollback`."""

import os
import signal
from collections.abc import Iterator

import pytest

from integration.half_done import LISTS, HalfDone, half_done, planned
from integration.kafka.cluster import Cluster
from integration.killed import Doomed, Moment, Task, events_of
from integration.planner import run_here
from integration.runs import completed, connected, fresh
from support.profile import sampled

pytestmark = pytest.mark.kafka

SLOW, QUICK = "30KB/s", "50MB/s"
OPENING = Moment("opening")
BEGINNING = Moment("before", "started")
THROTTLED = Moment("before", "request", kind="lists")
CANCELLING = Moment("after", "request", kind="cancel")
COPYING = Moment("after", "answer")
ELECTING = Moment("after", "request", kind="election")
CLEANING = Moment("before", "cleaned")
CTRL_C, TERM = signal.SIGINT, signal.SIGTERM


def stages(*moments: tuple[str, Moment, signal.Signals]) -> list[object]:
    """
    Return each stage with its signal, and in `make soak` also with the other one.

    By day every third stage is tried, the others are in `make soak` with both.
    """
    other, soak = {CTRL_C: TERM, TERM: CTRL_C}, pytest.mark.soak
    usual = sampled(moments)
    return [
        pytest.param(moment, sign, id=f"{name}-{sign.name}", marks=marks)
        for name, moment, first in moments
        for sign, marks in (
            (first, () if (name, moment, first) in usual else soak),
            (other[first], soak),
        )
    ]


@pytest.fixture(scope="module")
def doomed() -> Iterator[Doomed]:
    with Doomed() as found:
        yield found


def interrupted(
    doomed: Doomed,
    trial: HalfDone,
    moment: Moment,
    sign: signal.Signals,
    *words: str,
) -> str:
    """Interrupt a command, look at its exit code, and return what it said."""
    command, *options = words
    where = ("--bootstrap-server", trial.cluster.bootstrap, "--yes")
    said = trial.plan.parent / "said"
    whole = [command, str(trial.plan), *where, *options]
    status = doomed.command(whole, said, moment, sign)
    text = said.read_text()
    assert os.waitstatus_to_exitcode(status) == 130, text
    assert "Traceback" not in text
    return text


def check_words(text: str, command: Task, moment: Moment, number: int) -> None:
    """Look for what is under way, and for the command that goes on."""
    if moment is OPENING:  # nothing is known yet, and nothing was changed
        assert "to go on" not in text
        return
    what = "reassignment" if number == 1 else "reassignments"
    runs = f"{number} {what} of the plan go on inside Kafka, " if number else "nothing"
    assert f"interrupted: {runs}" in text
    next_line = text.partition("to go on:")[2].splitlines()[0]
    assert f"kafka-planner {command} " in next_line
    assert next_line.endswith(" --yes")
    assert ("kafka-planner cancel" in text.partition("to stop:")[2]) is (
        command != "cancel"
    )


@pytest.mark.parametrize(
    ("moment", "sign"),
    stages(
        ("opening", OPENING, TERM),
        ("beginning", BEGINNING, CTRL_C),
        ("throttled", THROTTLED, TERM),
        ("copying", COPYING, CTRL_C),
        ("electing", ELECTING, TERM),
        ("cleaning", CLEANING, CTRL_C),
    ),
)
def test_apply_is_interrupted_and_goes_on(
    slow_cluster: Cluster, doomed: Doomed, tmp_path, moment: Moment, sign
):
    trial = planned(slow_cluster, tmp_path, f"signal-apply-{moment}-{sign}")
    rate = QUICK if moment in {ELECTING, CLEANING} else SLOW
    where = ("--bootstrap-server", slow_cluster.bootstrap, "--format", "json")
    options = ("--throttle", rate, "--sample-seconds", "0")
    seen = run_here("apply", fresh(trial.plan), *where, *options)
    plan_id = ("--plan-id", seen.document["plan_id"])

    text = interrupted(doomed, trial, moment, sign, "apply", *options, *plan_id)

    check_words(text, "apply", moment, 2 if moment is COPYING else 0)
    completed(trial.plan, slow_cluster.bootstrap)
    assert trial.replicas == list(LISTS.values())
    trial.check()


@pytest.mark.parametrize(
    ("moment", "sign"),
    stages(
        ("opening", OPENING, TERM),
        ("cancelling", CANCELLING, CTRL_C),
        ("cancelled", COPYING, TERM),
        ("cleaning", CLEANING, CTRL_C),
    ),
)
def test_cancel_is_interrupted_and_goes_on(
    slow_cluster: Cluster, doomed: Doomed, tmp_path, moment: Moment, sign
):
    trial = half_done(slow_cluster, tmp_path, f"signal-cancel-{moment}-{sign}")

    text = interrupted(doomed, trial, moment, sign, "cancel")

    check_words(text, "cancel", moment, 1 if moment is CANCELLING else 0)
    where = ("--bootstrap-server", slow_cluster.bootstrap, "--yes")
    again = run_here("cancel", trial.plan, *where)
    assert again.code == 0, again.out + again.err
    trial.check()


@pytest.mark.parametrize(
    ("moment", "sign"),
    stages(
        ("opening", OPENING, TERM),
        ("cancelling", CANCELLING, CTRL_C),
        ("throttled", THROTTLED, CTRL_C),
        ("copying", Moment("after", "answer", 3), TERM),
        ("electing", ELECTING, CTRL_C),
        ("cleaning", Moment("before", "cleaned", 2), TERM),
    ),
)
def test_rollback_is_interrupted_and_goes_on(
    slow_cluster: Cluster, doomed: Doomed, tmp_path, moment: Moment, sign
):
    trial = half_done(slow_cluster, tmp_path, f"signal-rollback-{moment}-{sign}")

    text = interrupted(doomed, trial, moment, sign, "rollback", "--throttle", QUICK)

    assert ("to go on" in text) is (moment is not OPENING)
    with connected(slow_cluster.bootstrap) as cluster:
        last = list(events_of("rollback", trial.plan, 50_000_000, cluster))[-1]
    assert last.status == "rolled-back", last
    trial.check_back()
