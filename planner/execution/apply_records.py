"""Document of the preview of `apply`, built from what was prepared."""

from datetime import datetime
from typing import Literal, Self

from planner.execution.admission import Disk
from planner.execution.preflight import Blocker
from planner.execution.prepare import Prepared
from planner.execution.preview import StagePreview
from planner.execution.stages import StageKind
from planner.io.records import Int32, Record


class StageRecord(Record):
    """One stage; seconds at the rate of the preview."""

    kind: StageKind
    partitions: int
    copies: int
    log_dirs: int
    bytes: int
    seconds: float
    most_active: int

    @classmethod
    def of(cls, found: StagePreview) -> Self:
        """Return the record of a stage."""
        return cls(
            kind=found.stage.kind,
            partitions=len(found.stage.changes),
            copies=found.stage.num_copies,
            log_dirs=found.stage.num_inside,
            bytes=found.stage.copied_bytes,
            seconds=found.seconds,
            most_active=found.most_active,
        )


class DiskRecord(Record):
    """Free bytes of a broker or log dir now, and the least while copies run."""

    broker: Int32
    log_dir: str | None
    free_bytes: int
    least_free_bytes: int

    @classmethod
    def of(cls, disk: Disk, found: Prepared) -> Self:
        """Return the record of a broker or log dir."""
        broker, path = _place(disk)
        return cls(
            broker=broker,
            log_dir=path or None,
            free_bytes=found.usable_bytes[disk],
            least_free_bytes=int(found.walk.least_free[disk]),
        )


def _place(disk: Disk) -> tuple[int, str]:
    return (disk, "") if isinstance(disk, int) else disk


class BlockerRecord(Record):
    """A reason not to start; an ignored one stops nothing."""

    rule: str
    count: int
    message: str
    remedy: str
    ignored: bool

    @classmethod
    def of(cls, found: Blocker, *, ignored: bool) -> Self:
        """Return the record of a reason."""
        return cls(
            rule=found.rule,
            count=found.count,
            message=found.message,
            remedy=found.remedy,
            ignored=ignored,
        )


class ApplyPreviewRecord(Record):
    """
    The document of `apply` without a run.

    `least_throttle_bytes_per_s` is the traffic in sync that a throttle has to exceed;
    null: not known. `seconds` are at the rate of the throttle, also without one.
    """

    time: str
    event: Literal["preview"]
    plan_id: str
    cluster_id: str | None
    goal: str | None
    ready: bool
    throttle_bytes_per_s: int | None
    least_throttle_bytes_per_s: float | None
    seconds: float
    completed: int
    in_progress: int
    stages: list[StageRecord]
    disks: list[DiskRecord]
    notes: list[str]
    blockers: list[BlockerRecord]

    @classmethod
    def of(cls, found: Prepared, *, now: datetime) -> Self:
        """Return the document of a preview."""
        return cls(
            time=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            event="preview",
            plan_id=found.plan_id,
            cluster_id=found.cluster_id,
            goal=found.operation,
            ready=found.is_ready,
            throttle_bytes_per_s=found.rate_bytes_per_s if found.has_throttle else None,
            least_throttle_bytes_per_s=(
                found.least_rate.bytes_per_s if found.least_rate.is_known else None
            ),
            seconds=found.walk.seconds,
            completed=found.num_completed,
            in_progress=found.num_moving,
            stages=[StageRecord.of(one) for one in found.walk.stages],
            disks=[
                DiskRecord.of(disk, found)
                for disk in sorted(found.usable_bytes, key=_place)
            ],
            notes=list(found.notes),
            blockers=[
                BlockerRecord.of(one, ignored=is_ignored)
                for some, is_ignored in ((found.blockers, False), (found.ignored, True))
                for one in some
            ],
        )
