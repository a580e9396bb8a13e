"""Import of all files of a cluster in one call."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from planner.errors import BadInputError, InputProblem
from planner.io.problem_folding import folded
from planner.progress import stage
from planner.snapshot.importers.cruise_control.cruise_control_folder import (
    read_cruise_control,
)
from planner.snapshot.importers.importer_registry import IMPORTERS, READERS, Reader
from planner.snapshot.importers.inputs.foreign_files import read_file
from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.merging.merge import Imported, merge
from planner.snapshot.importers.metrics.prometheus import BrokerLabels

__all__ = ["READERS", "load"]


def load(
    files: Mapping[str, Iterable[Path]],
    folders: Iterable[Path] = (),
    *,
    header: Mapping[str, Any] | None = None,
    labels: BrokerLabels | None = None,
    quantile: float = 0.95,
    allow_partial: bool = False,
    contents: Mapping[Path, bytes] | None = None,
) -> Imported:
    """
    Read files, and merge them into one snapshot.

    Parameters
    ----------
    files
        Paths by importer: the keys of `READERS`.
    folders
        Folders of Cruise Control.
    header
        Header values of the caller: `cluster_id`, `taken_at`.
    labels
        Broker labels of Prometheus series.
    quantile
        Quantile of each series of a range query that is used as its rate, 0 to 1.
    allow_partial
        Whether to continue if files do not show everything to each other, and to leave
        out invalid entries.
    contents
        Bytes of the files that were read before.

    Raises
    ------
    BadInputError
        With every problem of any file; without any, with every contradiction.
    """
    readers = {one.name: one.reader(allow_partial=allow_partial) for one in IMPORTERS}
    prometheus = readers["prometheus"]
    readers["prometheus"] = partial(prometheus, labels=labels, quantile=quantile)
    imports: list[Callable[[], list[Source]]] = [
        partial(_read_one, path, readers[name], (contents or {}).get(path))
        for name, paths in files.items()
        for path in paths
    ]
    imports += [partial(read_cruise_control, folder) for folder in folders]
    return merge(_run_all(imports), header=header, allow_partial=allow_partial)


def _read_one(path: Path, read: Reader, data: bytes | None) -> list[Source]:
    stage(f"reading {path}")
    return [read_file(path, read, data)]


def _run_all(imports: Iterable[Callable[[], list[Source]]]) -> list[Source]:
    """Run all imports, and raise the problems of all of them."""
    sources: list[Source] = []
    messages: list[str] = []
    problems: list[InputProblem] = []
    for run in imports:
        try:
            sources += run()
        except BadInputError as error:
            messages.append(error.message)
            problems += folded(error.problems)
    if messages:
        raise BadInputError("; ".join(messages), problems)
    return sources
