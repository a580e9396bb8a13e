"""Files of a plan's waves for Kafka's tool, and their rollbacks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.check import Finding
from placement.check.waves.throttle_lists import WaveProperties
from placement.check.waves.wave_checker import check_waves
from placement.check.waves.wave_limits import WaveDirs, WaveLimits
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import Resource, Weights
from placement.model.reassignment import Reassignment
from placement.waves.broker_lists import Lists, changed_lists
from placement.waves.wave_cut import Cut, cut
from placement.waves.wave_files import Step, steps_of
from placement.waves.wave_settings import WaveSettings
from planner.kafka_files.file_parts import (
    file_order,
    long_topics,
    part_starts,
    there_and_back,
    throttle_bytes,
)
from planner.kafka_files.reassignment_file import ReassignmentFile, format_election

FOLDER = "waves"
DOCUMENT_NAME = f"{FOLDER}/waves.json"
Key = tuple[str, int]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlannedWaves:
    """
    Waves of a plan.

    Parameters
    ----------
    found
        Division of the copies.
    steps
        The waves in order.
    weights
        Weights of the replicas.
    """

    found: Cut
    steps: tuple[Step, ...]
    weights: Weights

    @property
    def state(self) -> ClusterState:
        """Cluster before the plan."""
        return self.found.reassignment.before


def plan_waves(
    reassignment: Reassignment, weights: Weights, settings: WaveSettings
) -> PlannedWaves:
    """Divide the reassignment of a plan into waves."""
    found = cut(reassignment, weights, settings)
    return PlannedWaves(found=found, steps=tuple(steps_of(found)), weights=weights)


def check_planned(waves: PlannedWaves) -> tuple[Finding, ...]:
    """Check the waves against the rules by separate code."""
    state = waves.state
    final = final_lists(waves)
    return check_waves(
        state,
        [by_name(state, step.after) for step in waves.steps],
        by_name(state, changed_lists(waves.found)[1]),
        limits_of(waves.found.settings),
        WaveDirs(
            waves=[dirs_of(wave_lists(waves, step)) for step in waves.steps],
            final=dirs_of(final),
        ),
        [properties_of(waves, step) for step in waves.steps],
    )


def properties_of(waves: PlannedWaves, step: Step) -> WaveProperties:
    """Return the data of a wave for the checker, as waves.json has it."""
    state, starts = waves.state, wave_starts(waves, step)
    rows = file_order(state, step.after.partition_idx)
    ends = [*starts[1:], len(rows)]
    parts = [
        by_name(state, step.after.of(rows[begin:end]))
        for begin, end in zip(starts, ends, strict=True)
    ]
    names = state.topics.names
    return WaveProperties(
        parts=parts if len(parts) > 1 else (),
        wildcards=frozenset(names[t] for t in wildcard_topics(waves, step)),
        bytes_per_s=pace_of(waves, step),
    )


def pace_of(waves: PlannedWaves, step: Step) -> float:
    """Return the rate at which a broker copies in a wave, in bytes/s."""
    if not step.has_copies:
        return waves.found.settings.bandwidth_bytes_per_s
    return float(waves.found.paces.bytes_per_s[step.number - 1])


def dirs_of(file: ReassignmentFile) -> dict[Key, Sequence[str | None]]:
    """Return the log dirs that a file names, for partitions with any."""
    keys = zip(file.topics, file.partitions, strict=True)
    return {
        key: row
        for key, row in zip(keys, file.log_dirs, strict=True)
        if row is not None and any(row)
    }


def limits_of(settings: WaveSettings) -> WaveLimits:
    """Return the limits for checking waves."""
    return WaveLimits(
        max_in=settings.max_in,
        max_out=settings.max_out,
        max_shared=settings.max_shared,
        max_per_partition=settings.max_per_partition,
        disk_threshold=settings.thresholds.get(Resource.DISK, 1.0),
        bandwidth_bytes_per_s=settings.bandwidth_bytes_per_s,
        in_threshold=settings.network_thresholds[0],
        out_threshold=settings.network_thresholds[1],
    )


def by_name(state: ClusterState, lists: Lists) -> dict[Key, list[int]]:
    """Return lists with topics, partitions and brokers by Kafka's names."""
    ids = state.brokers.ids.tolist()
    return {state.key_of(p): [ids[b] for b in row] for p, row in lists.rows()}


def wave_lists(waves: PlannedWaves, step: Step) -> ReassignmentFile:
    """Return the lists of one wave, with the target log dirs of its copies."""
    return _file(waves.state, step.after, _dirs_to(waves, step.copies))


