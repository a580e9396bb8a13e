"""Remaining steps of a plan, with their commands."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.kafka_commands import KafkaCommands
from planner.plan.documents.check_records import (
    MoveRecord,
    StepRecord,
    VerifyFindingRecord,
)
from planner.text.format import ids_text, plural
from planner.throttles import Throttle, removals
from planner.verify.partition_status import Overall
from planner.verify.plan_files import PlanFiles
from planner.verify.unstarted_part import UnstartedPart
from planner.verify.wave_progress import WaveProgress

CANCEL_NOTES = {
    False: "a cancel ends every reassignment of the file that still moves, and removes "
    "the throttles of all brokers",
    True: "a cancel ends every reassignment of the file that still moves; throttles "
    "are left, since Kafka's tool would wait for the broker that is down",
}
"""Effect of a cancel: key true if some broker is down."""


Steps = Iterator[StepRecord]
RATE = "BYTES_PER_S"
"""Placeholder for a throttle that the operator chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """
    State of a plan, which determines the remaining steps.

    Parameters
    ----------
    findings
        Findings, one for each cause.
    overall
        Status of the plan.
    waves
        Progress of its waves.
    left_behind
        Throttles that no running copy needs.
    moves
        Partitions of the plan that are being moved.
    unstarted
        The part of the plan that has not started.
    creates
        Whether the plan creates partitions, with another of Kafka's tools.
    is_broker_down
        Whether any broker of the cluster is not live.
    """

    findings: Sequence[VerifyFindingRecord]
    overall: Overall
    waves: Sequence[WaveProgress]
    left_behind: Sequence[Throttle]
    moves: Sequence[MoveRecord]
    unstarted: UnstartedPart
    creates: bool = False
    is_broker_down: bool = False

    @property
    def num_moving(self) -> int:
        """Number of partitions that move and can finish."""
        return sum(move.can_finish for move in self.moves)

    def of(self, rule: str) -> list[VerifyFindingRecord]:
        """Return the findings of a rule."""
        return [finding for finding in self.findings if finding.rule == rule]


def steps_left(
    now: Situation, files: PlanFiles, kafka: KafkaCommands
) -> list[StepRecord]:
    """
    Return the remaining steps, in order; empty without any.

    Parameters
    ----------
    now
        State of the plan.
    files
        Files that the commands name.
    kafka
        Commands for the cluster.
    """
    return [
        *_stuck(now, files, kafka),
        *_waiting(now, files, kafka),
        *_superseded(now, kafka),
        *_moving(now, files, kafka),
        *_to_start(now, files, kafka),
        *_differing_steps(now, files, kafka),
        *_log_dirs(now, files, kafka),
        *_elections(now, files, kafka),
        *_throttles(now, kafka),
    ]


def _stuck(now: Situation, files: PlanFiles, kafka: KafkaCommands) -> Steps:
    if count := _count(now, "stuck"):
        yield _step(
            f"{_partitions(count)} can never finish: the same brokers are added and "
            f"removed. Cancel; {CANCEL_NOTES[now.is_broker_down]}",
            kafka.cancel(files.whole, keeps_throttles=now.is_broker_down),
        )


def _waiting(now: Situation, files: PlanFiles, kafka: KafkaCommands) -> Steps:
    for finding in now.of("no-source"):
        yield _step(
            f"{_partitions(finding.count)} have no live replica to copy from: bring "
            "the brokers with the last copies back. An unclean election would start "
            "from a log without the latest messages"
        )
    waits = now.of("waits")
    for finding in waits:
        broker, path = finding.where.broker, finding.where.log_dir
        what = f"{_partitions(finding.count)} cannot finish until"
        if path is not None:
            yield _step(f"{what} broker {broker} has its log dir {path} again")
        elif broker is not None:
            yield _step(f"{what} broker {broker} is back: start it")
        else:
            yield _step(f"{what} a replica that stays is in sync again")
    if waits and now.moves:
        yield _step(
            f"if that cannot be: cancel, and plan anew; "
            f"{CANCEL_NOTES[now.is_broker_down]}",
            kafka.cancel(files.whole, keeps_throttles=now.is_broker_down),
        )


def _superseded(now: Situation, kafka: KafkaCommands) -> Steps:
    if count := _count(now, "superseded"):
        yield _step(
            f"{_partitions(count)} move to another place than this plan asks: wait "
            "for that, or cancel it by the file that started it",
            kafka.list_moves(),
        )


