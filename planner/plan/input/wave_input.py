"""Waves of a plan folder, read back for checks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from placement.check import Finding
from placement.check.waves.throttle_lists import WaveProperties
from placement.check.waves.wave_checker import check_waves
from placement.check.waves.wave_limits import WaveDirs, WaveLimits
from placement.model.cluster import ClusterState
from planner.errors import BadInputError, InputProblem
from planner.io.gatherer import Gatherer
from planner.kafka_files.reassignment_file import (
    ReassignmentFile,
    read_json,
    read_reassignment_file,
)
from planner.plan.documents.wave_records import WaveRecord, WavesRecord
from planner.plan.waves.wave_document import to_document
from planner.plan.waves.wave_files import (
    DOCUMENT_NAME,
    PlannedWaves,
    dirs_of,
    limits_of,
    properties_of,
    wave_lists,
)

Lists = dict[tuple[str, int], list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WavesInput:
    """
    Waves in a plan folder.

    The field `properties` has the data of each wave that the checker needs besides the
    lists.

    Parameters
    ----------
    waves
        File of each wave, in order.
    limits
        Limits of the waves.
    records
        Record of each wave in waves.json.
    """

    waves: tuple[ReassignmentFile, ...]
    limits: WaveLimits
    properties: tuple[WaveProperties, ...]
    records: tuple[WaveRecord, ...] = ()

    @classmethod
    def of(cls, waves: PlannedWaves) -> Self:
        """Return planned waves as they are read back from their files."""
        record = WavesRecord.model_validate(to_document(waves))
        return cls(
            waves=tuple(_as_read(wave_lists(waves, step)) for step in waves.steps),
            limits=limits_of(waves.found.settings),
            properties=tuple(properties_of(waves, step) for step in waves.steps),
            records=tuple(record.waves),
        )

    def check(
        self, before: ClusterState, final: ReassignmentFile
    ) -> tuple[Finding, ...]:
        """Check the waves against the cluster, and their end against the plan."""
        return check_waves(
            before,
            [lists_of(file) for file in self.waves],
            lists_of(final),
            self.limits,
            WaveDirs(
                waves=[dirs_of(file) for file in self.waves], final=dirs_of(final)
            ),
            self.properties,
        )


def _as_read(file: ReassignmentFile) -> ReassignmentFile:
    """Return a file with "any" in place of log dirs that it does not have."""
    pairs = zip(file.log_dirs, file.replicas, strict=True)
    return replace(
        file, log_dirs=tuple(dirs or (None,) * len(row) for dirs, row in pairs)
    )


def lists_of(file: ReassignmentFile) -> Lists:
    """Return the broker ids of each partition of a file."""
    keys = zip(file.topics, file.partitions, strict=True)
    return {key: list(row) for key, row in zip(keys, file.replicas, strict=True)}


def read_waves(folder: Path) -> WavesInput | None:
    """
    Read the waves of a plan folder; `None` if it has none.

    Raises
    ------
    BadInputError
        With every problem of waves.json, or of the files that it names.
    """
    path = folder / DOCUMENT_NAME
    if not path.exists():
        return None
    document = read_json(path, remedy="write the plan again")
    try:
        record = WavesRecord.model_validate(document)
    except ValidationError as error:
        raise _refusal(path, error) from error
    inputs = Gatherer()
    files = _read_files(inputs, folder, [wave.file for wave in record.waves])
    properties = [
        WaveProperties(
            parts=[lists_of(part) for part in _read_files(inputs, folder, wave.parts)],
            wildcards=frozenset(wave.wildcard_topics),
            bytes_per_s=wave.bandwidth_bytes_per_s,
        )
        for wave in record.waves
    ]
    inputs.raise_problems(f"{folder} has waves that cannot be read")
    return WavesInput(
        waves=tuple(files),
        properties=tuple(properties),
        records=tuple(record.waves),
        limits=WaveLimits(
            max_in=record.settings.max_moves_in,
            max_out=record.settings.max_moves_out,
            max_shared=record.settings.max_moves_per_broker,
            max_per_partition=record.settings.max_moves_per_partition,
            disk_threshold=record.disk_threshold,
            bandwidth_bytes_per_s=record.settings.bandwidth_bytes_per_s,
            in_threshold=record.in_threshold,
            out_threshold=record.out_threshold,
        ),
    )


def _refusal(path: Path, error: ValidationError) -> BadInputError:
    problems = [
        InputProblem(
            file=str(path),
            place=".".join(map(str, one["loc"])),
            value="",
            rule=one["msg"],
            remedy="write the plan again",
        )
        for one in error.errors(include_url=False)
    ]
    return BadInputError(f"{path} does not list waves", problems)


def _read_files(
    inputs: Gatherer, folder: Path, names: Sequence[str]
) -> list[ReassignmentFile]:
    paths = [folder / name for name in names]
    read = [inputs.read(partial(read_reassignment_file, path)) for path in paths]
    return [file for file in read if file is not None]
