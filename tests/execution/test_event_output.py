"""Events as lines: JSON for programs, words for people, and exit codes."""

import json
import os

import pytest

from planner.cli.common.exit_codes import ExitCode
from planner.cli.run.event_output import EventOutput, event_lines, exit_code
from planner.execution.apply_records import BlockerRecord
from planner.execution.run.run_records import (
    AdmittedEvent,
    CancelledEvent,
    CancelPreviewEvent,
    CleanedEvent,
    DoneEvent,
    ElectionEvent,
    FailedEvent,
    FinishedEvent,
    PartitionRecord,
    PausedEvent,
    ProgressEvent,
    ResumedEvent,
    SetAsideEvent,
    StartedEvent,
    StuckEvent,
    ThrottleEvent,
)
from planner.execution.stages import StageKind

AT = {"time": "2026-11-27T03:04:05.000Z"}
SOME = [PartitionRecord(topic="t", partition=n, replicas=(1, 3)) for n in range(5)]
COPIES = StageKind.COPIES


def done(status="completed", **more):
    fields = {
        "reason": None, "completed": 5, "not_completed": 0, "still_running": 0,
        "set_aside": [], "throttles_left": [], "findings": [], "seconds": 90.0,
        "next": None,
    }  # fmt: skip
    return DoneEvent(**AT, status=status, **(fields | more))


def failed(status):
    blocker = BlockerRecord(
        rule="drifted", count=1, message="1 differs", remedy="plan again", ignored=False
    )
    return FailedEvent(
        **AT, status=status, message="no", blockers=[blocker], next="apply"
    )


PROGRESS = ProgressEvent(
    **AT, stage=COPIES, done=1, active=2, waiting=3, set_aside=0, copied_bytes=10,
    left_bytes=5_000_000, bytes_per_s=1_000_000.0, eta_s=5.0, brokers=[], copies=[],
)  # fmt: skip

WORDS = [
    (
        StartedEvent(
            **AT, plan_id="abc", cluster_id=None, is_resumed=False, stages=[COPIES],
            partitions=5, bytes=5_000_000, throttle_bytes_per_s=None,
        ),
        "03:04:05 started, plan id abc: 5 partitions, 5 MB, no throttle",
    ),
    (
        AdmittedEvent(**AT, stage=COPIES, partitions=SOME, bytes=5_000_000),
        "03:04:05 begins: t-0, t-1, t-2 and 2 more, 5 MB",
    ),
    (
        FinishedEvent(**AT, stage=COPIES, partitions=SOME[:1]),
        "03:04:05 ended: t-0",
    ),
    (
        SetAsideEvent(
            **AT, partitions=SOME[:1], reason="broker 3: down", is_cancelled=True
        ),
        "03:04:05 cancelled: t-0: broker 3: down",
    ),
    (
        StuckEvent(**AT, topic="t", partition=0, reason="no leader"),
        "03:04:05 stuck: t-0: no leader",
    ),
    (
        StuckEvent(**AT, topic=None, partition=None, reason="silent"),
        "03:04:05 stuck: silent",
    ),
    (PausedEvent(**AT, reason="x"), "03:04:05 paused, what runs goes on: x"),
    (ResumedEvent(**AT), "03:04:05 copies begin again"),
    (
        ThrottleEvent(**AT, bytes_per_s=5_000_000, reason="set by the operator"),
        "03:04:05 throttle: 5 MB/s per broker, set by the operator",
    ),
    (
        ElectionEvent(**AT, elected=1, refused=["t-0: not in sync"]),
        "03:04:05 elected 1 preferred leader; refused: t-0: not in sync",
    ),
    (CancelledEvent(**AT, partitions=SOME[:1]), "03:04:05 taken back: t-0"),
    (
        CancelPreviewEvent(**AT, partitions=[], throttles=["broker 1"]),
        "03:04:05 would take back: nothing; throttles of the runs: broker 1; nothing "
        "was changed, --yes does it",
    ),
    (CleanedEvent(**AT, left=[]), "03:04:05 throttles are off"),
    (CleanedEvent(**AT, left=["broker 3"]), "03:04:05 throttles are left: broker 3"),
]  # fmt: skip


@pytest.mark.parametrize(("event", "words"), WORDS)
def test_each_event_is_a_line(event, words):
    assert event_lines(event) == [words]


def test_the_last_line_says_what_is_left_and_how_to_go_on():
    event = done(
        "stopped",
        reason="the longest duration is over",
        completed=3,
        not_completed=2,
        still_running=1,
        set_aside=[f"t-{n}: down" for n in range(22)],
        throttles_left=["broker 3: it is down"],
        findings=["in-progress: 1 moves"],
        next="kafka-planner apply plan --yes",
    )

    lines = event_lines(event)

    assert lines[0] == "stopped: 3 of 5 partitions as planned, after 2 min"
    assert lines[1] == "Stopped    the longest duration is over"
    assert lines[2] == "Running    1 partition inside Kafka, with their throttles"
    assert lines[-4] == "           … and 2 more; --format json lists all"
    assert lines[-3] == "Throttle   left on broker 3: it is down"
    assert lines[-2] == "Finding    in-progress: 1 moves"
    assert lines[-1] == "Next       kafka-planner apply plan --yes"


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (done(), ExitCode.OK),
        (done("rolled-back"), ExitCode.OK),
        (done("cancelled"), ExitCode.OK),
        (done("stopped"), ExitCode.FINDINGS),
        (done(throttles_left=["broker 3: it is down"]), ExitCode.FINDINGS),
        (failed("stopped"), ExitCode.FINDINGS),
        (failed("unknown"), ExitCode.ANSWER_UNKNOWN),
    ],
)
def test_the_last_event_has_an_exit_code(event, code):
    assert exit_code(event) is code


def test_json_has_a_line_for_each_event(capsys):
    code = EventOutput(is_json=True, quiet=True).print_all([PROGRESS, done("stopped")])

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["progress", "done"]
    assert code is ExitCode.FINDINGS


def test_quiet_prints_the_outcome_alone(capsys):
    output = EventOutput(is_json=False, quiet=True)
    output.print_all([PausedEvent(**AT, reason="x"), PROGRESS, failed("stopped")])

    assert capsys.readouterr().out.splitlines() == [
        "stopped: no",
        "  drifted: 1 differs; plan again",
        "Next       apply",
    ]


def test_progress_is_a_line_once_in_a_while_without_a_terminal(capsys):
    EventOutput(is_json=False, quiet=False).print_all([PROGRESS, PROGRESS])

    assert capsys.readouterr().out.splitlines() == [
        "03:04:05 copies: 2 under way, 3 wait, 1 done; 5 MB left at 1 MB/s, about 5 s"
    ]


@pytest.mark.parametrize("is_json", [False, True])
def test_a_run_goes_on_and_keeps_its_exit_code_without_a_reader(monkeypatch, is_json):
    reading, writing = os.pipe()
    os.close(reading)
    events = [
        ElectionEvent(**AT, elected=1, refused=[]),
        ElectionEvent(**AT, elected=2, refused=[]),
        done("stopped"),
    ]
    with os.fdopen(writing, "w", buffering=1, encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        code = EventOutput(is_json=is_json, quiet=False).print_all(events)

    assert code == ExitCode.FINDINGS