def _moving(now: Situation, files: PlanFiles, kafka: KafkaCommands) -> Steps:
    if now.num_moving:
        yield _step(
            f"wait for {_partitions(now.num_moving)}; then this removes the throttles",
            kafka.verify(files.whole),
        )


def _to_start(now: Situation, files: PlanFiles, kafka: KafkaCommands) -> Steps:
    if now.overall is Overall.COMPLETED or now.overall is Overall.DIFFERS:
        return
    if now.waves:
        yield from _next_wave(now, files, kafka)
    elif now.creates:
        yield _step(
            f"create {_partitions(now.unstarted.num_partitions)}: the command is in "
            "RUNBOOK.md"
        )
    elif now.unstarted.num_partitions:
        limits = _limits(now)
        yield _step(
            f"start {_partitions(now.unstarted.num_partitions)}"
            f"{_one_by_one(files.parts)}{_dead_note(now)}",
            *(kafka.execute(file, **limits) for file in files.parts),
        )


def _limits(now: Situation) -> dict[str, str | None]:
    is_limited = now.unstarted.copies_between and not now.unstarted.dead
    return {
        "throttle": RATE if is_limited else None,
        "log_dir_throttle": RATE if now.unstarted.copies_inside else None,
    }


def _dead_note(now: Situation) -> str:
    if not now.unstarted.dead or not now.unstarted.copies_between:
        return ""
    return (
        f"; without --throttle, which fails after 60 s because broker "
        f"{ids_text(sorted(now.unstarted.dead))} is not live"
    )


def _one_by_one(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return ""
    return ", one file after the other, each when the one before is completed"


def _next_wave(now: Situation, files: PlanFiles, kafka: KafkaCommands) -> Steps:
    pending = [one for one in now.waves if one.status is not Overall.COMPLETED]
    if not pending or now.moves:
        return
    number = pending[0].number
    names = files.wave_files(number) if number <= len(files.waves) else ()
    wave = files.waves[number - 1] if names else None
    throttle = wave and wave.throttle_bytes_per_s
    inside = wave and wave.log_dir_throttle_bytes_per_s
    yield _step(
        f"run wave {number} of {len(now.waves)}{_one_by_one(names)}"
        f"{_dead_note(now) if throttle else ''}",
        *(
            kafka.execute(
                name,
                throttle=str(throttle) if throttle and not now.unstarted.dead else None,
                log_dir_throttle=str(inside) if inside else None,
            )
            for name in names
        ),
    )


def _differing_steps(now: Situation, files: PlanFiles, kafka: KafkaCommands) -> Steps:
    if count := _count(now, "other-order"):
        # Those of before in another order are still to be copied.
        yield _step(
            f"{_partitions(count)} have the replicas of the plan, or of before it, in "
            f"another order: run the file again{_dead_note(now)}",
            *(kafka.execute(file, **_limits(now)) for file in files.parts),
        )
    if count := _count(now, "differs"):
        yield _step(f"{_partitions(count)} are not as planned: plan anew")


def _log_dirs(now: Situation, files: PlanFiles, kafka: KafkaCommands) -> Steps:
    if now.overall is not Overall.DIFFERS or not now.unstarted.copies_inside:
        return
    if _count(now, "log-dir"):
        yield _step(
            "start the moves between log dirs again",
            *(kafka.execute(file, **_limits(now)) for file in files.parts),
        )


def _elections(now: Situation, files: PlanFiles, kafka: KafkaCommands) -> Steps:
    count = _count(now, "leader-not-preferred")
    if count and files.election and now.overall is Overall.COMPLETED:
        yield _step(
            f"let the first replicas lead ({_partitions(count)})",
            kafka.elect(files.election),
        )


def _throttles(now: Situation, kafka: KafkaCommands) -> Steps:
    if now.left_behind:
        yield _step(
            f"remove {plural(len(now.left_behind), 'throttle')}",
            *removals(now.left_behind, kafka.connection),
        )
    if now.unstarted.fenced and not now.num_moving:
        who = ids_text(sorted(now.unstarted.fenced))
        yield _step(
            f"verify again once broker {who} is back: no throttle of a fenced broker "
            "can be read"
        )


def _step(message: str, *commands: str) -> StepRecord:
    return StepRecord(message=message, commands=commands)


def _count(now: Situation, rule: str) -> int:
    return sum(finding.count for finding in now.of(rule))


def _partitions(count: int) -> str:
    return plural(count, "partition")
