"""Preview of a run: its stages, walked through on a simulated cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.execution.admission import Admitted, Caps, Disk, Window
from planner.execution.simulated_cluster import SimulatedCluster
from planner.execution.stages import Stage, StageKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePreview:
    """
    One stage and the time that its copies take.

    Parameters
    ----------
    stage
        The stage.
    seconds
        Seconds from its first to its last copy, at the rate of the preview.
    most_active
        Largest number of partitions that are copied at the same time.
    """

    stage: Stage
    seconds: float
    most_active: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """
    Outcome of the simulated run.

    Parameters
    ----------
    stages
        Stages in their order.
    least_free
        Least free bytes of each disk with a known limit, while copies run.
    refused
        Steps that never find room on the disk of their target.
    """

    stages: tuple[StagePreview, ...]
    least_free: Mapping[Disk, float]
    refused: tuple[Admitted, ...]

    @property
    def seconds(self) -> float:
        """Seconds of all stages."""
        return sum(one.seconds for one in self.stages)


class _Walker:
    def __init__(self, caps: Caps, free: Mapping[Disk, int], rate: float) -> None:
        self.caps, self.rate = caps, rate
        self.free = {broker: float(value) for broker, value in free.items()}
        self.least = dict(self.free)
        self.refused: list[Admitted] = []

    def walk(self, stage: Stage) -> StagePreview:
        if stage.kind in {StageKind.CREATION, StageKind.ELECTION}:
            return StagePreview(stage=stage, seconds=0.0, most_active=0)
        window = Window(stage.changes, self.caps, self.free)
        cluster, most = SimulatedCluster(self.rate), 0
        cluster.submit(window.active.values())
        while not window.is_done:
            admitted = window.admit()
            if not admitted and not window.active:
                self.refused += window.waiting()
                break
            cluster.submit(admitted)
            most = max(most, len(window.active))
            self._note_least()
            idle = {one.change.key for one in admitted if not _copies(one)}
            for key in sorted(idle or cluster.wait()):
                window.finish(key)
        return StagePreview(stage=stage, seconds=cluster.now_s, most_active=most)

    def _note_least(self) -> None:
        for broker, value in self.free.items():
            self.least[broker] = min(self.least[broker], value)


def _copies(one: Admitted) -> bool:
    return bool(one.step.copies or one.step.inside)


def walk(
    stages: Sequence[Stage],
    caps: Caps,
    usable_bytes: Mapping[Disk, int],
    rate_bytes_per_s: float,
) -> Walk:
    """
    Walk through the stages of a plan on a simulated cluster.

    Parameters
    ----------
    stages
        Stages of the plan.
    caps
        Caps on simultaneous copies.
    usable_bytes
        Free bytes of brokers and log dirs now; those that are missing have no known
        limit.
    rate_bytes_per_s
        Rate at which a broker sends, and at which it receives, copies.
    """
    walker = _Walker(caps, usable_bytes, rate_bytes_per_s)
    found = tuple(walker.walk(stage) for stage in stages)
    return Walk(stages=found, least_free=walker.least, refused=tuple(walker.refused))