def final_lists(waves: PlannedWaves) -> ReassignmentFile:
    """Return the lists after all waves, with the log dirs of the plan."""
    found = waves.found
    every = np.nonzero(~found.copies.is_drop)[0]
    return _file(waves.state, changed_lists(found)[1], _dirs_to(waves, every))


def _dirs_to(
    waves: PlannedWaves, rows: npt.NDArray[np.int64]
) -> dict[tuple[int, int], str]:
    """Return the target log dirs of copies, by rows of partition and broker."""
    copies, paths = waves.found.copies, waves.state.log_dirs.paths
    rows = rows[np.not_equal(copies.target_dir[rows], ABSENT)]
    columns = (copies.partition_idx, copies.target_idx, copies.target_dir)
    targets = zip(*(column[rows].tolist() for column in columns), strict=True)
    return {(p, b): paths[log_dir] for p, b, log_dir in targets}


def rollback_lists(waves: PlannedWaves, step: Step) -> ReassignmentFile:
    """Return the lists before one wave, with the log dirs of that time."""
    state, replicas = waves.state, waves.state.replicas
    kept = step.before.of(np.nonzero(_is_live_before(state, step))[0])
    dirs: dict[tuple[int, int], str] = {}
    for p in kept:
        start, stop = replicas.start[p : p + 2].tolist()
        for row in range(start, stop):
            log_dir = int(replicas.log_dir_idx[row])
            if log_dir != ABSENT:
                dirs[p, int(replicas.broker_idx[row])] = state.log_dirs.paths[log_dir]
    # Earlier waves have copied replicas to other log dirs.
    goes = waves.found.copies.target_dir
    wave = waves.found.wave
    earlier = np.nonzero((wave >= 0) & (wave < step.number - 1) & (goes != ABSENT))[0]
    of = waves.found.copies.partition_idx[earlier]
    dirs |= _dirs_to(waves, earlier[np.isin(of, step.before.partition_idx)])
    return _file(state, kept, dirs)


def _is_live_before(state: ClusterState, step: Step) -> npt.NDArray[np.bool_]:
    """Return true for lists before a wave whose brokers are all live."""
    live = state.brokers.is_live
    return np.array([live[row].all() for _, row in step.before.rows()], bool)


def _file(
    state: ClusterState, lists: Lists, dirs: Mapping[tuple[int, int], str]
) -> ReassignmentFile:
    ids = state.brokers.ids.tolist()
    keys = [state.key_of(p) for p in lists]
    return ReassignmentFile(
        topics=tuple(topic for topic, _ in keys),
        partitions=tuple(number for _, number in keys),
        replicas=tuple(tuple(ids[b] for b in row) for _, row in lists.rows()),
        log_dirs=tuple(
            tuple(dirs.get((p, b)) for b in row) if dirs else None
            for p, row in lists.rows()
        ),
    )


def wave_files(
    waves: PlannedWaves,
) -> Iterator[tuple[str, ReassignmentFile, list[int]]]:
    """
    Yield the name, the lists and the starts of the parts of each file.

    Names have no suffix. Kafka's tool takes the parts in turn.
    """
    state = waves.state
    for step in waves.steps:
        lists, starts = wave_lists(waves, step), wave_starts(waves, step)
        yield f"{FOLDER}/wave-{step.number:03d}", lists, starts
        back = rollback_lists(waves, step)
        is_back = _is_live_before(state, step)
        sizes = there_and_back(state, step.before, step.after)[:, is_back]
        starts = part_starts(state, step.before.partition_idx[is_back], sizes)
        yield f"{FOLDER}/rollback-{step.number:03d}", back, starts


def wave_starts(waves: PlannedWaves, step: Step) -> list[int]:
    """Return the starts of the parts of a wave's file."""
    state, rows = waves.state, step.before.partition_idx
    return part_starts(state, rows, throttle_bytes(state, step.before, step.after))


def part_names(name: str, starts: Sequence[int]) -> list[str]:
    """Return the names of the parts of a file; none if it is taken as a whole."""
    numbers = range(1, len(starts) + 1) if len(starts) > 1 else ()
    return [f"{name}-{number:03d}.json" for number in numbers]


def wildcard_topics(waves: PlannedWaves, step: Step) -> list[int]:
    """Return the rows of topics whose throttle lists the whole wave makes too long."""
    state, rows = waves.state, step.before.partition_idx
    return long_topics(state, rows, throttle_bytes(state, step.before, step.after))


def election_files(waves: PlannedWaves) -> Iterator[tuple[str, str]]:
    """Yield the name and text of the elections after waves that change leaders."""
    for step in waves.steps:
        if not step.has_copies:
            pairs = [waves.state.key_of(p) for p in step.elects]
            name = f"{FOLDER}/election-{step.number:03d}.json"
            yield name, format_election(pairs) + "\n"
