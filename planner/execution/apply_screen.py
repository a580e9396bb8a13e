"""Screen of the preview of `apply`."""

import shlex
from collections.abc import Iterator

from planner.execution.preflight import IGNORABLE, Blocker, disk_text
from planner.execution.prepare import Prepared
from planner.execution.preview import StagePreview
from planner.execution.stages import StageKind
from planner.text.format import (
    bytes_text,
    command_lines,
    duration_text,
    labelled,
    plural,
    wrapped,
)

_WORDS = {
    StageKind.CREATION: "new partitions, by one request",
    StageKind.COPIES: "copies",
    StageKind.INTERNAL: "copies of Kafka's own topics",
    StageKind.ORDER: "order of lists, no data moves",
    StageKind.ELECTION: "preferred leaders, by election",
}


def preview_screen(found: Prepared, command: str | None = None) -> Iterator[str]:
    """
    Yield the lines of the preview.

    Parameters
    ----------
    found
        The plan, ready to run or not.
    command
        Command that carries it out, if the cluster is a running one.
    """
    yield from wrapped(_headline(found))
    yield from labelled("Done", _done(found))
    for number, one in enumerate(found.walk.stages, start=1):
        yield from labelled("Stages" if number == 1 else "", f"{number}. {_stage(one)}")
    if any(one.stage.creation is None for one in found.walk.stages):
        rate = bytes_text(found.rate_bytes_per_s)
        text = f"{duration_text(found.walk.seconds)} at {rate}/s per broker"
        yield from labelled("Time", f"{text}; nothing waits for a whole wave")
        yield from labelled("Throttle", _throttle(found))
    yield from labelled("Disks", _fullest(found))
    for note in found.notes:
        yield from labelled("Note", note)
    for label, some in (("Stops it", found.blockers), ("Ignored", found.ignored)):
        for n, blocker in enumerate(some):
            yield from labelled(label if not n else "", _blocker(blocker, label))
    if found.is_ready:
        yield from labelled("Stops it", "nothing")
    yield from labelled("Changes", "nothing has been changed: this is a preview")
    if found.is_ready and found.stages and command is not None:
        yield from command_lines("Next", shlex.split(command))


def _headline(found: Prepared) -> str:
    what = found.operation or "reassignment"
    where = f' on "{found.cluster_id}"' if found.cluster_id else ""
    verdict = "ready" if found.is_ready else "not ready"
    return f"{verdict}: {what}{where}, plan id {found.plan_id}"


def _done(found: Prepared) -> str:
    return (
        f"{plural(found.num_completed, 'partition')} as planned, {found.num_moving} "
        "being moved"
    )


def _stage(one: StagePreview) -> str:
    stage = one.stage
    partitions = plural(len(stage.changes), "partition")
    words = f"{_WORDS[stage.kind]}: {partitions}"
    if stage.num_copies:
        words += f", {plural(stage.num_copies, 'replica')}"
    if stage.num_inside:
        words += f", {stage.num_inside} between log dirs"
    if stage.num_copies or stage.num_inside:
        words += (
            f", {bytes_text(stage.copied_bytes)} in {duration_text(one.seconds)}, at "
            f"most {one.most_active} at a time"
        )
    return words


def _throttle(found: Prepared) -> str:
    if not found.has_throttle:
        return "none: copies run as fast as the brokers can"
    rate, least = found.rate_bytes_per_s, found.least_rate
    words = f"{bytes_text(rate)}/s per broker"
    if not least.is_known:
        return f"{words}; the traffic in sync that it has to exceed is unknown"
    return f"{words}, above {bytes_text(least.bytes_per_s)}/s of traffic in sync"


def _fullest(found: Prepared) -> str:
    if not found.usable_bytes:
        return "free space is unknown"
    least = found.walk.least_free
    disk = min(least, key=lambda one: (least[one], str(one)))
    return (
        f"least room while copies run: {bytes_text(max(least[disk], 0))} on "
        f"{disk_text(disk)}, {bytes_text(found.usable_bytes[disk])} now"
    )


def _blocker(blocker: Blocker, label: str) -> str:
    text = f"{blocker.message}; {blocker.remedy}"
    if blocker.rule in IGNORABLE and label == "Stops it":
        text += f", or go on with --ignore {blocker.rule}"
    return text
